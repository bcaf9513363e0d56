"""`kafka-dump-log` of a replica's segments: a line to the batch it is.

    Dumping /data/orders-0/00000000000000000000.log
    Log starting offset: 0
    baseOffset: 0 lastOffset: 10 count: 11 … partitionLeaderEpoch: 0 … size: 377 magic: 2 … isvalid: true
    | offset: 0 CreateTime: … endTxnMarker: COMMIT coordinatorEpoch: 0

Batches of magic 0 and 1 begin with `offset:`, know no leader epoch, and hold one record unless compressed.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from schemas import columns as C
from sources import outcomes
from sources.segment_signposts import (
    DUMPING,
    FIRSTS,
    IS_INDEX,
    LINE_TYPE,
    PLACE,
    SEGMENT,
    SIGNPOSTS,
    START,
    above,
    is_first,
    place_by_name,
    signposts,
)

INDEX_ENTRY = r"^(?:offset|timestamp): -?\d+ "
SEGMENT_START = r"^(?:Log s|S)tarting offset: (\d+)$"
MARKER = r" endTxnMarker: (COMMIT|ABORT) "

WORDS, ABOVE = "words", "signpost_above"
BATCH, RECORD, MARKED, ENTRY, OTHER = "batch", "record", "marker", "index entry", "other"

REQUIRED = (C.LAST_OFFSET, C.BATCH_SIZE, C.MAGIC, C.CRC)


def parse(lines: DataFrame) -> DataFrame:
    """Each line with its outcome and reason, what type of line it is, its partition and the batch's fields."""
    typed = lines.withColumns({
        LINE_TYPE: _line_type(),
        SEGMENT: F.regexp_extract(C.LINE_TEXT, SEGMENT_START, 1).try_cast("bigint"),
        WORDS: F.split(C.LINE_TEXT, " "),
    })  # fmt: skip
    posted = typed.join(F.broadcast(signposts(typed)), C.SOURCE_FILE, "left").withColumn(ABOVE, above())
    placed = posted.withColumns({PLACE: F.coalesce(F.col(ABOVE)[PLACE], place_by_name()), LINE_TYPE: _type_below()})
    whole = placed.withColumns({C.TOPIC: F.col(PLACE)[C.TOPIC], C.PARTITION: F.col(PLACE)[C.PARTITION], **_fields()})
    return outcomes.with_outcome(whole, _verdict()).drop(WORDS, SIGNPOSTS, FIRSTS, PLACE, ABOVE)


def _line_type() -> Column:
    text = F.col(C.LINE_TEXT)
    return (
        F.when(text.startswith("baseOffset: ") | text.rlike(r"^offset: -?\d+ position: "), BATCH)
        .when(text.startswith("| offset: ") & text.rlike(MARKER), MARKED)
        .when(text.startswith("| "), RECORD)
        .when(text.startswith("Dumping "), DUMPING)
        .when(text.rlike(SEGMENT_START), START)
        .otherwise(OTHER)
    )


def _type_below() -> Column:
    """The line's type, told by the header above where it alone does not tell: `offset: 55 position: 4169`."""
    is_entry = F.coalesce(F.col(ABOVE)[IS_INDEX], F.lit(False)) & F.col(C.LINE_TEXT).rlike(INDEX_ENTRY)
    return F.when(is_entry, ENTRY).otherwise(F.col(LINE_TYPE))


def _fields() -> dict[str, Column]:
    """The batch's fields, typed; NULL where there is none such, or the line was cut before it."""
    is_old = F.col(C.LINE_TEXT).startswith("offset: ")
    last = F.when(is_old, _word("offset:")).otherwise(_word("lastOffset:")).try_cast("bigint")
    is_alone = F.upper(_word("compresscodec:")).isin("NONE", "NOCOMPRESSIONCODEC")
    millis = F.coalesce(_word("CreateTime:"), _word("LogAppendTime:")).try_cast("bigint")
    of_old = F.when(is_alone, last).otherwise(F.lit(C.UNKNOWN_OFFSET))
    return {
        C.LAST_OFFSET: last,
        C.BASE_OFFSET: F.when(is_old, of_old).otherwise(_word("baseOffset:").try_cast("bigint")),
        C.LEADER_EPOCH: F.coalesce(_word("partitionLeaderEpoch:").try_cast("int"), F.lit(C.UNKNOWN_EPOCH)),
        C.CREATE_TIME: F.when(millis.between(0, 253402300799999), F.timestamp_millis(millis)),
        C.IS_TRANSACTIONAL: F.coalesce(_word("isTransactional:") == "true", F.lit(False)),
        C.IS_CONTROL: F.coalesce(_word("isControl:") == "true", F.lit(False)),
        C.PRODUCER_ID: F.coalesce(_word("producerId:").try_cast("bigint"), F.lit(-1)),
        C.BATCH_SIZE: _word("size:").try_cast("bigint"),
        C.CRC: _word("crc:").try_cast("bigint"),
        C.MAGIC: _word("magic:").try_cast("int"),
        "is_valid": _word("isvalid:"),
    }


def _word(key: str) -> Column:
    """The word after the key; NULL without one. Splitting a line once is much cheaper than an expression a field."""
    place = F.array_position(WORDS, key)
    return F.when((F.col(LINE_TYPE) == BATCH) & (place > 0), F.get(WORDS, place.cast("int")))


def _is_out_of_range() -> Column:
    """Whether the batch ends before it begins, before the first offset there is, or where none can follow."""
    is_none = (F.col(C.LAST_OFFSET) < 0) | (F.col(C.LAST_OFFSET) == outcomes.NONE_FOLLOWS)
    return is_none | ~F.col(C.BASE_OFFSET).between(C.UNKNOWN_OFFSET, F.col(C.LAST_OFFSET))


def _verdict() -> Column:
    text, line_type, is_placed = F.col(C.LINE_TEXT), F.col(LINE_TYPE), F.col(C.TOPIC).isNotNull()
    is_incomplete = F.coalesce(*[F.when(F.col(name).isNull(), F.lit(True)) for name in REQUIRED], F.lit(False))
    return (
        F.when((line_type == BATCH) & ~is_placed, outcomes.rejected("batch of no known partition"))
        .when((line_type == BATCH) & (F.col("is_valid").isNull() | is_incomplete), outcomes.rejected("cut line"))
        .when((line_type == BATCH) & F.col(C.BASE_OFFSET).isNull(), outcomes.rejected("cut line"))
        .when((line_type == BATCH) & (F.col("is_valid") != "true"), outcomes.rejected("batch is not valid"))
        .when((line_type == BATCH) & _is_out_of_range(), outcomes.rejected(outcomes.OUT_OF_RANGE))
        .when((line_type == START) & ~is_placed, outcomes.rejected("segment of no known partition"))
        .when((line_type == START) & is_first(), outcomes.landed())
        .when(line_type == START, outcomes.ignored("later segment"))
        .when(line_type.isin(BATCH, MARKED), outcomes.landed())
        .when(line_type == RECORD, outcomes.ignored("record"))
        .when(line_type == DUMPING, outcomes.ignored("header"))
        .when(line_type == ENTRY, outcomes.ignored("index entry"))
        .when((text != "") & F.lit("baseOffset: ").startswith(text), outcomes.rejected("cut line"))
        .when(text.rlike(outcomes.NOT_TEXT), outcomes.rejected("not text"))
        .otherwise(outcomes.ignored("other line"))
    )
