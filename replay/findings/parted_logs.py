"""Logs that parted at an election: a former leader kept records at offsets where the new one appended others."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from replay.findings.begun_behind import BEHIND_AT, with_behind
from replay.findings.contacts import LEADS
from replay.findings.differing import KEPT, kept, with_differing
from replay.findings.finding import finding, text
from replay.findings.leaders_logs import SPLIT_AT
from replay.findings.lost_ranges import HAD_UP_TO, PREVIOUS_EPOCH, PREVIOUS_LEADER
from replay.findings.spans import END_LEO, SPAN
from schemas import columns as C
from schemas.kinds import IncidentKind, Severity

_UNTIL = "gone_in"
"""int: the next leader epoch whose log has not what the new leader appended; NULL while each has."""


def parted_from_leaders(
    landed: Mapping[str, DataFrame],
    lost: DataFrame,
    took_part: DataFrame,
    truncations: DataFrame,
    leader_timeline: DataFrame,
) -> DataFrame:
    """One row per election after which the new leader appended at offsets where its predecessor had other records.

    It begins with the first of them, and ends when the predecessor cuts, or has a log that begins behind them: under
    truncation to the HW it may never do so, and fetch on over its own records (KIP-101, scenario 2). If the log goes on
    from another than the new leader's, perhaps the predecessor's, it is the new leader that has to cut.
    """
    ends = F.least(F.col(HAD_UP_TO), F.col(END_LEO))
    apart = lost.groupBy(*SPAN, C.CAPTURE_ID, C.LEADER_ID, C.STARTED_AT, PREVIOUS_LEADER, PREVIOUS_EPOCH).agg(
        F.min(SPLIT_AT).alias("begin"), F.max(ends).alias("end")
    ).where("begin < end").where(f"{PREVIOUS_LEADER} <> {C.LEADER_ID}")  # fmt: skip
    known = with_behind(_with_until(apart, lost, took_part), landed, PREVIOUS_LEADER)
    ended = _with_end(known, truncations)
    rows = with_differing(ended, leader_timeline, PREVIOUS_LEADER)
    severity, fate = _fate()
    evidence = text(
        "[{}, {}): replica {} had records of epoch {} or before, leader {} appended others in epoch {}; {}",
        "begin", "end", PREVIOUS_LEADER, PREVIOUS_EPOCH, C.LEADER_ID, C.LEADER_EPOCH, fate,
    )  # fmt: skip
    offsets = (F.col("begin"), F.col("end"))
    kind = IncidentKind.LOG_DIVERGENCE
    return finding(rows, kind, severity, evidence, replica_id=F.col(PREVIOUS_LEADER), offsets=offsets)


def _with_until(apart: DataFrame, lost: DataFrame, took_part: DataFrame) -> DataFrame:
    """Return the rows with `led_in`, the next epoch that the predecessor led, `_UNTIL` and `back_in`.

    `back_in` is the first epoch, before `_UNTIL`, in which the predecessor fetched on over its own records.
    """
    since = F.col(C.LEADER_EPOCH)
    splits = lost.groupBy(*C.PARTITION_KEY).agg(F.collect_list(F.struct(C.LEADER_EPOCH, SPLIT_AT)).alias("splits"))
    terms = took_part.groupBy(*C.PARTITION_KEY, F.col(C.REPLICA_ID).alias(PREVIOUS_LEADER)).agg(
        F.collect_list(F.struct(C.LEADER_EPOCH, C.LOG_END_OFFSET, LEADS)).alias("terms")
    )
    gone = F.filter("splits", lambda it: (it[C.LEADER_EPOCH] > since) & (it[SPLIT_AT] <= F.col("begin")))
    led = F.filter("terms", lambda it: (it[C.LEADER_EPOCH] > since) & it[LEADS])
    # A leader has nothing to cut, and those that fetch from another log than the new leader's may not have either.
    fetched = F.filter(
        "terms",
        lambda it: (
            (it[C.LEADER_EPOCH] >= since)
            & (F.col(_UNTIL).isNull() | (it[C.LEADER_EPOCH] < F.col(_UNTIL)))
            & ~it[LEADS]
            & (it[C.LOG_END_OFFSET] > F.col("begin"))
        ),
    )
    known = apart.join(splits, C.on_partition()).join(terms, C.on_partition(PREVIOUS_LEADER), "left")
    return (
        known.withColumn("led_in", _first_epoch(led))
        .withColumn(_UNTIL, F.least("led_in", _first_epoch(gone)))
        .withColumn("back_in", _first_epoch(fetched))
    )


def _first_epoch(entries: Column) -> Column:
    return F.array_min(F.transform(entries, lambda it: it[C.LEADER_EPOCH]))


def _with_end(apart: DataFrame, truncations: DataFrame) -> DataFrame:
    """Return the rows with `cut_at` and `other_cut_at`, of the predecessor and the new leader, and when it ended.

    And `kept`, what the predecessor kept when it cut its log to less than all of it: `differing.KEPT`.
    """
    cut = F.struct(C.LEADER_EPOCH, C.EVENT_TIME, C.TO_OFFSET)
    cuts = truncations.groupBy(*C.PARTITION_KEY, C.REPLICA_ID).agg(F.collect_list(cut).alias("cuts"))

    def first_cut(cuts: str, since: str) -> Column:
        to_the_split = F.filter(
            cuts, lambda it: (it[C.LEADER_EPOCH] >= F.col(since)) & (it[C.TO_OFFSET] <= F.col("begin"))
        )
        return F.array_min(F.transform(to_the_split, lambda it: it[C.EVENT_TIME]))

    known = apart
    for replica, name in ((PREVIOUS_LEADER, "own_cuts"), (C.LEADER_ID, "other_cuts")):
        own = cuts.select(*C.PARTITION_KEY, F.col(C.REPLICA_ID).alias(replica), F.col("cuts").alias(name))
        known = known.join(own, C.on_partition(replica), "left")
    ended = {"cut_at": first_cut("own_cuts", C.LEADER_EPOCH), "other_cut_at": first_cut("other_cuts", _UNTIL)}
    dated = known.withColumns(ended).withColumn(C.ENDED_AT, F.least("cut_at", BEHIND_AT, "other_cut_at"))
    return dated.withColumn(KEPT, kept("own_cuts"))


def _fate() -> tuple[Column, Column]:
    """Return the severity and, in words, what became of the records."""
    is_over, is_back = F.col(C.ENDED_AT).isNotNull(), F.col("back_in").isNotNull()
    severity = (
        F.when(is_over, Severity.INFO.value).when(is_back, Severity.CRITICAL.value).otherwise(Severity.WARNING.value)
    )
    words = (
        F.when(F.col("cut_at").isNotNull(), text("replica {} cut its own at {}", PREVIOUS_LEADER, "cut_at"))
        .when(F.col(BEHIND_AT).isNotNull(),
              text("the log of replica {} begins behind them at {}", PREVIOUS_LEADER, BEHIND_AT))
        .when(is_over, text("replica {} cut these at {}: the log of epoch {} does not hold them",
                            C.LEADER_ID, "other_cut_at", _UNTIL))
        .when(is_back & (F.size(KEPT) > 0),
              text("replica {} fetches since epoch {} and keeps these of its own", PREVIOUS_LEADER, "back_in"))
        .when(is_back, text("replica {} fetches since epoch {} and has cut nothing", PREVIOUS_LEADER, "back_in"))
        .when(F.col("led_in") == F.col(_UNTIL),
              text("replica {} led epoch {}, and replica {} has cut nothing", PREVIOUS_LEADER, "led_in", C.LEADER_ID))
        .otherwise(text("replica {} has not been back", PREVIOUS_LEADER))
    )  # fmt: skip
    return severity, words
