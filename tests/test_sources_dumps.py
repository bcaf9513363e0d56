"""Dumps of segments and of the metadata log, line by line."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from schemas import columns as C
from schemas.kinds import FileKind
from sources import metadata_dump, segment_dump
from tests.log_lines import by_line, lines_of, verdicts

pytestmark = pytest.mark.spark

AT = datetime(2026, 11, 21, 10, 36, 42, 201000)  # noqa: DTZ001
HEADER = "Dumping /data/a-b_c.d-7/00000000000000000000.log"
BATCH = (
    "baseOffset: {base} lastOffset: {last} count: 2 baseSequence: -1 lastSequence: -1 producerId: 9 producerEpoch: -1 "
    "partitionLeaderEpoch: 4 isTransactional: {control} isControl: {control} deleteHorizonMs: OptionalLong.empty "
    "position: 0 "
    "{time}Time: 1795257402201 size: 377 magic: 2 compresscodec: none crc: 4237046722 isvalid: {valid}"
)
OLD_BATCH = (
    "offset: {last} position: 0 CreateTime: 1795257402201 size: 36 magic: 1 compresscodec: {codec} crc: 607685866 "
    "isvalid: true"
)


def batch(base: int, last: int, *, control: str = "false", time: str = "Create", valid: str = "true") -> str:
    """A batch as Kafka 4.1 prints it; 2.8 leaves out `deleteHorizonMs`."""
    return BATCH.format(base=base, last=last, control=control, time=time, valid=valid)


def segment(spark: SparkSession, *texts: str, name: str = "broker-2/segments/orders-0.txt") -> DataFrame:
    """The lines of a segment's dump, parsed."""
    return segment_dump.parse(lines_of(spark, texts, FileKind.SEGMENT_DUMP, name=name))


def test_batches_of_all_formats_give_rows(spark: SparkSession) -> None:
    """Magic 2 of 4.1 and of 2.8, and magic 0 or 1, which know no epoch; a compressed one of those, no base offset."""
    parsed = segment(
        spark,
        HEADER,
        "Log starting offset: 0",
        batch(0, 10),
        "| offset: 0 CreateTime: 1 keySize: -1 payload: baseOffset: 3",
        batch(11, 12, time="LogAppend").replace("deleteHorizonMs: OptionalLong.empty ", ""),
        OLD_BATCH.format(last=13, codec="NONE"),
        OLD_BATCH.format(last=20, codec="GZIP"),
    )
    rows = segment_dump.batch_rows(parsed)

    told = (
        C.TOPIC,
        C.PARTITION,
        C.BASE_OFFSET,
        C.LAST_OFFSET,
        C.LEADER_EPOCH,
        C.CREATE_TIME,
        C.BATCH_SIZE,
        C.CRC,
        C.MAGIC,
    )
    assert by_line(rows, *told) == [
        ("a-b_c.d", 7, 0, 10, 4, AT, 377, 4237046722, 2),
        ("a-b_c.d", 7, 11, 12, 4, AT, 377, 4237046722, 2),
        ("a-b_c.d", 7, 13, 13, -1, AT, 36, 607685866, 1),
        ("a-b_c.d", 7, -1, 20, -1, AT, 36, 607685866, 1),
    ]


def test_a_marker_tells_its_batch_the_result(spark: SparkSession) -> None:
    """It is on the next line, and the batch's only record."""
    marker = "| offset: 5 CreateTime: 1 keySize: 4 sequence: -1 headerKeys: [] endTxnMarker: ABORT coordinatorEpoch: 0"
    parsed = segment(spark, HEADER, batch(3, 4), batch(5, 5, control="true"), marker)

    told = by_line(
        segment_dump.batch_rows(parsed), C.BASE_OFFSET, C.IS_CONTROL, C.IS_TRANSACTIONAL, C.TRANSACTION_RESULT
    )
    assert told == [(3, False, False, None), (5, True, True, "ABORT")]
    assert verdicts(parsed) == ["ignored: header", "landed", "landed", "landed"]


def test_the_header_above_says_the_partition_else_the_files_name(spark: SparkSession) -> None:
    """A dump may have several segments, and several partitions."""
    headed = segment(spark, batch(0, 0), HEADER, batch(1, 1), "Dumping C:\\data\\t-1\\0.log", batch(2, 2))
    nameless = segment(spark, batch(0, 0), name="dump.txt")

    assert by_line(segment_dump.batch_rows(headed), C.TOPIC, C.PARTITION) == [("orders", 0), ("a-b_c.d", 7), ("t", 1)]
    assert verdicts(nameless) == ["rejected: batch of no known partition"]


def test_a_log_starts_at_its_first_segment(spark: SparkSession) -> None:
    """In whatever order the segments come; 2.8 says it in other words."""
    parsed = segment(
        spark, HEADER, "Log starting offset: 700", batch(700, 701), HEADER, "Starting offset: 50", batch(50, 60)
    )

    assert by_line(segment_dump.statement_rows(parsed), C.KIND, C.OFFSET) == [("checkpoint_log_start_offset", 50)]
    assert verdicts(parsed)[1] == "ignored: later segment"


def test_cut_and_invalid_batches_are_rejected(spark: SparkSession) -> None:
    """At any word, and with a wrong checksum; what is no batch is ignored by name."""
    whole = batch(0, 10)
    parsed = segment(
        spark,
        HEADER,
        whole[:200],
        whole[:-15],
        whole[:60],
        "baseOff",
        batch(0, 1, valid="false"),
        whole.replace("10", "x"),
        "\x03\x04",
        "Found 12 invalid bytes at the end of 0.log",
    )

    assert verdicts(parsed) == [
        "ignored: header",
        *["rejected: cut line"] * 4,
        "rejected: batch is not valid",
        "rejected: cut line",
        "rejected: not text",
        "ignored: other line",
    ]
    assert by_line(segment_dump.batch_rows(parsed)) == []


def record(offset: int, of_type: str, **data: Any) -> str:
    """A record of the metadata log."""
    payload = json.dumps({"type": of_type, "version": 0, "data": data}, separators=(",", ":"))
    return f"| offset: {offset} CreateTime: 1795257402201 keySize: -1 valueSize: 24 headerKeys: [] payload: {payload}"


ID, OF = "1vDJC378Tw2AvQYNxpXPlg", {"partitionId": 1, "topicId": "1vDJC378Tw2AvQYNxpXPlg"}
CREATED = OF | {"replicas": [2, 3, 1], "isr": [2, 3, 1], "removingReplicas": [], "addingReplicas": []}


def metadata(spark: SparkSession, *texts: str) -> DataFrame:
    """The lines of the metadata log's dump, parsed."""
    return metadata_dump.parse(lines_of(spark, texts, FileKind.METADATA_DUMP, broker=-1, name="cluster-metadata.txt"))


def test_changes_of_a_partition_add_up(spark: SparkSession) -> None:
    """What a change leaves out stays; each raises the partition epoch, one that names a leader the leader epoch."""
    parsed = metadata(
        spark,
        record(39, "TOPIC_RECORD", name="orders", topicId=ID),
        record(40, "PARTITION_RECORD", **CREATED, leader=2, leaderEpoch=5, partitionEpoch=8),
        record(41, "PARTITION_CHANGE_RECORD", **OF, isr=[3, 2]),
        record(42, "PARTITION_CHANGE_RECORD", **OF, isr=[3], leader=3, leaderRecoveryState=1),
        record(43, "PARTITION_CHANGE_RECORD", **OF, leader=3, leaderRecoveryState=0),
        record(44, "PARTITION_CHANGE_RECORD", **OF, leader=-2, replicas=[3, 4], addingReplicas=[4]),
        record(45, "PARTITION_CHANGE_RECORD", **OF, leader=-1),
        record(46, "PARTITION_CHANGE_RECORD", partitionId=9, topicId=ID, isr=[1]),
    )

    told = (C.LEADER_EPOCH, C.PARTITION_EPOCH, C.LEADER_ID, C.ISR, C.REPLICAS, C.ADDING_REPLICAS, C.IS_UNCLEAN)
    assert by_line(metadata_dump.change_rows(parsed), C.TOPIC, C.PARTITION, *told) == [
        ("orders", 1, 5, 8, 2, [1, 2, 3], [2, 3, 1], [], False),
        ("orders", 1, 5, 9, 2, [2, 3], [2, 3, 1], [], False),
        ("orders", 1, 6, 10, 3, [3], [2, 3, 1], [], True),
        ("orders", 1, 7, 11, 3, [3], [2, 3, 1], [], False),
        ("orders", 1, 7, 12, 3, [3], [3, 4], [4], False),
        ("orders", 1, 8, 13, -1, [3], [3, 4], [4], False),
        ("orders", 9, -1, -1, None, [1], None, None, None),
    ]


def test_brokers_register_fence_and_stop(spark: SparkSession) -> None:
    """A broker registers fenced; in controlled shutdown it is as good as fenced."""
    parsed = metadata(
        spark,
        record(1, "REGISTER_BROKER_RECORD", brokerId=1, brokerEpoch=26),
        record(2, "BROKER_REGISTRATION_CHANGE_RECORD", brokerId=1, brokerEpoch=26, fenced=-1),
        record(3, "BROKER_REGISTRATION_CHANGE_RECORD", brokerId=1, brokerEpoch=26, inControlledShutdown=1),
        record(4, "BROKER_REGISTRATION_CHANGE_RECORD", brokerId=1, brokerEpoch=26, fenced=1),
        record(5, "UNFENCE_BROKER_RECORD", id=2, epoch=30),
        record(6, "FENCE_BROKER_RECORD", id=2, epoch=30),
        record(7, "REGISTER_BROKER_RECORD", brokerId=3, brokerEpoch=9, fenced=False, inControlledShutdown=True),
        record(8, "BROKER_REGISTRATION_CHANGE_RECORD", brokerId=1, brokerEpoch=26, logDirs=["x"]),
    )

    rows = by_line(metadata_dump.registration_rows(parsed), C.BROKER_ID, C.BROKER_EPOCH, C.IS_FENCED)
    assert rows == [
        (1, 26, True),
        (1, 26, False),
        (1, 26, True),
        (1, 26, True),
        (2, 30, False),
        (2, 30, True),
        (3, 9, True),
    ]
    assert verdicts(parsed)[-1] == "ignored: registration changed otherwise"


def test_settings_of_topics_brokers_and_features(spark: SparkSession) -> None:
    """-1 is the cluster's default; a setting without a value was removed."""
    parsed = metadata(
        spark,
        record(1, "FEATURE_LEVEL_RECORD", name="metadata.version", featureLevel=27),
        record(2, "CONFIG_RECORD", resourceType=4, resourceName="", name="min.insync.replicas", value="1"),
        record(3, "CONFIG_RECORD", resourceType=4, resourceName="3", name="min.insync.replicas", value="2"),
        record(4, "CONFIG_RECORD", resourceType=2, resourceName="orders", name="min.insync.replicas", value=None),
        record(5, "CONFIG_RECORD", resourceType=2, resourceName="orders", name="retention.ms", value="1"),
    )

    assert by_line(metadata_dump.setting_rows(parsed), C.BROKER_ID, C.TOPIC, C.NAME, C.VALUE) == [
        (-1, "", "metadata.version", "27"),
        (-1, "", "min.insync.replicas", "1"),
        (3, "", "min.insync.replicas", "2"),
        (-1, "orders", "min.insync.replicas", None),
    ]
    assert verdicts(parsed)[-1] == "ignored: no setting that bears on replication"


def test_metadata_lines_have_one_outcome(spark: SparkSession) -> None:
    """Cut anywhere, lacking a field, of another type, or a copy from another controller's dump."""
    change = record(70, "PARTITION_CHANGE_RECORD", **OF, isr=[3, 1])
    parsed = metadata(
        spark, change, change, change[:-9], change[:30],
        record(71, "PARTITION_CHANGE_RECORD", partitionId=1),
        record(72, "NO_OP_RECORD"),
        "| offset: 0 CreateTime: 1 keySize: 4 LeaderChange: {}",
        "| offset: 0 CreateTime: 1 keySize: 4 valueSize: 19 sequence: -1 headerKeys: [] controlType: LEADER_CHANGE(2)",
        batch(1, 7),
        HEADER,
        "\x03",
    )  # fmt: skip

    assert verdicts(parsed) == [
        "landed",
        "ignored: copy of a record",
        "rejected: cut line",
        "rejected: cut line",
        "rejected: missing field: topicId",
        "ignored: other record: NO_OP_RECORD",
        "ignored: control record",
        "ignored: control record",
        "ignored: batch",
        "ignored: other line",
        "rejected: not text",
    ]
