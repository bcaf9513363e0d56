"""The rules of each broker: while a cluster is upgraded, or set anew, one after the other, each plays by its own.

What a broker decides by itself, that is. By which rule logs are cut and what fetches state follows from the protocol,
which brokers change together when all have been upgraded, and is one for a capture.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column
from pyspark.sql import functions as F

from replay import names as N
from replay.profile import Profile
from schemas import columns as C
from schemas.columns import NO_REPLICA

OF_LEADERS = (
    "min_isr_gate", "eligibility", "fenced_may_not_join", "evaluates_commits", "evaluates_each_fetch", "lag_time_ms",
)  # fmt: skip
"""Fields of a profile by which a leader decides."""
OF_SERVERS, OF_FETCHERS = ("records_divergence", "records_batch_start"), ("heeds_divergence",)
"""By which it does as it serves a fetch, and its fetcher when it is answered."""
OF_BROKERS = (*OF_LEADERS, *OF_SERVERS, *OF_FETCHERS)


def rules_of(profile: Profile, broker_id: Column, at_us: Column) -> Column:
    """Return which rules (int) a broker plays by at a time: their place in `by_broker`, from 1; 0 are the profile's.

    A process has those of its start for as long as it lives: a later line is of the broker's next one.
    """
    numbered = list(enumerate(profile.by_broker, start=1))
    number = F.lit(0)
    # The later the nearer; and what a broker's own lines tell counts before what is told of all.
    for place, one in sorted(numbered, key=lambda it: (it[1].broker_id != NO_REPLICA, it[1].since_us)):
        is_whose = F.lit(True) if one.broker_id == NO_REPLICA else broker_id == one.broker_id
        number = F.when(is_whose & (at_us >= one.since_us), place).otherwise(number)
    return number


def of_each_leader(profile: Profile) -> Profile:
    """Return the profile with what leaders decide by as Columns of `names.RULES`, where they do not all do so alike."""
    if not profile.by_broker:
        return profile
    return _of_leaders(profile, F.col(N.RULES))


def of_leader_at(profile: Profile, leader_id: Column, at_us: Column) -> Profile:
    """Return the same as Columns of a leader and a time, for rows that have no `names.RULES`."""
    return _of_leaders(profile, rules_of(profile, leader_id, at_us)) if profile.by_broker else profile


def _of_leaders(profile: Profile, number: Column) -> Profile:
    return profile.with_changes(**_by(profile, OF_LEADERS, number), by_broker=())


def of_each_fetch(profile: Profile) -> Profile:
    """Return the same with what is done with fetches as Columns of `fetch_events`."""
    if not profile.by_broker:
        return profile
    at_us = F.unix_micros(C.EVENT_TIME)
    served, fetched = (rules_of(profile, F.col(whose), at_us) for whose in (C.BROKER_ID, C.REPLICA_ID))
    chosen = _by(profile, OF_SERVERS, served) | _by(profile, OF_FETCHERS, fetched)
    return profile.with_changes(**chosen, by_broker=())


def _by(profile: Profile, names: Sequence[str], number: Column) -> dict[str, object]:
    """Return rules of the profile by their name: a Column of `number` where brokers differ in one."""
    return {name: _rule_by(profile, name, number) for name in names}


def _rule_by(profile: Profile, name: str, number: Column) -> object:
    own = value = getattr(profile, name)
    places: dict[object, list[int]] = {}
    for place, one in enumerate(profile.by_broker, start=1):
        places.setdefault(getattr(one.rules, name), []).append(place)
    for other, its in places.items():
        if other != own:
            value = F.when(number.isin(its), F.lit(other)).otherwise(F.lit(value))
    return value
