"""Timelines: landed events in, the tables that a replay writes out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from pyspark.sql import DataFrame

from replay.keep import Keep, as_it_is
from replay.profile import Profile
from replay.replayed import Replayed, replayed
from replay.states.leader_rows import leader_timeline
from replay.states.replica_rows import lasting, of_assigned
from replay.states.settled import Settled
from replay.states.truncations import truncations


@dataclass(frozen=True)
class Timelines:
    """What a replay gives: the timelines; `incidents` are found from them as written (docs/adr/0006)."""

    leader_timeline: DataFrame
    replica_timeline: DataFrame
    truncations: DataFrame


def reconstruct(
    landed: Mapping[str, DataFrame],
    assigned: DataFrame,
    slots: int,
    profile: Profile,
    keep: Keep = as_it_is,
    settled: Settled | None = None,
) -> Timelines:
    """Return the timelines of all partitions in `landed`.

    `landed` maps names of `schemas.tables.LANDING_TABLES` to their rows, of one cluster; `assigned` is
    `replay.assignment.assignments` of them and `slots` the size of its longest; `profile` the protocol the cluster
    spoke. With `settled`, `landed` is `tail.tail_of` a moment before it, and what comes after it is as in a replay of
    everything.
    """
    return shown(replayed(landed, assigned, slots, profile, keep, settled), slots, profile, settled)


def shown(states: Replayed, slots: int, profile: Profile, settled: Settled | None = None) -> Timelines:
    """Return the timelines that show `states`."""
    each = shown_in_parts(states, slots, profile, settled)
    return replace(each, replica_timeline=of_assigned(each.replica_timeline))


def shown_in_parts(states: Replayed, slots: int, profile: Profile, settled: Settled | None = None) -> Timelines:
    """Return the same, and where a replica was dropped a row without a role: it ends a state of another part, too."""
    return Timelines(
        leader_timeline=leader_timeline(states.leaders, slots, profile),
        replica_timeline=lasting(states.replicas),
        truncations=truncations(states.statements, states.replicas, profile, settled),
    )
