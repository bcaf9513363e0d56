"""What each broker's clock is ahead of the others', from bounds between two of them: where clocks are not one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from schemas.columns import NO_REPLICA

TOGETHER_US = 100_000
"""Clocks as near as this are taken for one: requests and lines take as long, and no rule here minds it."""
NARROW_US = 1_000_000
"""Of clocks that are apart: bounds so near to each other hold what is between them in their middle, as a rule."""

Ahead = Mapping[tuple[str, int], int]
"""By cluster and broker, -1 for the controllers: microseconds by which its clock is ahead of the one that most agree
with. Only clocks that are apart are in it: none where all are one, or where one was set meanwhile."""

_NEVER = float("-inf")


@dataclass(frozen=True)
class Bound:
    """The clock of one broker is ahead of another's by so many microseconds, or by more; `clock_bounds` has them."""

    cluster_id: str
    earlier_id: int
    later_id: int
    at_least_us: int
    is_sure: bool


def ahead_of(bounds: Iterable[Bound]) -> Ahead:
    """Return how far clocks are ahead, in every cluster that the bounds are of."""
    of_cluster: dict[str, list[Bound]] = defaultdict(list)
    for bound in bounds:
        of_cluster[bound.cluster_id].append(bound)
    return {
        (cluster, broker): us for cluster, of_one in of_cluster.items() for broker, us in _of_cluster(of_one).items()
    }


def _of_cluster(bounds: list[Bound]) -> dict[int, int]:
    """By broker whose clock is apart: how far it is ahead."""
    least = _settled(bounds)
    if least is None or all(us <= TOGETHER_US for us in least.values()):
        return {}
    brokers = sorted({one for pair in least for one in pair} - {NO_REPLICA})
    reference = max(brokers, key=lambda one: sum(_together(least, one, other) for other in brokers))
    found = {reference: 0}
    for one in [*sorted(brokers, key=lambda one: not _together(least, one, reference)), NO_REPLICA]:
        found.setdefault(one, _between(one, found, least))
    return {one: us for one, us in found.items() if us}


_Least = dict[tuple[int, int], float]
"""By two brokers: microseconds that the clock of the first is ahead of the other's at least."""


def _settled(bounds: list[Bound]) -> _Least | None:
    """What follows from all bounds that do not contradict each other; None where those that are sure do.

    No constant is then right: somebody set a clock. A bound that is not sure counts where a sure one of the same two
    brokers, the other way round, is not against it.
    """
    sure: _Least = {}
    for bound in bounds:
        if bound.is_sure:
            _raise(sure, bound)
    certain = _closed(sure)
    if _contradicts(certain):
        return None
    likely = dict(sure)
    for bound in bounds:
        back = certain.get((bound.later_id, bound.earlier_id), _NEVER)
        if _NEVER < back <= TOGETHER_US - bound.at_least_us:
            _raise(likely, bound)
    closed = _closed(likely)
    return certain if _contradicts(closed) else closed


def _raise(least: _Least, bound: Bound) -> None:
    """Note a bound, if it is more than is known."""
    pair = bound.earlier_id, bound.later_id
    least[pair] = max(least.get(pair, _NEVER), bound.at_least_us)


def _closed(least: _Least) -> _Least:
    """All that follows: a clock ahead of one that is ahead of a third is ahead of that by both (Floyd and Warshall)."""
    brokers = {one for pair in least for one in pair}
    closed = dict(least)
    for via in brokers:
        for one in brokers:
            first = closed.get((one, via), _NEVER)
            for other in brokers if first > _NEVER else ():
                us = first + closed.get((via, other), _NEVER)
                if us > closed.get((one, other), _NEVER):
                    closed[one, other] = us
    return closed


def _contradicts(closed: _Least) -> bool:
    """Whether some clock would be ahead of itself."""
    return any(us > TOGETHER_US for (one, other), us in closed.items() if one == other)


def _together(least: _Least, one: int, other: int) -> bool:
    """Whether two clocks may be one."""
    return all(least.get(pair, _NEVER) <= TOGETHER_US for pair in ((one, other), (other, one)))


def _between(one: int, found: Mapping[int, int], least: _Least) -> int:
    """How far a clock is ahead, given those that are `found`: as little as may be, where not much is known of it."""
    low = max((us + least.get((one, other), _NEVER) for other, us in found.items()), default=_NEVER)
    high = min((us - least.get((other, one), _NEVER) for other, us in found.items()), default=-_NEVER)
    if one == NO_REPLICA and high == -_NEVER:
        return 0 if low == _NEVER else round(low)  # Brokers hear of a record some ten milliseconds later.
    if low <= TOGETHER_US and high >= -TOGETHER_US:
        return 0
    if high - low <= NARROW_US:
        return round((low + high) / 2)
    return round(low if low > 0 else high)
