"""Which protocol a cluster spoke, by its own settings, and which of its brokers played by other rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple, cast

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from replay.brokers_rules import OF_BROKERS
from replay.events.requested import requests_of_controllers
from replay.profile import InForce, Profile
from replay.releases import profile_for
from replay.statements import is_of
from schemas import columns as C
from schemas.columns import NO_REPLICA
from schemas.kinds import KAFKA_VERSION, StatementKind
from schemas.tables import BROKER_STATEMENTS, SETTINGS

PROTOCOL = ("metadata.version", "inter.broker.protocol.version")
LAG_TIME = "replica.lag.time.max.ms"


class Told(NamedTuple):
    """A setting, and since when it was in force; one of no broker is of all of which no line tells."""

    since_us: int
    value: str
    name: str
    broker_id: int


def protocol_of(landed: Mapping[str, DataFrame]) -> Profile:
    """The protocol the cluster spoke last, by its own settings; the newest one where they do not tell.

    With it whether its controllers spoke LEADER_AND_ISR: what goes on from an earlier replay needs to know, too. And,
    where brokers told of several releases or lag times, by which each of them played.
    """
    told = _told(landed[SETTINGS.name])
    latest = {one.name: one.value for one in told}
    protocol = next((latest[name] for name in PROTOCOL if name in latest), None)
    spoken = _profile(latest, protocol).with_changes(
        has_controllers_requests=not requests_of_controllers(landed).isEmpty()
    )
    of_brokers = [one for one in told if one.name not in PROTOCOL]
    if len({(one.name, one.value) for one in of_brokers}) == len({one.name for one in of_brokers}):
        return spoken
    begun = [one._replace(since_us=at) for one, at in zip(of_brokers, _starts(of_brokers, landed), strict=True)]
    others = by_broker(begun, spoken, protocol)
    # Of the cluster the longest: so far what happens may bear on what happens later.
    longest = max(cast(int, one.lag_time_ms) for one in (spoken, *[other.rules for other in others]))
    return spoken.with_changes(by_broker=others, lag_time_ms=longest)


def _told(settings: DataFrame) -> list[Told]:
    """What settings tell of the protocol, in the order of time: what is told again and again only once."""
    asked = settings.where(F.col(C.NAME).isin(KAFKA_VERSION, *PROTOCOL, LAG_TIME) & F.col(C.VALUE).isNotNull())
    # What a capture says of itself (about.json) has no time: it is in force until a line tells another.
    since_us = F.coalesce(F.unix_micros(C.EVENT_TIME), F.lit(0)).alias("since_us")
    rows = asked.select(since_us, C.VALUE, C.NAME, F.coalesce(C.BROKER_ID, F.lit(NO_REPLICA))).distinct().collect()
    return sorted(Told(*row) for row in rows)


def _starts(told: Sequence[Told], landed: Mapping[str, DataFrame]) -> Iterator[int]:
    """Since when each holds: a process tells of its release when it has started, and it may lead by then."""
    starting = landed[BROKER_STATEMENTS.name].where(is_of(StatementKind.PROCESS_STARTING))
    starts = [tuple(row) for row in starting.select(C.BROKER_ID, F.unix_micros(C.EVENT_TIME)).distinct().collect()]
    for one in told:
        before = [us for broker_id, us in starts if broker_id == one.broker_id and us <= one.since_us]
        yield max(before, default=one.since_us) if one.name == KAFKA_VERSION else one.since_us


def by_broker(told: Iterable[Told], spoken: Profile, protocol: str | None) -> tuple[InForce, ...]:
    """From when on whose processes play by other rules than `spoken`, which is what the cluster spoke last.

    Who tells nothing of itself plays by what the first told who did.
    """
    in_order = sorted(told)
    of_all = {one.name: one.value for one in reversed(in_order)}
    rules = {NO_REPLICA: [InForce(NO_REPLICA, 0, _profile(of_all, protocol))]}
    known: dict[int, dict[str, str]] = {}
    for one in in_order:
        own = known.setdefault(one.broker_id, dict(of_all))
        own[one.name] = one.value
        rules.setdefault(one.broker_id, []).append(InForce(one.broker_id, one.since_us, _profile(own, protocol)))
    changes = [each[0] for each in rules.values()]
    changes += [new for each in rules.values() for old, new in pairwise(each) if new.rules != old.rules]
    others = {name: getattr(spoken, name) for name in vars(spoken) if name not in OF_BROKERS}
    found = tuple(InForce(one.broker_id, one.since_us, one.rules.with_changes(**others)) for one in changes)
    return found if any(one.rules != spoken for one in found) else ()


def _profile(settings: Mapping[str, str], protocol: str | None) -> Profile:
    """The rules of a release and its settings."""
    lag_time = settings.get(LAG_TIME)
    return profile_for(settings.get(KAFKA_VERSION), protocol, None if lag_time is None else int(lag_time))
