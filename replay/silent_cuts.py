"""Silent truncations: a log that is shorter than what was committed in it, and no line says that it was cut.

Kafka's own warning practically never fires before 4.2 (KAFKA-19474), and a wiped log directory leaves none. What a
broker writes by default is enough to see it: the LEO and HW with which each role and each load of a log begins.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from replay.findings import finding, text
from replay.spans import NUMBER, START_LEO
from replay.told_replicas import points
from replay.windows import FIRST
from schemas import columns as C
from schemas import tables as T
from schemas.kinds import IncidentKind, Severity

_REPLICA = (*C.PARTITION_KEY, C.REPLICA_ID)
_HAD = "had"
"""struct<hw,epoch>: the highest HW that the log had before, and the leader epoch in which."""


def silent_truncations(landed: Mapping[str, DataFrame], led: DataFrame) -> DataFrame:
    """One row per log that begins a role below a HW before it, and no "Truncating to offset" of it in between.

    Of a leader that is the highest HW any leader had reached (`led` is `replay.spans.spans`), of another replica its
    own. Without topic ids a topic that was made again begins at epoch 0 again: an epoch must have passed.
    """
    told = points(landed[T.BROKER_STATEMENTS.name]).withColumn(C.EVENT_TIME, F.timestamp_micros("us"))
    own = Window.partitionBy(*_REPLICA).orderBy("us", C.SOURCE_FILE, C.SOURCE_LINE).rowsBetween(FIRST, -1)
    # A cut begins a new log, as it were: what the log had before it does not count.
    marked = told.withColumn("cuts", F.coalesce(F.sum(F.col("is_cut").cast("int")).over(own), F.lit(0)))
    since_cut = Window.partitionBy(*_REPLICA, "cuts").orderBy("us", C.SOURCE_FILE, C.SOURCE_LINE)
    had = F.max(F.struct("hw", F.col(C.LEADER_EPOCH).alias("epoch"))).over(since_cut.rowsBetween(FIRST, -1))
    begun = marked.withColumn(_HAD, had).where("leo >= 0 AND NOT is_cut AND leo < had.hw")
    shorter = begun.where(_is_later(F.col(f"{_HAD}.epoch"))).withColumn("as_leader", F.lit(False))
    found = shorter.select(*_FOUND).unionByName(_leaders(marked, led)).groupBy(*_REPLICA, C.LEADER_EPOCH).agg(
        F.min(C.CAPTURE_ID).alias(C.CAPTURE_ID), F.min(C.EVENT_TIME).alias(C.STARTED_AT), F.min("leo").alias("leo"),
        F.max(f"{_HAD}.hw").alias("hw"), F.bool_or("as_leader").alias("as_leader"),
    )  # fmt: skip
    return _findings(found)


_FOUND = (*_REPLICA, C.LEADER_EPOCH, C.CAPTURE_ID, C.EVENT_TIME, "leo", _HAD, "as_leader")


def _is_later(epoch: Column) -> Column:
    return (F.col(C.TOPIC_ID) != "") | (epoch < F.col(C.LEADER_EPOCH))


def _leaders(marked: DataFrame, led: DataFrame) -> DataFrame:
    """One row per leader that began below the highest HW of a leader before it, and whose log was never told cut."""
    in_order = Window.partitionBy(*C.PARTITION_KEY).orderBy(C.LEADER_EPOCH, NUMBER).rowsBetween(FIRST, -1)
    reached = F.max(F.struct(F.col(C.HIGH_WATERMARK).alias("hw"), F.col(C.LEADER_EPOCH).alias("epoch"))).over(in_order)
    short = led.withColumn(_HAD, reached).where(
        (F.col(START_LEO) < F.col(f"{_HAD}.hw")) & _is_later(F.col(f"{_HAD}.epoch"))
    )
    began = short.select(
        *C.PARTITION_KEY, F.col(C.LEADER_ID).alias(C.REPLICA_ID), C.LEADER_EPOCH, C.CAPTURE_ID,
        F.col(C.STARTED_AT).alias(C.EVENT_TIME), F.col(START_LEO).alias("leo"), _HAD,
    )  # fmt: skip
    cut = marked.where("is_cut").select(*_REPLICA, F.col("leo").alias("cut_to"), F.col(C.EVENT_TIME).alias("cut_at"))
    explained = began.join(cut, C.on_partition(C.REPLICA_ID)).where(
        (F.col("cut_to") <= F.col("leo")) & (F.col("cut_at") <= F.col(C.EVENT_TIME))
    )
    key = C.on_partition(C.REPLICA_ID, C.LEADER_EPOCH)
    return began.join(explained.select(*key), key, "left_anti").withColumn("as_leader", F.lit(True)).select(*_FOUND)


def _findings(found: DataFrame) -> DataFrame:
    rows = found.withColumn(C.ENDED_AT, F.lit(None))
    whose = F.when(F.col("as_leader"), "a leader before it").otherwise("its own log")
    evidence = text(
        "replica {} began at LEO {} in epoch {}, and {} had had HW {}; no line tells of a truncation in between",
        C.REPLICA_ID, "leo", C.LEADER_EPOCH, whose, "hw",
    )  # fmt: skip
    severity = F.when(F.col("as_leader"), Severity.CRITICAL.value).otherwise(Severity.WARNING.value)
    offsets = (F.col("leo"), F.col("hw"))
    kind = IncidentKind.SILENT_TRUNCATION
    return finding(rows, kind, severity, evidence, replica_id=F.col(C.REPLICA_ID), offsets=offsets)
