"""Dumps of the metadata log and of its snapshots, line by line."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from schemas import columns as C
from schemas.files import FileKind
from sources import metadata_dump, metadata_rows
from tests.log_lines import by_line, lines_of, verdicts

pytestmark = pytest.mark.spark


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
    assert by_line(metadata_rows.change_rows(parsed), C.TOPIC, C.PARTITION, *told) == [
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

    rows = by_line(metadata_rows.registration_rows(parsed), C.BROKER_ID, C.BROKER_EPOCH, C.IS_FENCED)
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

    assert by_line(metadata_rows.setting_rows(parsed), C.BROKER_ID, C.TOPIC, C.NAME, C.VALUE) == [
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
        record(73, "PARTITION_CHANGE_RECORD", **{**OF, "partitionId": -1}),
        change.replace("CreateTime: ", "CreateTime: 999999"),
        "| offset: 0 CreateTime: 1 keySize: 4 LeaderChange: {}",
        "| offset: 0 CreateTime: 1 keySize: 4 valueSize: 19 sequence: -1 headerKeys: [] controlType: LEADER_CHANGE(2)",
        "baseOffset: 1 lastOffset: 7 count: 7 magic: 2 compresscodec: none crc: 1 isvalid: true",
        "Dumping /data/__cluster_metadata-0/00000000000000000000.log",
        "\x03",
    )  # fmt: skip

    assert verdicts(parsed) == [
        "landed",
        "ignored: copy of a record",
        "rejected: cut line",
        "rejected: cut line",
        "rejected: missing field: topicId",
        "ignored: other record: NO_OP_RECORD",
        "rejected: number out of range",
        "rejected: no such time",
        "ignored: control record",
        "ignored: control record",
        "ignored: batch",
        "ignored: other line",
        "rejected: not text",
    ]


CHECKPOINT = "Dumping /data/__cluster_metadata-0/{end:020}-0000000003.checkpoint"
LOG = "Dumping /data/__cluster_metadata-0/{start:020}.log"
STATE = "PARTITION_RECORD", CREATED | {"leader": 2}
CHANGE = "PARTITION_CHANGE_RECORD"


def snapshot(end: int, leader_epoch: int, partition_epoch: int) -> list[str]:
    """The dump of a snapshot, with the state of the partition after the record before its end."""
    of_type, state = STATE
    return [
        CHECKPOINT.format(end=end),
        f"Snapshot end offset: {end}, epoch: 3",
        "| offset: 0 CreateTime: 1 keySize: 4 valueSize: 19 sequence: -1 headerKeys: [] SnapshotHeader {}",
        record(1, "TOPIC_RECORD", name="orders", topicId=ID),
        record(2, of_type, **state, leaderEpoch=leader_epoch, partitionEpoch=partition_epoch),
    ]


LATE_LOG = [
    LOG.format(start=900),
    "Log starting offset: 900",
    record(950, CHANGE, **OF, leader=2),
    record(990, "FENCE_BROKER_RECORD", id=3, epoch=9),
    record(1010, CHANGE, **OF, leader=3, isr=[3]),
]
PLACE = (C.TOPIC, C.METADATA_OFFSET, C.LEADER_EPOCH, C.PARTITION_EPOCH, C.LEADER_ID, C.ISR)


@pytest.mark.parametrize("is_first", [True, False])
def test_a_log_that_begins_late_is_counted_from_a_snapshot(spark: SparkSession, *, is_first: bool) -> None:
    """What the snapshot holds is not counted again, whichever is dumped first; its numbers are none of the log's."""
    of_snapshot = snapshot(1000, 12, 30)
    parsed = metadata(spark, *(of_snapshot + LATE_LOG if is_first else LATE_LOG + of_snapshot))
    rows = by_line(metadata_rows.change_rows(parsed), *PLACE)

    assert sorted(rows) == [("orders", 999, 12, 30, 2, [1, 2, 3]), ("orders", 1010, 13, 31, 3, [3])]
    assert verdicts(parsed).count("ignored: change that the snapshot holds") == 1
    assert by_line(metadata_rows.registration_rows(parsed), C.METADATA_OFFSET, C.IS_FENCED) == [(990, True)]


def test_of_several_snapshots_the_earliest_is_the_base(spark: SparkSession) -> None:
    """The others say again what the log tells; so does what the cluster was formatted with, or another's copy."""
    early, late = snapshot(1000, 12, 30), snapshot(1020, 13, 31)
    bootstrap = ["Dumping bootstrap.checkpoint", "KRaft bootstrap snapshot"]
    feature = record(0, "FEATURE_LEVEL_RECORD", name="metadata.version", featureLevel=27)
    parsed = metadata(spark, *late, *early, *early, *LATE_LOG, *bootstrap, feature)

    assert by_line(metadata_rows.change_rows(parsed), *PLACE[1:4]) == [(999, 12, 30), (1010, 13, 31)]
    assert verdicts(parsed).count("ignored: copy of a record") == 2
    assert [verdicts(parsed)[i] for i in (4, -1)] == ["ignored: snapshot of what others tell"] * 2


@pytest.mark.parametrize("beginning", ["Log starting offset: 0", record(0, "NO_OP_RECORD")])
def test_a_log_from_its_beginning_needs_no_snapshot(spark: SparkSession, beginning: str) -> None:
    """All of its records count, below the snapshot's end too."""
    of_type, state = STATE
    created = record(7, of_type, **state, leaderEpoch=0, partitionEpoch=0)
    whole = [beginning, created, record(950, CHANGE, **OF, leader=2), record(1010, CHANGE, **OF, leader=3)]
    parsed = metadata(spark, *whole, *snapshot(1000, 1, 1))

    assert by_line(metadata_rows.change_rows(parsed), *PLACE[:4]) == [
        ("orders", 7, 0, 0),
        ("orders", 950, 1, 1),
        ("orders", 1010, 2, 2),
    ]
