"""Followers that truncation to the HW leaves apart: a new leader appends at offsets where they keep other records.

Before KIP-101 a follower cuts its log to its own HW. If a leader with less than that is elected, what it appends there
is not what the follower has, and nothing ever compares the two (KIP-101, scenario 2). Fetches show it: the first one
under the new leader asks for what lies beyond.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from replay.findings.begun_behind import BEHIND_AT, with_behind
from replay.findings.contacts import ASKED_FROM, LEADS, OWN_HW
from replay.findings.differing import KEPT, kept, with_differing
from replay.findings.finding import finding, text
from replay.findings.leaders_logs import SPLIT_AT
from replay.findings.lost_ranges import PREVIOUS_EPOCH, PREVIOUS_LEADER
from replay.findings.spans import END_LEO, SPAN, START_LEO
from replay.profile import Profile, Truncation
from schemas import columns as C
from schemas.kinds import IncidentKind, Severity


def parted_followers(
    landed: Mapping[str, DataFrame],
    lost: DataFrame,
    took_part: DataFrame,
    truncations: DataFrame,
    leader_timeline: DataFrame,
    profile: Profile,
) -> DataFrame:
    """One row per election and follower that went on above records which the new leader had not, and appended others.

    Certain of a follower alone that had them below its own HW, under the leader right before, and asked for none of the
    new leader's there. It ends when the follower cuts, or has a log that begins behind it. A leader that restarts
    and keeps its epoch is asked in one epoch before and after.
    """
    is_heard = F.bool_and(F.col("silent").isNull()).alias("is_heard")
    apart = lost.groupBy(*SPAN, C.CAPTURE_ID, C.LEADER_ID, C.STARTED_AT, PREVIOUS_LEADER, PREVIOUS_EPOCH, END_LEO).agg(
        F.min(SPLIT_AT).alias("begin"), F.max(START_LEO).alias("start"), is_heard
    ).where("begin >= start AND is_heard").where(F.col(PREVIOUS_EPOCH) < F.col(C.LEADER_EPOCH))  # fmt: skip
    cuts_to_hw = F.lit(profile.truncation) == Truncation.HIGH_WATERMARK.value
    follower = took_part.where(~F.col(LEADS))
    before = follower.select(*C.PARTITION_KEY, C.REPLICA_ID, F.col(C.LEADER_EPOCH).alias(PREVIOUS_EPOCH), OWN_HW)
    now = follower.select(*C.PARTITION_KEY, C.REPLICA_ID, C.LEADER_EPOCH, ASKED_FROM)
    goes_on = (F.col(OWN_HW) > F.col("begin")) & (F.col(ASKED_FROM) > F.col("begin"))
    known = (
        apart.where(cuts_to_hw)
        .join(before, C.on_partition(PREVIOUS_EPOCH))
        .join(now, C.on_partition(C.LEADER_EPOCH, C.REPLICA_ID))
        .where(goes_on & (F.col(C.REPLICA_ID) != F.col(PREVIOUS_LEADER)))
        .withColumn("end", F.least(ASKED_FROM, END_LEO))
        .where("begin < end")
    )
    behind = with_behind(known, landed, C.REPLICA_ID)
    return _findings(with_differing(_with_cuts(behind, truncations), leader_timeline, C.REPLICA_ID))


def _with_cuts(known: DataFrame, truncations: DataFrame) -> DataFrame:
    """Return the rows with `ended_at`, and `cut_at`: when it cut to where the two part, in that epoch or later.

    And with `differing.KEPT`.
    """
    cut = F.struct(C.LEADER_EPOCH, C.EVENT_TIME, C.TO_OFFSET)
    cuts = truncations.groupBy(*C.PARTITION_KEY, C.REPLICA_ID).agg(F.collect_list(cut).alias("cuts"))
    since = F.filter(
        "cuts", lambda it: (it[C.LEADER_EPOCH] >= F.col(C.LEADER_EPOCH)) & (it[C.TO_OFFSET] <= F.col("begin"))
    )
    cut_at = F.array_min(F.transform(since, lambda it: it[C.EVENT_TIME]))
    known = known.join(cuts, C.on_partition(C.REPLICA_ID), "left")
    dated = known.withColumn("cut_at", cut_at).withColumn(C.ENDED_AT, F.least("cut_at", BEHIND_AT))
    return dated.withColumn(KEPT, kept("cuts"))


def _findings(rows: DataFrame) -> DataFrame:
    """One finding per follower and range of which it had other records."""
    is_over = F.col(C.ENDED_AT).isNotNull()
    fate = (
        F.when(F.col("cut_at").isNotNull(), text("it cut them at {}", "cut_at"))
        .when(is_over, text("its log begins behind them at {}", C.ENDED_AT))
        .when(F.size(KEPT) > 0, "it keeps these")
        .otherwise("it has cut nothing")
    )
    evidence = text(
        "[{}, {}): replica {} had records of epoch {} or before, below its HW {}, leader {} appended others in epoch"
        " {}; the replica asked it for {} first, and {}",
        "begin", "end", C.REPLICA_ID, PREVIOUS_EPOCH, OWN_HW, C.LEADER_ID, C.LEADER_EPOCH, ASKED_FROM, fate,
    )  # fmt: skip
    severity = F.when(is_over, Severity.INFO.value).otherwise(Severity.CRITICAL.value)
    offsets = (F.col("begin"), F.col("end"))
    kind = IncidentKind.LOG_DIVERGENCE
    return finding(rows, kind, severity, evidence, replica_id=F.col(C.REPLICA_ID), offsets=offsets)
