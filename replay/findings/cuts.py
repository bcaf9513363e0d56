"""Truncations below the partition's HW: Kafka's own warning practically never fires before 4.2 (KAFKA-19474)."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from replay.findings.cutters import SEEN_IN
from replay.findings.finding import finding, text
from replay.findings.lost_ranges import PREVIOUS_EPOCH
from replay.findings.spans import START_LEO
from schemas import columns as C
from schemas.kinds import IncidentKind, Severity

_IS_LEADERS_OWN = "is_leaders_own"
"""boolean: it had fetched from the leader in whose epoch it cut: what it cut are that leader's records."""
_COMMITTED_END = "committed_end"
_GONE = "gone"
"""struct<start,end,led_in>: a part of what it cut and was committed that an election since has lost; NULL where none
is. `led_in` is the leader epoch in which the replica led itself, before it had fetched them again; NULL if another."""


def cuts_below_high_watermark(cut: DataFrame, led: DataFrame, lost: DataFrame) -> DataFrame:
    """One row per truncation to below the highest HW any leader had reached.

    `cut` are the truncations with `cutters.SEEN_IN`, `led` is `spans.spans`, `lost` `losses`.

    How bad it is depends on what the leaders before the cutter's epoch had committed: offsets that only the present
    leader committed are other records than those which were cut, but if the replica had fetched them from that leader.
    What the present leader's log holds is fetched again; what an election has lost since is gone.
    """
    below = cut.where(F.col(C.TO_OFFSET) < F.col(C.PARTITION_HIGH_WATERMARK_BEFORE))
    spans = led.select(*C.PARTITION_KEY, F.col(C.LEADER_EPOCH).alias("epoch"), START_LEO, C.HIGH_WATERMARK)
    key = C.on_partition(C.REPLICA_ID, C.LEADER_EPOCH, C.EVENT_TIME)
    at_leaders = (
        below.select(*key)
        .join(spans, C.on_partition())
        .groupBy(*key)
        .agg(
            F.max(F.when(F.col("epoch") < F.col(C.LEADER_EPOCH), F.col(C.HIGH_WATERMARK))).alias("committed_before"),
            F.max(F.when(F.col("epoch") == F.col(C.LEADER_EPOCH), F.col(START_LEO))).alias("leader_has_up_to"),
        )
    )
    known = below.join(at_leaders, key, "left").withColumns(
        {C.STARTED_AT: F.col(C.EVENT_TIME), C.ENDED_AT: F.lit(None)}
    )
    return _findings(_with_gone(_with_committed(known), lost))


def _with_committed(rows: DataFrame) -> DataFrame:
    """Return the rows with `end`, up to which what was cut lies below the HW, and `committed_end`."""
    hw = F.col(C.PARTITION_HIGH_WATERMARK_BEFORE)
    end = F.when(F.col(C.FROM_OFFSET) >= 0, F.least(F.col(C.FROM_OFFSET), hw)).otherwise(hw)
    is_own = F.coalesce(F.col(SEEN_IN) == F.col(C.LEADER_EPOCH), F.lit(False))
    of_others = F.least("end", F.coalesce("committed_before", hw))
    return rows.withColumns({"end": end, _IS_LEADERS_OWN: is_own}).withColumn(
        _COMMITTED_END, F.when(is_own, F.col("end")).otherwise(of_others)
    )


def _with_gone(rows: DataFrame, lost: DataFrame) -> DataFrame:
    """Return the rows with `gone`: what an election lost since the replica was last in touch, up to the cut.

    Or the replica's own, after the cut: it was elected before it had fetched them again.
    """
    restart = F.col(PREVIOUS_EPOCH) == F.col(C.LEADER_EPOCH)
    ranges = lost.where(F.col(C.KIND) == IncidentKind.COMMITTED_RECORDS_LOST.value).groupBy(*C.PARTITION_KEY)
    loss = F.struct(
        F.col(C.LEADER_EPOCH).alias("epoch"), restart.alias("is_restart"), C.LEADER_ID, C.FROM_OFFSET, C.TO_OFFSET
    )
    of_partition = ranges.agg(F.collect_list(loss).alias("losses"))
    epoch = F.col(C.LEADER_EPOCH)
    last = F.coalesce(F.col(SEEN_IN), epoch - 1)

    # What it cut again, later, it had fetched before that.
    in_order = Window.partitionBy(*C.REPLICA_KEY).orderBy(C.LEADER_EPOCH, C.EVENT_TIME)
    known = rows.withColumn("next_cut_in", F.lead(C.LEADER_EPOCH).over(in_order))

    def is_own(it: Column) -> Column:
        is_next = F.coalesce(it["epoch"] <= F.col("next_cut_in"), F.lit(True))
        return (it[C.LEADER_ID] == F.col(C.REPLICA_ID)) & (it["epoch"] > epoch) & is_next

    def is_since(it: Column) -> Column:
        # A leader that restarts without its tail keeps its epoch, and has not got what was fetched from it before.
        is_before = ((it["epoch"] > last) & (it["epoch"] <= epoch)) | ((it["epoch"] == last) & it["is_restart"])
        return is_before | is_own(it)

    def part(it: Column) -> Column:
        start, end = F.greatest(it[C.FROM_OFFSET], C.TO_OFFSET), F.least(it[C.TO_OFFSET], _COMMITTED_END)
        led_in = F.when(is_own(it), it["epoch"])
        return F.struct(start.alias("start"), end.alias("end"), led_in.alias("led_in"))

    parts = F.filter(F.transform(F.filter("losses", is_since), part), lambda it: it["start"] < it["end"])
    joined = known.join(of_partition, C.on_partition(), "left")
    return joined.withColumn(_GONE, F.array_min(parts)).drop("losses", "next_cut_in")


def _findings(rows: DataFrame) -> DataFrame:
    """One finding per replica's cut below the partition's HW."""
    start = F.col(C.TO_OFFSET)
    was_committed, is_gone = start < F.col(_COMMITTED_END), F.col(_GONE).isNotNull()
    is_held = F.col(_IS_LEADERS_OWN) | (F.col("leader_has_up_to") >= F.col(_COMMITTED_END))
    # NULL where no line tells what the leader began with.
    may_be_held = F.coalesce(is_held, F.lit(True))
    severity = (
        F.when(~was_committed, Severity.INFO.value)
        .when(~is_gone & may_be_held, Severity.WARNING.value)
        .otherwise(Severity.CRITICAL.value)
    )
    verdict = (
        F.when(~was_committed, "the records it cut were committed by no leader: later ones have their offsets")
        .when(F.col(f"{_GONE}.led_in").isNotNull(), _led_without())
        .when(is_gone, text("[{}, {}) of them are gone from the leader's log too", f"{_GONE}.start", f"{_GONE}.end"))
        .when(F.col(_IS_LEADERS_OWN), "the leader from which it had them still has them: they are fetched again")
        .when(is_held, "the leader began with those records: they are fetched again")
        .when(is_held.isNull(), "no line tells what the leader began with")
        .otherwise(text("the leader began at {}: what lies beyond is gone from it too", "leader_has_up_to"))
    )
    evidence = F.concat(
        text(
            "replica {} cut [{}, {}) in epoch {} by {}; the partition's HW had been {}, the replica's own {}; ",
            C.REPLICA_ID, C.TO_OFFSET, C.FROM_OFFSET, C.LEADER_EPOCH, C.METHOD, C.PARTITION_HIGH_WATERMARK_BEFORE,
            C.HIGH_WATERMARK_BEFORE,
        ),
        verdict,
        F.when(F.col(C.IS_STATED), "; the broker says so too").otherwise(""),
    )  # fmt: skip
    kind = IncidentKind.TRUNCATED_BELOW_HIGH_WATERMARK
    return finding(rows, kind, severity, evidence, replica_id=F.col(C.REPLICA_ID), offsets=(start, F.col("end")))


def _led_without() -> Column:
    """Return in words that the replica's own election lost what it had cut."""
    return text(
        "it led epoch {} before it had fetched [{}, {}) of them again: these are gone",
        f"{_GONE}.led_in", f"{_GONE}.start", f"{_GONE}.end",
    )  # fmt: skip
