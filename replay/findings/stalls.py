"""Stalled high watermarks: HW < the leader's LEO and standing still, who held it and why."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from replay.brokers_rules import of_leader_at
from replay.findings.finding import finding, members, text, until
from replay.findings.held_back import explained, held_back
from replay.profile import Profile
from schemas import columns as C
from schemas import view_columns as V
from schemas.answers import HeldBy
from schemas.kinds import IncidentKind, Severity

STALL_MS = 1_000
"""Twice replica.fetch.wait.max.ms (500): a healthy follower's next fetch raises the HW sooner."""


def stalled_high_watermarks(
    leader_timeline: DataFrame, epochs: DataFrame, heard: DataFrame, profile: Profile
) -> DataFrame:
    """One row per stretch of a leader, `STALL_MS` long or more, in which the HW stood below the leader's LEO.

    `epochs` and `heard` as of `held_back`.

    The HW waits for followers' fetches, and they for nothing but the network: a stall of a second is worth a line, one
    of replica.lag.time.max.ms a warning, for by then the replica ought to be on its way out of the ISR.
    """
    lasted = F.col(V.LASTED_MS)
    long_enough = held_back(leader_timeline, epochs, heard).where(lasted >= STALL_MS)
    rules = of_leader_at(profile, F.col(C.LEADER_ID), F.unix_micros(C.STARTED_AT))
    stretches = explained(long_enough, F.lit(rules.min_isr_gate))
    severity = F.when(lasted >= F.lit(profile.lag_time_ms), Severity.WARNING.value).otherwise(Severity.INFO.value)
    evidence = text(
        "HW {} stood {} below the LEO of leader {}, which came to {}; {}",
        C.HIGH_WATERMARK, until(F.col(C.STARTED_AT), F.col(C.ENDED_AT)), C.LEADER_ID, C.LOG_END_OFFSET, _in_words(),
    )  # fmt: skip
    replica = F.when(F.size(V.WAITS_FOR) == 1, F.get(V.WAITS_FOR, F.lit(0))).otherwise(-1)
    offsets = (F.col(C.HIGH_WATERMARK), F.col(C.LOG_END_OFFSET))
    kind = IncidentKind.HIGH_WATERMARK_STALLED
    return finding(stretches, kind, severity, evidence, replica_id=replica, offsets=offsets)


def _in_words() -> Column:
    """Return `why` and `waits_for` as a sentence."""
    who = members(V.WAITS_FOR)
    sentences = {
        HeldBy.UNDER_MIN_ISR: text("the ISR {} is under min.insync.replicas {}", members(C.ISR), C.MIN_ISR),
        HeldBy.FIRST_FETCH: text("the leader waits for the first fetch of {}", who),
        HeldBy.ISR_CHANGE_IN_FLIGHT: text("it waits for {}, whose joining of the ISR is in flight", who),
        HeldBy.CAUGHT_UP_OUTSIDE_ISR: text("it waits for {}, caught up but outside the ISR", who),
        HeldBy.NOT_FETCHING: text("{} did not fetch", who),
        HeldBy.BEHIND: text("{} fetched and was behind", who),
    }
    words = F.lit("nothing in the capture shows whom it waited for")
    for reason, sentence in sentences.items():
        words = F.when(F.col(V.WHY) == reason.value, sentence).otherwise(words)
    return words
