"""Event types as numbers: compared at every step of the protocol, carried through all windows, where a text costs."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from replay import names as N
from schemas.kinds import EventType

_OF_OTHERS = (N.FENCING, N.REPLICA_RESTART, N.REFUSED)
"""What happens to others than the leader, or at a broker that does not lead."""
_TYPES = (
    *[str(one.value) for one in EventType],
    N.RESPONSE, N.REJECTION, N.SHRINK_PROPOSED, N.STATEMENT, N.SILENCE, N.OPEN_APPEND, *_OF_OTHERS,
)  # fmt: skip
"""The tables' own, and those of the engine alone; the number of one is its place."""
_KINDS: dict[str, tuple[str, ...]] = {EventType.APPEND: (EventType.APPEND, N.OPEN_APPEND)}
"""Types that are of several kinds: whoever asks for the type means all of them."""


def event(event_type: str) -> Column:
    """Return the number of an event type (int), for `N.EVENT`."""
    return F.lit(_TYPES.index(str(event_type)))


def is_event(*event_types: str, of: Column | None = None) -> Column:
    """Return whether the event is of one of these types; `of` is the number of another event than the row's."""
    number = F.col(N.EVENT) if of is None else of
    kinds = [kind for one in event_types for kind in _KINDS.get(one, (one,))]
    return number.isin(*[_TYPES.index(str(kind)) for kind in kinds])


def is_event_of(slot: int, *event_types: str) -> Column:
    """Return whether the event is of one of these types, and of the replica in `slot`."""
    return is_event(*event_types) & (F.col(N.SLOT) == slot)


def is_public() -> Column:
    """Return whether the event has a row in `leader_timeline`; the engine's own have none."""
    return F.col(N.EVENT) < len(EventType)


def event_type() -> Column:
    """Return the event's type (string), as `leader_timeline` shows it."""
    return F.get(F.array(*[F.lit(one) for one in _TYPES]), F.col(N.EVENT))


def is_of_leader(of: Column | None = None) -> Column:
    """Return whether the event may change what the leader has; `of` as of `is_event`."""
    return (F.col(N.EVENT) if of is None else of) < len(_TYPES) - len(_OF_OTHERS)
