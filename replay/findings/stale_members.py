"""ISR members that ought to have left by the lag rule and did not (P:1297 getOutOfSyncReplicas)."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from replay.findings.finding import finding, seconds, text
from replay.findings.late_members import MEMBER, WHO, by_member, late_members
from replay.keep import Keep
from replay.profile import Profile
from replay.windows import FIRST, NOW, epoch_in_order, is_end_told_late
from schemas import columns as C
from schemas.kinds import IncidentKind, Severity


def longest_wait_ms(profile: Profile) -> Column:
    """Return the lag time, half of it until the next check of the ISR (RM:339), and a second for the change itself."""
    return F.lit(profile.lag_time_ms) * F.lit(1.5) + 1_000


def stale_isr_members(leader_timeline: DataFrame, profile: Profile, keep: Keep) -> DataFrame:
    """One row per stretch in which a member was behind the leader's LEO, not caught up, and in the ISR for too long.

    The longest silence within is not counted: a leader that was itself frozen checks nothing. A replica silent *at* the
    leader's LEO stays (KAFKA-7152), and while a change is in flight no other is proposed.
    """
    wait = longest_wait_ms(profile)
    late = keep(late_members(leader_timeline, wait), is_small=True)
    # Joined before anything is put in order: of epochs without such a member nothing is read.
    in_question = F.broadcast(late.select(*C.EPOCH_KEY).distinct())
    heard = _heard(leader_timeline.join(in_question, C.on_partition(C.LEADER_EPOCH), "left_semi"))
    heard = heard.where(~is_end_told_late())
    of_late = heard.join(F.broadcast(_not_caught_up(heard, late, wait)), C.on_partition(C.LEADER_EPOCH))
    stretches = _in_the_isr(of_late)
    lasted = F.unix_millis(C.ENDED_AT) - F.unix_millis(C.STARTED_AT) - F.coalesce("silence", F.lit(0))
    evidence = text(
        "replica {} stayed in the ISR of leader {} though behind its LEO for {}, {} against {} at the end, and"
        " last caught up at {}; replica.lag.time.max.ms is {}",
        WHO, C.LEADER_ID, seconds(F.col(C.STARTED_AT), F.col(C.ENDED_AT)), "at_end.remote", "at_end.log_end_offset",
        "caught_up", F.lit(profile.lag_time_ms),
    )  # fmt: skip
    kind = IncidentKind.STALE_ISR_MEMBER
    return finding(stretches.where(lasted > wait), kind, Severity.WARNING, evidence, replica_id=F.col(WHO))


def _in_the_isr(of_late: DataFrame) -> DataFrame:
    """One row per stretch in which a member was in the ISR, behind, and free to leave, while its time stood still."""
    remote = F.element_at(F.col(C.REMOTE_LEO_MAP), F.col(WHO))
    settled = F.size(C.MAXIMAL_ISR) == F.size(C.ISR)
    behind = F.array_contains(C.ISR, F.col(WHO)) & (remote < F.col(C.LOG_END_OFFSET)) & settled
    within = (F.col(C.EVENT_TIME) > F.col("caught_up")) & (F.col(C.EVENT_TIME) <= F.col("until"))
    of_stretch = epoch_in_order(WHO, "caught_up")
    counted = of_late.where(F.col(C.ISR).isNotNull()).withColumn("counts", F.coalesce(within & behind, F.lit(False)))
    # Out of the ISR, or while a change is in flight, it need not have left: what comes after is another stretch.
    before = F.when(F.lag("counts").over(of_stretch), F.lag(C.EVENT_TIME).over(of_stretch))
    events = counted.withColumns(
        {
            "silence": F.unix_millis(C.EVENT_TIME) - F.unix_millis(before),
            "nth": F.count_if(~F.col("counts")).over(of_stretch.rowsBetween(FIRST, NOW)),
        }
    )
    return (
        events.where("counts")
        .groupBy(*MEMBER, "caught_up", "nth")
        .agg(
            F.min(C.CAPTURE_ID).alias(C.CAPTURE_ID),
            F.max(C.LEADER_ID).alias(C.LEADER_ID),
            F.min(C.EVENT_TIME).alias(C.STARTED_AT),
            F.max(C.EVENT_TIME).alias(C.ENDED_AT),
            F.max("silence").alias("silence"),
            F.max_by(F.struct(remote.alias("remote"), C.LOG_END_OFFSET), C.EVENT_SEQ).alias("at_end"),
        )
    )


def _heard(leader_timeline: DataFrame) -> DataFrame:
    """The events of leader epochs whose requests are all logged: of others nothing shows who was caught up."""
    is_known = F.col(C.LOG_END_OFFSET_LOW) == F.col(C.LOG_END_OFFSET_HIGH)
    in_part = leader_timeline.where(~is_known).select(*C.EPOCH_KEY).distinct()
    return leader_timeline.join(F.broadcast(in_part), C.on_partition(C.LEADER_EPOCH), "left_anti")


def _not_caught_up(leader_timeline: DataFrame, late: DataFrame, wait_ms: Column) -> DataFrame:
    """One row per replica and stretch longer than `wait_ms` in which its lastCaughtUpTimeMs stood still (R:84)."""
    heard = by_member(leader_timeline).join(F.broadcast(late), [*map(str, MEMBER)], "left_semi")
    of_member = epoch_in_order(WHO)
    shown = heard.withColumns({"shown": _caught_up(), "is_last": F.lead(C.EVENT_SEQ).over(of_member).isNull()})
    # A later fetch that catches up ends the stretch, a fetch that does not goes on with it.
    stands = shown.withColumns(
        {
            "stood": F.max("shown").over(of_member.rowsBetween(FIRST, -1)),
            "stands": F.max("shown").over(of_member.rowsBetween(FIRST, NOW)),
        }
    )
    is_over = (F.col("stands") > F.col("stood")) & _is_longer(C.EVENT_TIME, "stood", wait_ms)
    ended = F.when(is_over, _stretch("stood", F.col(C.EVENT_TIME)))
    at_end = F.when(F.col("is_last"), _stretch("stands", F.lit(None).cast("timestamp")))
    each = stands.where(F.col("is_last") | is_over).select(*MEMBER, F.explode(F.array(ended, at_end)).alias("it"))
    last = leader_timeline.groupBy(*C.EPOCH_KEY).agg(F.max(C.EVENT_TIME).alias("last_at"))
    known = each.select(*MEMBER, "it.*").join(last, C.on_partition(C.LEADER_EPOCH))
    stretches = known.withColumn("until", F.coalesce("until", "last_at"))
    return stretches.where(_is_longer("until", "caught_up", wait_ms)).drop("last_at")


def _stretch(since: str, until: Column) -> Column:
    return F.struct(F.col(since).alias("caught_up"), until.alias("until"))


def _is_longer(end: str, start: str, wait_ms: Column) -> Column:
    return F.unix_millis(end) - F.unix_millis(start) > wait_ms


def _caught_up() -> Column:
    """Return the time at which a fetch shows its replica to have been caught up; NULL where it shows none."""
    remote = F.element_at(F.col(C.REMOTE_LEO_MAP), F.col(WHO))
    of_member = epoch_in_order(WHO)
    end_before = F.max(C.LOG_END_OFFSET).over(of_member.rowsBetween(FIRST, -1))
    return (
        F.when(F.col("is_begin"), F.col(C.EVENT_TIME))
        .when(remote >= F.col(C.LOG_END_OFFSET), F.col(C.EVENT_TIME))
        .when(remote >= end_before, F.lag(C.EVENT_TIME).over(of_member))
    )
