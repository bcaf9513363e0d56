"""A replay that goes on from the one before: from which moment, and what it writes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from pyspark.sql import functions as F

from jobs.at_once import at_once
from jobs.clocks import clocks_ahead
from jobs.ended_logs import with_early_ends
from jobs.keeping import short_plans
from jobs.new_rows import Landed, MustReplayAllError, earlier_replay, new_rows, require
from jobs.protocol import protocol_of
from jobs.replay_inputs import of_untold_producers, slots_of, transactional
from jobs.shuffles import few_tasks, tasks_of
from jobs.warehouse import Warehouse
from jobs.whole_replay import Replay
from replay.assignment import assignments, outsiders
from replay.events.ended_logs import ENDED, with_ended_logs
from replay.events.heard import HEARD, HEARD_UNTIL_US, heard, with_heard
from replay.events.shown import untold_isrs
from replay.events.silence import silent_moments
from replay.events.untold import ADDED, with_untold_leaderships
from replay.going_on.continued import additions
from replay.going_on.news import UNTIL_US, first_news, reach_us, settled_until
from replay.going_on.tail import is_later, tail_of
from replay.going_on.unlike import unlike
from replay.keep import Keep
from replay.profile import Profile
from replay.states.settled import Settled, settled_leaderships, up_to
from replay.stretches.gaps_across import gaps_across
from replay.timelines import Timelines, reconstruct
from schemas import columns as C
from schemas.tables import FETCH_EVENTS, LEADER_CHANGES, LEADER_TIMELINE, PRODUCE_EVENTS, REPLICA_TIMELINE, TRUNCATIONS

AFTER = {
    REPLICA_TIMELINE: f"{C.VALID_TO} IS NULL OR {C.VALID_TO} > {{moment}}",
    TRUNCATIONS: f"{C.EVENT_TIME} > {{moment}}",
    LEADER_TIMELINE: f"{C.EVENT_TIME} > {{moment}}",
}
"""By timeline, in the order in which they are written (`replay_marks`): the rows (SQL) that news may change."""

REQUESTS = (PRODUCE_EVENTS, FETCH_EVENTS)


def continued(warehouse: Warehouse, cluster_id: str, landed: Landed, keep: Keep) -> Replay:
    """The last replay of the cluster, gone on from: the rows that take the place of those `AFTER` a moment.

    Raises MustReplayAllError where only a replay of everything is sure to be right.
    """
    spark = warehouse.spark
    with few_tasks(spark):
        protocol = protocol_of(landed)
        mark = earlier_replay(warehouse, cluster_id)
        new = _with_kept_requests(new_rows(warehouse, cluster_id, mark, landed, protocol), keep)
        stands = written_timelines(warehouse, cluster_id)
        profile = protocol.with_changes(
            has_outsiders=mark.has_outsiders or _has_outsiders(landed, new),
            has_transactions=mark.has_transactions or not transactional(new).isEmpty(),
            has_untold_transactions=mark.has_untold_transactions or not of_untold_producers(new).isEmpty(),
        )
        # Brokers that are heard in what is new alone: of one that is not, whatever it leads is refused below.
        of_news = with_early_ends({**landed, HEARD: keep(heard(new), is_small=True)}, keep)
        whole = with_untold_leaderships(of_news, keep)
        landed = {**landed, **{name: whole[name] for name in (LEADER_CHANGES.name, ADDED, ENDED) if name in whole}}
        until_us = _moment(landed, new, stands, profile)
        settled = _settled(until_us, landed, stands, profile, keep)
        tail = _tail(landed, settled, profile, keep)
        if not tail[ENDED].isEmpty():
            # Of the requests before it the tail has but a few: their leaders would seem to be silent.
            tail, profile = {**with_heard(landed, keep), **tail}, profile.with_changes(has_silence=True)
    with few_tasks(spark, tasks_of(tail)), short_plans(spark):
        assigned = keep(assignments(tail), is_small=True)
        replayed = reconstruct(tail, assigned, slots_of(assigned), profile, keep, settled)
        # Looked at, and written.
        found = Timelines(**{name: keep(rows) for name, rows in vars(replayed).items()})
        require(unlike(found, stands, settled).isEmpty(), "what stands at the moment is not found again")
    until = datetime.fromtimestamp(0, UTC) + timedelta(microseconds=until_us)
    return Replay(additions(found, stands, settled), profile, until)


def written_timelines(warehouse: Warehouse, cluster_id: str) -> Timelines:
    """The timelines of a cluster as they stand."""
    return Timelines(**{table.name: warehouse.read(table, cluster_id=cluster_id) for table in AFTER})


def _settled(until_us: int, landed: Landed, stands: Timelines, profile: Profile, keep: Keep) -> Settled:
    """What stands at the moment `until_us`."""
    before = stands.leader_timeline.where(up_to(until_us, C.EVENT_TIME))
    since_us = F.lit(until_us) - reach_us(profile)
    leaderships = keep(settled_leaderships(before, since_us), is_small=True)
    return Settled(until_us, since_us, leaderships, {table.name: landed[table.name] for table in REQUESTS})


def _tail(landed: Landed, settled: Settled, profile: Profile, keep: Keep) -> Landed:
    """What is replayed."""
    few = tail_of(landed, settled.since_us, has_transactions=profile.has_transactions)
    tail = with_ended_logs(_with_kept_requests(few, keep), keep)
    _require_plain(tail, settled)
    return tail


def _with_kept_requests(few: Landed, keep: Keep) -> Landed:
    """Some landed rows, the requests among them kept: they are looked at again and again."""
    return {**few, **{table.name: keep(few[table.name], is_small=True) for table in REQUESTS}}


def _has_outsiders(landed: Landed, new: Landed) -> bool:
    """Whether some replica was ever outside its ISR; the requests of earlier deliveries are not looked at."""
    requests = {table.name: new[table.name] for table in REQUESTS}
    return not outsiders(landed, assignments({**landed, **requests})).isEmpty()


def _moment(landed: Landed, new: Landed, stands: Timelines, profile: Profile) -> int:
    """Up to when the timelines stay as they are, microseconds since the epoch; an early moment is no gain."""
    (first_us,) = first_news(new).collect()[0]
    found = settled_until(landed, new, stands, profile, first_us).first()
    times = [F.unix_micros(end(C.EVENT_TIME)) for end in (F.min, F.max)]
    ends = stands.leader_timeline.agg(*times).first()
    if found is None or ends is None or ends[0] is None:
        raise MustReplayAllError("the timelines are empty")
    until_us, begun_us, last_us = int(found[UNTIL_US]), int(ends[0]), int(ends[1])
    require(2 * (until_us - begun_us) > last_us - begun_us, "what has landed reaches far back")
    return until_us


def _require_plain(tail: Landed, settled: Settled) -> None:
    """Refuse a tail of which something is bounded, or reaches far."""
    requests = {table.name: tail[table.name].where(is_later(settled.since_us)) for table in REQUESTS}
    changes = {LEADER_CHANGES.name: tail[LEADER_CHANGES.name].where(~settled.has(C.EVENT_TIME))}
    silent = silent_moments({**tail, **requests, **changes})
    ended = tail[ENDED].where(F.col(HEARD_UNTIL_US) < settled.until_us)
    lost = gaps_across(tail[FETCH_EVENTS.name], settled.until_us)
    empty = [found.isEmpty for found in (untold_isrs(tail), silent, ended, lost)]
    asked = (lambda: not clocks_ahead(tail), *empty)
    together, told, in_requests, goes_on, met = at_once(tail[FETCH_EVENTS.name].sparkSession)(lambda ask: ask(), asked)
    require(together, "clocks are apart")
    require(told and in_requests and goes_on, "silence or an inferred ISR reach far")
    require(met, "requests are missing across the moment")
