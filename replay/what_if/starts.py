"""The HW with which each leadership would have begun: a follower's own, of what its leader's last response would tell.

The fold of `states.start_fold` runs beside itself: once told what was, and once what would have been. Where both come
to the same, the brokers' own words stand, as the line of an election or what a follower was told by nothing logged.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from replay import names as N
from replay.event_types import is_event
from replay.events.leaderships import LOADED_HW, STATED_HW
from replay.keep import Keep
from replay.replayed import Happened
from replay.states.log_starts import with_told_log_start
from replay.states.settled import with_settled
from replay.states.start_fold import HEARD, next_state, start_of
from replay.states.starts import history, last_heard, last_responses, nothing_known, starts_of
from replay.what_if.both_rules import WAS_RISEN_TO, WAS_START
from replay.what_if.logs import let
from schemas import columns as C
from schemas import tables as T
from schemas.kinds import EventType

_WOULD_RISE_TO = "would_rise_to"
"""bigint: `risen_to` at the end of a leadership under the other rules."""
_READ = "read"
"""array<struct>, by slot: what the HW had risen to when the last response was read that a follower took, `was` and
`would`; and its own LEO and log start after it."""
_BESIDES = {_WOULD_RISE_TO: "bigint", _READ: "array<struct<was:bigint,would:bigint,leo:bigint,log_start:bigint>>"}


def starts_of_both(states: DataFrame, happened: Happened, assigned: DataFrame, slots: int, keep: Keep) -> DataFrame:
    """One row per leadership, as `starts.leadership_starts` under the other rules, and `was_start_high_watermark`.

    `states` is `both_rules.states_of_both`.
    """
    was = last_responses(states.withColumn(N.RISEN_TO, F.col(WAS_RISEN_TO)), slots)
    told = with_told_log_start(happened.begun, happened.landed[T.BROKER_STATEMENTS.name])
    summaries = was.join(_last_read(states, slots), [*N.LEADERSHIP])
    in_order = history(summaries, with_settled(told, None), happened.restarts, assigned, _BESIDES)
    nothing = nothing_known(slots)
    begin = F.struct(nothing.alias("was"), nothing.alias("would"))
    folded = keep(in_order.withColumn("folded", F.aggregate("history", begin, _next_states)), is_small=True)
    began = starts_of(folded, "folded.was.starts", assigned).select(*N.LEADERSHIP, F.col(N.START_HW).alias(WAS_START))
    return starts_of(folded, "folded.would.starts", assigned).join(began, [*N.LEADERSHIP])


def _last_read(states: DataFrame, slots: int) -> DataFrame:
    """One row per leadership: `would_rise_to`, `read`.

    When a response was read its HW tells: it may be from before its own fetch raised it, or from when it had waited
    (P:1514, RM:1799). The last event is meant after which the HW was no higher.
    """
    last = states.groupBy(*N.LEADERSHIP).agg(F.array(*[_last_answer(i) for i in range(slots)]).alias("last"))

    def read(slot: int) -> Column:
        it = F.get("last", F.lit(slot))
        had_come = (F.col(C.EVENT_SEQ) <= it["seq"]) & (F.col(WAS_RISEN_TO) <= it["hw"])
        was, would = (F.max(F.when(had_come, F.col(risen))) for risen in (WAS_RISEN_TO, N.RISEN_TO))
        return F.struct(was, would, F.max(it["leo"]), F.max(it["log_start"]))

    return states.join(F.broadcast(last), [*N.LEADERSHIP]).groupBy(*N.LEADERSHIP).agg(
        F.max(N.RISEN_TO).alias(_WOULD_RISE_TO),
        F.array(*[read(i) for i in range(slots)]).cast(_BESIDES[_READ]).alias(_READ),
    )  # fmt: skip


def _last_answer(slot: int) -> Column:
    """Return the last answer that a replica took, an aggregate: HW, place, and its own LEO and log start after it.

    One that omits the partition, of which no `RESPONSE` follows, told that its HW was what the fetch session had been
    told (KIP-227). Under other rules it would have told of another (`CachedPartition.maybeUpdateResponseData`, FS:138).
    """
    is_response, seq = is_event(N.RESPONSE), F.col(C.EVENT_SEQ)
    # Answered at once, it is read before its own fetch counts.
    until = F.when(is_response | F.col(C.IS_PARKED), seq).otherwise(seq - 1)
    hw = F.col(C.RESPONSE_HIGH_WATERMARK)

    def said(hw: Column) -> Column:
        of_replica = (F.col(N.FOLLOWER_LEO).alias("leo"), F.col(N.OWN_LOG_START).alias("log_start"))
        return F.struct(hw.alias("hw"), until.alias("seq"), *of_replica)

    own = F.col(N.SLOT) == slot
    omits = own & is_event(EventType.FETCH) & F.col(N.IS_TAKEN) & (hw >= 0)
    fetched_at = F.max(F.when(omits, seq))
    is_omitted = F.coalesce(fetched_at > F.max(F.when(own & is_response, seq)), fetched_at.isNotNull())
    omitted = F.max_by(F.when(omits, said(hw)), F.when(omits, seq))
    return F.when(is_omitted, omitted).otherwise(last_heard(slot, said(F.when(is_response, hw))))


def _next_states(both: Column, step: Column) -> Column:
    """Return both vectors after a leadership or a restart."""
    was = next_state(both["was"], step)
    return let(was, lambda known: F.struct(known.alias("was"), _would(both, known, step).alias("would")))


def _would(both: Column, known: Column, step: Column) -> Column:
    """Return the vector that would have been, given how that which was goes on."""
    who = F.greatest(step[N.LEADER_SLOT], step[N.SLOT])
    own, was = (F.get(both[it]["own"], who) for it in ("would", "was"))
    is_same = own["hw"].eqNullSafe(was["hw"])
    # A checkpoint as high as the HW was written at the end; of an older one only so much is known: it is no higher.
    loaded = F.when(step[LOADED_HW] >= was["hw"], own["hw"]).otherwise(F.least(step[LOADED_HW], own["hw"]))
    told = (
        step.withField(N.RISEN_TO, step[_WOULD_RISE_TO])
        .withField(STATED_HW, F.when(is_same, step[STATED_HW]))
        .withField(LOADED_HW, F.when(is_same | step[LOADED_HW].isNull(), step[LOADED_HW]).otherwise(loaded))
    )
    starts = F.struct(
        F.element_at(known["starts"], -1)["hw"].alias("was"),
        start_of(F.when(step[N.LEADER_SLOT] >= 0, own), told)["hw"].alias("would"),
    )
    return let(starts, lambda start: next_state(both["would"], told.withField(HEARD, _heard(step, start))))


def _heard(step: Column, start: Column) -> Column:
    """Return, by slot, the last HW that each follower would have taken, within its log."""

    def one(heard: Column, slot: Column) -> Column:
        read = F.get(step[_READ], slot)
        was, would = (F.greatest(start[it], read[it]) for it in ("was", "would"))
        in_log = F.greatest(F.least(would, F.when(read["leo"] >= 0, read["leo"])), read["log_start"])
        hw = F.when(read["was"].isNull() | was.eqNullSafe(would), heard["hw"]).otherwise(in_log)
        return F.when(heard.isNotNull(), heard.withField("hw", hw))

    return F.transform(step[HEARD], one)
