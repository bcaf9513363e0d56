"""ISR members that ought to have left by the lag rule and did not (P:1297 getOutOfSyncReplicas)."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from replay.findings.finding import finding, seconds, text
from replay.profile import Profile
from replay.windows import FIRST, LAST, NOW, epoch_in_order
from schemas import columns as C
from schemas.kinds import EventType, IncidentKind, Severity

_MEMBER = (*C.EPOCH_KEY, "who")


def longest_wait_ms(profile: Profile) -> Column:
    """Return the lag time, half of it until the next check of the ISR (RM:339), and a second for the change itself."""
    return F.lit(profile.lag_time_ms) * F.lit(1.5) + 1_000


def stale_isr_members(leader_timeline: DataFrame, profile: Profile) -> DataFrame:
    """One row per stretch in which a member was behind the leader's LEO, not caught up, and in the ISR for too long.

    The longest silence within is not counted: a leader that was itself frozen checks nothing. A replica silent *at* the
    leader's LEO stays (KAFKA-7152), and while a change is in flight no other is proposed.
    """
    wait = longest_wait_ms(profile)
    leader_timeline = _heard(leader_timeline)
    late = _not_caught_up(leader_timeline, wait)
    before = F.lag(C.EVENT_TIME).over(epoch_in_order())
    events = leader_timeline.where(F.col(C.ISR).isNotNull()).select(
        *C.EPOCH_KEY, C.EVENT_SEQ, C.EVENT_TIME, C.CAPTURE_ID, C.LEADER_ID, C.LOG_END_OFFSET, C.ISR, C.MAXIMAL_ISR,
        C.REMOTE_LEO_MAP,
        (F.unix_millis(C.EVENT_TIME) - F.unix_millis(before)).alias("silence"),
    )  # fmt: skip
    remote = F.element_at(F.col(C.REMOTE_LEO_MAP), F.col("who"))
    settled = F.size(C.MAXIMAL_ISR) == F.size(C.ISR)
    behind = F.array_contains(C.ISR, F.col("who")) & (remote < F.col(C.LOG_END_OFFSET)) & settled
    within = (F.col(C.EVENT_TIME) > F.col("caught_up")) & (F.col(C.EVENT_TIME) <= F.col("until"))
    stretches = (
        events.join(F.broadcast(late), C.on_partition(C.LEADER_EPOCH))
        .where(within & behind)
        .groupBy(*_MEMBER, "caught_up")
        .agg(
            F.min(C.CAPTURE_ID).alias(C.CAPTURE_ID),
            F.max(C.LEADER_ID).alias(C.LEADER_ID),
            F.min(C.EVENT_TIME).alias(C.STARTED_AT),
            F.max(C.EVENT_TIME).alias(C.ENDED_AT),
            F.max("silence").alias("silence"),
            F.max_by(F.struct(remote.alias("remote"), C.LOG_END_OFFSET), C.EVENT_SEQ).alias("at_end"),
        )
    )
    lasted = F.unix_millis(C.ENDED_AT) - F.unix_millis(C.STARTED_AT) - F.coalesce("silence", F.lit(0))
    evidence = text(
        "replica {} stayed in the ISR of leader {} though behind its LEO for {}, {} against {} at the end, and"
        " last caught up at {}; replica.lag.time.max.ms is {}",
        "who", C.LEADER_ID, seconds(F.col(C.STARTED_AT), F.col(C.ENDED_AT)), "at_end.remote", "at_end.log_end_offset",
        "caught_up", F.lit(profile.lag_time_ms),
    )  # fmt: skip
    kind = IncidentKind.STALE_ISR_MEMBER
    return finding(stretches.where(lasted > wait), kind, Severity.WARNING, evidence, replica_id=F.col("who"))


def _heard(leader_timeline: DataFrame) -> DataFrame:
    """The events of leader epochs whose requests are all logged: of others nothing shows who was caught up."""
    is_known = F.col(C.LOG_END_OFFSET_LOW) == F.col(C.LOG_END_OFFSET_HIGH)
    epoch = Window.partitionBy(*C.EPOCH_KEY).rowsBetween(FIRST, LAST)
    told = leader_timeline.withColumn("is_heard", F.bool_and(is_known).over(epoch))
    return told.where("is_heard").drop("is_heard")


def _not_caught_up(leader_timeline: DataFrame, wait_ms: Column) -> DataFrame:
    """One row per replica and stretch longer than `wait_ms` in which its lastCaughtUpTimeMs stood still (R:84)."""
    is_begin = F.col(C.EVENT_TYPE) == EventType.BECOME_LEADER.value
    is_fetch = (F.col(C.EVENT_TYPE) == EventType.FETCH.value) & (F.col(C.REPLICA_ID) >= 0)
    others = F.array_except(F.coalesce(C.ISR, F.expr(C.NOBODY)), F.array(C.LEADER_ID))
    heard = leader_timeline.where(is_begin | is_fetch).select(
        *C.EPOCH_KEY, C.EVENT_SEQ, C.EVENT_TIME, C.LOG_END_OFFSET, C.REMOTE_LEO_MAP, is_begin.alias("is_begin"),
        F.explode(F.when(is_begin, others).otherwise(F.array(C.REPLICA_ID))).alias("who"),
    )  # fmt: skip
    shown = heard.withColumn("shown", _caught_up())
    rising = shown.withColumn("caught_up", F.max("shown").over(epoch_in_order("who").rowsBetween(FIRST, NOW)))
    # A later fetch that catches up ends the stretch, a fetch that does not goes on with it.
    ends = Window.partitionBy(*_MEMBER).orderBy("caught_up")
    per_stand = rising.where(F.col("caught_up").isNotNull()).groupBy(*_MEMBER, "caught_up").agg(
        F.min(C.EVENT_TIME).alias("first_at")
    )  # fmt: skip
    last = leader_timeline.groupBy(*C.EPOCH_KEY).agg(F.max(C.EVENT_TIME).alias("last_at"))
    stretches = per_stand.withColumn("until", F.lead("first_at").over(ends)).join(last, C.on_partition(C.LEADER_EPOCH))
    until = F.coalesce("until", "last_at")
    return (
        stretches.where(F.unix_millis(until) - F.unix_millis("caught_up") > wait_ms)
        .select(*_MEMBER, "caught_up", until.alias("until"))
    )  # fmt: skip


def _caught_up() -> Column:
    """Return the time at which a fetch shows its replica to have been caught up; NULL where it shows none."""
    remote = F.element_at(F.col(C.REMOTE_LEO_MAP), F.col("who"))
    of_member = epoch_in_order("who")
    end_before = F.max(C.LOG_END_OFFSET).over(of_member.rowsBetween(FIRST, -1))
    return (
        F.when(F.col("is_begin"), F.col(C.EVENT_TIME))
        .when(remote >= F.col(C.LOG_END_OFFSET), F.col(C.EVENT_TIME))
        .when(remote >= end_before, F.lag(C.EVENT_TIME).over(of_member))
    )
