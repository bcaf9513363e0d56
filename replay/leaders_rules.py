"""The rules of each leadership: while a cluster is upgraded, or set anew, broker by broker, leaders play by their own.

What a leader decides by itself, that is. By which rule logs are cut and what fetches state follows from the protocol,
which brokers change together when all have been upgraded, and is one for a capture.
"""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from replay import names as N
from replay.profile import Profile
from schemas.columns import NO_REPLICA

OF_LEADERS = (
    "min_isr_gate", "eligibility", "fenced_may_not_join", "evaluates_commits", "evaluates_each_fetch", "lag_time_ms",
)  # fmt: skip
"""Fields of a profile by which a leader decides, and nobody else."""


def rules_of(profile: Profile, leader_id: Column, start_us: Column) -> Column:
    """Return which rules (int) a leadership plays by: their place in `by_leader`, from 1; 0 are the profile's own.

    A process has those of its start for as long as it lives: a later line is of the broker's next one.
    """
    numbered = list(enumerate(profile.by_leader, start=1))
    number = F.lit(0)
    # The later the nearer; and what a broker's own lines tell counts before what is told of all.
    for place, one in sorted(numbered, key=lambda it: (it[1].broker_id != NO_REPLICA, it[1].since_us)):
        is_whose = F.lit(True) if one.broker_id == NO_REPLICA else leader_id == one.broker_id
        number = F.when(is_whose & (start_us >= one.since_us), place).otherwise(number)
    return number


def of_each_leader(profile: Profile) -> Profile:
    """Return the profile with what leaders decide by as Columns of the event, where they do not all do so alike."""
    if not profile.by_leader:
        return profile
    chosen = {name: _of_each_leader(profile, name) for name in OF_LEADERS}
    return profile.with_changes(**chosen, by_leader=())


def _of_each_leader(profile: Profile, name: str) -> object:
    """Return a rule of the profile: a Column where leaders differ in it."""
    own = value = getattr(profile, name)
    places: dict[object, list[int]] = {}
    for place, one in enumerate(profile.by_leader, start=1):
        places.setdefault(getattr(one.rules, name), []).append(place)
    for other, its in places.items():
        if other != own:
            value = F.when(F.col(N.RULES).isin(its), F.lit(other)).otherwise(F.lit(value))
    return value
