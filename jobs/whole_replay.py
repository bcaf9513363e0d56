"""A replay of everything that has landed of a cluster: hot partitions in stretches, all others in one piece each."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import reduce

from pyspark.sql import DataFrame

from jobs.clocks import clocks_ahead, say_whose_clock
from jobs.ended_logs import say_whose_logs_ended
from jobs.hot_partitions import stretches_to_replay
from jobs.new_rows import Landed
from jobs.progress import step
from jobs.replay_inputs import made_whole, profile_of, slots_of
from jobs.session import describe
from replay.assignment import assignments
from replay.clocks.ahead import Ahead
from replay.clocks.one_clock import on_one_clock, on_own_clocks
from replay.events.ended_logs import ENDED
from replay.events.silence import with_heard_batches
from replay.keep import Keep
from replay.profile import Profile
from replay.replayed import Replayed, replayed
from replay.states.leader_rows import leader_timeline, undoubted
from replay.stretches.across_cuts import untold_at_cuts
from replay.stretches.apart import only, put_in_place
from replay.stretches.cut import split
from replay.stretches.ends import at_moments, moments, unstitched
from replay.stretches.stable_across import with_stable_across
from replay.stretches.stitched import stitched
from replay.stretches.terms import Terms, terms
from replay.timelines import Timelines, reconstruct, shown_in_parts
from schemas.tables import PRODUCE_EVENTS


@dataclass(frozen=True)
class Replay:
    """What a replay writes: rows, and in whose place."""

    timelines: Timelines
    profile: Profile
    after: datetime | None = None
    """Only rows after it are replaced; None: all."""
    ahead: Ahead = field(default_factory=dict)
    """Whose clocks are apart, and were put on one to replay."""


def whole_replay(told: Landed, keep: Keep) -> Replay:
    """A replay of everything."""
    ahead = clocks_ahead(told)
    say_whose_clock(ahead)
    landed = on_one_clock(told, ahead)
    with step("look at the events") as looking:
        describe(landed[PRODUCE_EVENTS.name].sparkSession, "look at the events")
        landed = made_whole(landed, keep)
        say_whose_logs_ended(landed[ENDED])
        assigned = keep(assignments(landed), is_small=True)
        slots, profile = slots_of(assigned), profile_of(landed, assigned).with_changes(has_clocks_apart=bool(ahead))
        cut = stretches_to_replay(landed, profile, assigned)
        looking.note = f"{slots} replicas a partition, truncation by {profile.truncation}"
        looking.note += ", each broker by its own release and lag time" if profile.by_broker else ""
    if cut is None:
        with step("replay the events"):
            timelines = reconstruct(landed, assigned, slots, profile, keep)
    else:
        timelines = in_stretches(landed, keep(cut, is_small=True), slots, profile, keep)
    return Replay(on_own_clocks(timelines, told, ahead), profile, ahead=ahead)


_MOST_MOMENTS = 400
"""As literals of a query; each is two comparisons a row."""


def in_stretches(landed: Landed, cut: DataFrame, slots: int, profile: Profile, keep: Keep) -> Timelines:
    """The timelines with hot partitions cut into stretches; those of which two do not meet are replayed apart.

    `cut` is `replay.stretches.cut.stretches`.
    """
    with step("replay hot partitions") as replaying:
        # Here already, for what stands at a begin is found among the appends that the engine will look at.
        pieces = split(with_heard_batches(landed) if profile.has_silence else landed, cut)
        assigned = keep(assignments(pieces), is_small=True)
        states = replayed(pieces, assigned, slots, profile.with_changes(has_transactions=False), keep)
        parts = shown_in_parts(states, slots, profile)
        parts = replace(parts, truncations=keep(parts.truncations, is_small=True))  # looked at again and again
        seen = terms(parts, cut, keep)
        leaders = undoubted(_at_cuts(states, seen), slots, profile)
        met_or_not = unstitched(parts, leaders, cut, seen, has_silence=profile.has_silence)
        doubts = [*untold_at_cuts(landed, cut, profile), *met_or_not]
        looks = [keep(found.distinct(), is_small=True) for found in doubts]
        found = [look for look in looks if not look.isEmpty()]
        replaying.note = f"{cut.count()} stretches"
    if profile.has_transactions:
        stable = with_stable_across(states.leaders, landed, assigned, cut, profile, keep)
        parts = replace(parts, leader_timeline=leader_timeline(stable, slots, profile))
    timelines = stitched(parts, cut, seen)
    if not found:
        return timelines
    unmet = keep(reduce(DataFrame.unionByName, found).distinct(), is_small=True)
    with step("replay in one piece what does not meet") as replaying:
        alone = only(landed, unmet)
        apart = reconstruct(alone, keep(assignments(alone), is_small=True), slots, profile, keep)
        replaying.note = f"{unmet.count()} partitions"
    return put_in_place(apart, timelines, unmet)


def _at_cuts(states: Replayed, seen: Terms) -> DataFrame:
    """The leaders' states at the cuts, and others where they are too many to be named."""
    us = [row.us for row in moments(seen).limit(_MOST_MOMENTS + 1).collect()]
    return at_moments(states.leaders, us) if len(us) <= _MOST_MOMENTS else states.leaders
