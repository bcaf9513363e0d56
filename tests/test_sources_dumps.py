"""Dumps of segments, line by line."""

from __future__ import annotations

from datetime import datetime

import pytest
from pyspark.sql import DataFrame, SparkSession

from schemas import columns as C
from schemas.files import FileKind
from sources import segment_dump, segment_rows
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
    rows = segment_rows.batch_rows(parsed)

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
        segment_rows.batch_rows(parsed), C.BASE_OFFSET, C.IS_CONTROL, C.IS_TRANSACTIONAL, C.TRANSACTION_RESULT
    )
    assert told == [(3, False, False, None), (5, True, True, "ABORT")]
    assert verdicts(parsed) == ["ignored: header", "landed", "landed", "landed"]


def test_the_header_above_says_the_partition_else_the_files_name(spark: SparkSession) -> None:
    """A dump may have several segments, and several partitions."""
    headed = segment(spark, batch(0, 0), HEADER, batch(1, 1), "Dumping C:\\data\\t-1\\0.log", batch(2, 2))
    nameless = segment(spark, batch(0, 0), name="dump.txt")

    assert by_line(segment_rows.batch_rows(headed), C.TOPIC, C.PARTITION) == [("orders", 0), ("a-b_c.d", 7), ("t", 1)]
    assert verdicts(nameless) == ["rejected: batch of no known partition"]


def test_a_dump_made_within_the_partitions_folder_has_it_from_its_own(spark: SparkSession) -> None:
    """`cd /data/orders-0; kafka-dump-log.sh --files 00000000000000000000.log` names no partition; a broker is none."""
    texts = ("Dumping 00000000000000000000.log", "Log starting offset: 0", batch(0, 1))

    def places(name: str) -> list[tuple[object, ...]]:
        parsed = segment(spark, *texts, name=name)
        rows = segment_rows.batch_rows(parsed), segment_rows.statement_rows(parsed)
        return [row for frame in rows for row in by_line(frame, C.TOPIC, C.PARTITION)]

    assert places("broker-2/segments/a-b-3/00000000000000000000.txt") == [("a-b", 3)] * 2
    assert places("a-b-3/dump.gz") == [("a-b", 3)] * 2
    assert places("a-b-3/orders-0.txt.gz") == [("orders", 0)] * 2
    assert places("broker-2/dump.txt") == places("orders-0.7d-delete/dump.txt") == []


def test_entries_of_indexes_are_no_cut_batches(spark: SparkSession) -> None:
    """An offset index and a time index, among the segments that they belong to."""
    parsed = segment(
        spark,
        HEADER,
        batch(0, 1),
        HEADER.replace(".log", ".index"),
        "offset: 55 position: 4169",
        "Dumping 00000000000000000000.timeindex",
        "timestamp: 1795257402201 offset: 55",
        HEADER,
        OLD_BATCH.format(last=2, codec="NONE"),
        "offset: 55 position: 4169",
    )

    assert verdicts(parsed) == [
        "ignored: header", "landed", "ignored: header", "ignored: index entry", "ignored: header",
        "ignored: index entry", "ignored: header", "landed", "rejected: cut line",
    ]  # fmt: skip


def test_a_log_starts_at_its_first_segment(spark: SparkSession) -> None:
    """In whatever order the segments come; 2.8 says it in other words."""
    parsed = segment(
        spark, HEADER, "Log starting offset: 700", batch(700, 701), HEADER, "Starting offset: 50", batch(50, 60)
    )

    assert by_line(segment_rows.statement_rows(parsed), C.KIND, C.OFFSET) == [("checkpoint_log_start_offset", 50)]
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
        whole.replace("lastOffset: 10", "lastOffset: -10"),
        batch(11, 10),
        batch(-2, 10),
        "\x03\x04",
        "Found 12 invalid bytes at the end of 0.log",
    )

    assert verdicts(parsed) == [
        "ignored: header",
        *["rejected: cut line"] * 4,
        "rejected: batch is not valid",
        "rejected: cut line",
        *["rejected: number out of range"] * 3,
        "rejected: not text",
        "ignored: other line",
    ]
    assert by_line(segment_rows.batch_rows(parsed)) == []
