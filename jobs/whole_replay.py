"""A replay of everything that has landed of a cluster: hot partitions in stretches, the others in one piece."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from pyspark.sql import DataFrame

from jobs.hot_partitions import hot_stretches
from jobs.new_rows import Landed
from jobs.progress import step
from jobs.replay_inputs import profile_of, slots_of
from replay.assignment import assignments
from replay.profile import Profile
from replay.stitched import stitched
from replay.stretch_ends import unstitched
from replay.stretches import split
from replay.timelines import Keep, Timelines, reconstruct


@dataclass(frozen=True)
class Replay:
    """What a replay writes: rows, and in whose place."""

    timelines: Timelines
    profile: Profile
    after: datetime | None = None
    """Only rows after it are replaced; None: all."""


def whole_replay(landed: Landed, keep: Keep) -> Replay:
    """A replay of everything."""
    with step("look at the events") as looking:
        assigned = keep(assignments(landed), is_small=True)
        slots, profile = slots_of(assigned), profile_of(landed, assigned)
        cut = hot_stretches(landed, profile)
        looking.note = f"{slots} replicas a partition, truncation by {profile.truncation}"
    parts = None if cut is None else _in_stretches(landed, keep(cut, is_small=True), slots, profile, keep)
    return Replay(parts or reconstruct(landed, assigned, slots, profile, keep), profile)


def _in_stretches(landed: Landed, cut: DataFrame, slots: int, profile: Profile, keep: Keep) -> Timelines | None:
    """The timelines with hot partitions cut into stretches; None where two of them do not meet in one state."""
    with step("replay hot partitions") as replaying:
        pieces = split(landed, cut)
        parts = reconstruct(pieces, keep(assignments(pieces), is_small=True), slots, profile, keep)
        parts = replace(parts, truncations=keep(parts.truncations, is_small=True))  # looked at again and again
        meet = all(found.isEmpty() for found in unstitched(parts, cut))
        replaying.note = f"{cut.count()} stretches" if meet else "two stretches do not meet: all in one piece"
    return stitched(parts, cut, keep) if meet else None
