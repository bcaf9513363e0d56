"""The plan, as far as states: landed events in, what each leader knew and each replica had after them out.

events -> placed in leaderships -> ordered by clock -> decided by evidence -> responses -> sequenced -> states
-> starts folded across leaderships.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from replay import names as N
from replay.assignment import named
from replay.brokers_rules import of_each_leader
from replay.events.ended_logs import with_ended_logs
from replay.events.ends import ends
from replay.events.gathered import events
from replay.events.leaderships import leaderships, roles_with_loads, with_context
from replay.events.placed import placed
from replay.events.responses import with_responses
from replay.events.restarts import follower_restarts
from replay.events.shown import with_shown_leaderships
from replay.events.told import told_by_leaders
from replay.events.untold import with_untold_leaderships
from replay.keep import Keep, as_it_is, kept_as_few
from replay.order.clock import ordered_by_clock
from replay.order.evidence import decided_by_evidence
from replay.profile import Profile
from replay.settings import with_min_isr_changes
from replay.states.bounds import with_bounds
from replay.states.leader import remembered
from replay.states.leader_rows import with_high_watermark
from replay.states.lineage import lineages
from replay.states.log_ends import log_ends
from replay.states.log_starts import GIVEN_UP_AT, with_told_log_start
from replay.states.replica_rows import IN_ORDER_OF_REPLICA, replica_states
from replay.states.settled import Settled, numbered_on, with_risen
from replay.states.stable import with_last_stable_offset
from replay.states.starts import last_responses, leadership_starts
from replay.states.told_replicas import told_replicas, with_told_replicas
from replay.states.told_stable import in_logs_and_told
from schemas import columns as C
from schemas import tables as T


@dataclass(frozen=True)
class Replayed:
    """What was known after each event."""

    leaders: DataFrame
    """One row per event, the engine's own too: what its leader knew, as `leader_rows.leader_timeline` wants it."""
    replicas: DataFrame
    """One row per change of a replica's own state, as `replica_rows.lasting` wants it."""
    statements: DataFrame
    """What brokers said, as landed, and what stands for lines that no log has."""


def ordered_events(
    landed: Mapping[str, DataFrame],
    begun: DataFrame,
    restarts: DataFrame,
    ended: DataFrame,
    assigned: DataFrame,
    slots: int,
    profile: Profile,
) -> DataFrame:
    """One row per event at a leader, in order: by its clock, by what is certain, and by the evidence of responses."""
    statements = landed[T.BROKER_STATEMENTS.name]
    context = with_min_isr_changes(with_context(begun, assigned, statements), landed[T.SETTINGS.name], statements)
    of_leaders = placed(events(landed, begun, restarts, ended, profile), context, slots, profile)
    gathered, by_leaders = of_leaders.repartition(N.PARTITION_NUMBER), of_each_leader(profile)
    return with_responses(decided_by_evidence(ordered_by_clock(gathered, by_leaders), slots, by_leaders))


@dataclass(frozen=True)
class Happened:
    """What happened, whatever rules the leaders' states are worked out by."""

    landed: Mapping[str, DataFrame]
    """The landing tables, and what stands for leaderships that no line tells of."""
    begun: DataFrame
    """One row per leadership, `leaderships.leaderships`."""
    restarts: DataFrame
    """One row per restart of a follower, `restarts.follower_restarts`."""
    ordered: DataFrame
    """One row per event at a leader, in order: `ordered_events`."""


def happened(
    landed: Mapping[str, DataFrame],
    assigned: DataFrame,
    slots: int,
    profile: Profile,
    keep: Keep = as_it_is,
    settled: Settled | None = None,
) -> Happened:
    """Return what happened by `landed`; all as `timelines.reconstruct` has it."""
    landed = with_untold_leaderships(landed, keep)
    if profile.has_silence:
        landed = with_ended_logs(landed, keep)
    if profile.has_untold_isr:
        landed = with_shown_leaderships(landed)
    keep_small = partial(keep, is_small=True)
    roles = keep_small(roles_with_loads(landed))
    begun = keep_small(leaderships(roles))
    restarts = keep_small(follower_restarts(roles, landed[T.BROKER_STATEMENTS.name]))
    known_hw = begun if settled is None else keep_small(with_risen(begun, settled))
    ordered = ordered_events(landed, known_hw, restarts, ends(roles), assigned, slots, profile)
    return Happened(landed, begun, restarts, ordered)


def replayed(
    landed: Mapping[str, DataFrame],
    assigned: DataFrame,
    slots: int,
    profile: Profile,
    keep: Keep = as_it_is,
    settled: Settled | None = None,
) -> Replayed:
    """Return the states of all partitions in `landed`; all as `timelines.reconstruct` has it."""
    given = happened(landed, assigned, slots, profile, keep, settled)
    landed, begun, restarts = given.landed, given.begun, given.restarts
    keep_small, is_tail = partial(keep, is_small=True), settled is not None
    after = remembered(given.ordered, slots, profile, is_tail=is_tail)
    states = kept_as_few(after, (*N.LEADERSHIP, *N.IN_ORDER), keep)
    summaries = last_responses(states, slots)
    told = with_told_log_start(begun, landed[T.BROKER_STATEMENTS.name])
    starts = keep_small(leadership_starts(summaries, told, restarts, assigned, slots, settled))
    states = states if settled is None else numbered_on(states, settled, assigned)
    known = with_high_watermark(states, starts, assigned, slots, of_each_leader(profile))
    if profile.has_silence:
        known = keep(with_bounds(known, told_by_leaders(landed), log_ends(landed, begun), slots))
    if profile.has_transactions:
        began = starts.select(*N.LEADERSHIP, N.START_HW, GIVEN_UP_AT)
        lineage = keep_small(lineages(states).join(began, [*N.LEADERSHIP], "left"))
        requests = landed if settled is None else settled.requests
        in_logs, told_lso = in_logs_and_told(requests, begun, assigned, lineage, profile, keep, is_tail=is_tail)
        stable = with_last_stable_offset(known, in_logs, told_lso)
    else:
        stable = known.withColumn(C.LAST_STABLE_OFFSET, F.col(C.HIGH_WATERMARK))
    replicas = replica_states(known, slots, profile)
    if profile.has_silence:
        of_replicas = told_replicas(landed, begun).join(F.broadcast(assigned), C.on_partition())
        replicas = with_told_replicas(replicas, of_replicas, known)
    kept = kept_as_few(replicas, IN_ORDER_OF_REPLICA, keep)
    return Replayed(leaders=stable, replicas=named(kept, assigned), statements=landed[T.BROKER_STATEMENTS.name])
