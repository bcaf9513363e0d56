"""Snapshots of the metadata log among its dumps: a cluster that is older than its log's retention has them alone.

    Dumping /data/__cluster_metadata-0/00000000000000001000-0000000003.checkpoint
    Snapshot end offset: 1000, epoch: 3
    | offset: 2 CreateTime: … payload: {"type":"PARTITION_RECORD",…}

Its records are numbered from 0 and are the state after record 999. Where the log does not begin at 0, the earliest
snapshot is what all is counted from; what it holds already, and what later ones say again, is not counted again.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from schemas import columns as C

SNAPSHOT_END, BASE_END = "snapshot_end", "base_end"
"""bigint: offset after the last record that the line's snapshot holds, NULL in the log; that of the base, or NULL."""

BOOTSTRAP_END = 0
"""Of `bootstrap.checkpoint`, with which a cluster is formatted: the log says it again."""

CHECKPOINT = r"^Dumping (?:.*[/\\])?(\d{20})-\d{10}\.checkpoint$"
BOOTSTRAP = r"^Dumping (?:.*[/\\])?bootstrap\.checkpoint$"
END = r"^Snapshot end offset: (\d+), epoch: "
BEGINNING = r"^(?:Log s|S)tarting offset: 0$"
SIGNPOSTS = "signposts"


def with_snapshots(records: DataFrame) -> DataFrame:
    """The lines with the two columns above; a snapshot's records have the offset of the last record that it holds."""
    ended = records.join(F.broadcast(_signposts(records)), C.SOURCE_FILE, "left").withColumn(SNAPSHOT_END, _end())
    last_held = F.when(F.col(C.METADATA_OFFSET).isNotNull(), F.col(SNAPSHOT_END) - 1)
    placed = ended.drop(SIGNPOSTS).withColumn(C.METADATA_OFFSET, F.coalesce(last_held, C.METADATA_OFFSET))
    return placed.crossJoin(F.broadcast(_base(placed)))


def is_repeated() -> Column:
    """The record is of a snapshot that is not the base."""
    return F.col(SNAPSHOT_END).isNotNull() & ~F.col(SNAPSHOT_END).eqNullSafe(F.col(BASE_END))


def is_held() -> Column:
    """The record is one of the log's that the base holds already."""
    return F.col(SNAPSHOT_END).isNull() & F.coalesce(F.col(C.METADATA_OFFSET) < F.col(BASE_END), F.lit(False))


def _signposts(records: DataFrame) -> DataFrame:
    """One row per file with headers: each with its line, and the end of the snapshot that begins there."""
    text = F.col(C.LINE_TEXT)
    end = F.coalesce(_number(CHECKPOINT), _number(END), F.when(text.rlike(BOOTSTRAP), F.lit(BOOTSTRAP_END)))
    posts = records.where(text.startswith("Dumping ") | text.rlike(END))
    post = F.struct(C.SOURCE_LINE, end.cast("bigint").alias(SNAPSHOT_END))
    return posts.groupBy(C.SOURCE_FILE).agg(F.array_sort(F.collect_list(post)).alias(SIGNPOSTS))


def _number(regex: str) -> Column:
    return F.regexp_extract(C.LINE_TEXT, regex, 1).try_cast("bigint")


def _end() -> Column:
    """The end of the snapshot that the last header above names; NULL where that is of the log, or there is none."""
    above = F.filter(SIGNPOSTS, lambda post: post[C.SOURCE_LINE] <= F.col(C.SOURCE_LINE))
    return F.try_element_at(above, F.lit(-1))[SNAPSHOT_END]


def _base(placed: DataFrame) -> DataFrame:
    """One row: the end of the earliest snapshot; NULL without one, or where the log has all from its beginning."""
    end = F.min(F.when(F.col(SNAPSHOT_END) > BOOTSTRAP_END, F.col(SNAPSHOT_END)))
    is_first = (F.col(C.METADATA_OFFSET) == 0) | F.col(C.LINE_TEXT).rlike(BEGINNING)
    has_all = F.coalesce(F.bool_or(F.col(SNAPSHOT_END).isNull() & is_first), F.lit(False))
    return placed.agg(F.when(~has_all, end).alias(BASE_END))
