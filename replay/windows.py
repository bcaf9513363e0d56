"""The windows that the engine's modules share: each with an explicit partition, and a frame where it is aggregated.

Their orders are total; those of a whole leadership need none, and `lag`, `lead` and `row_number` take no frame.

Functions and not constants: a `WindowSpec` needs a running session, an import must not.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, Window, WindowSpec
from pyspark.sql import functions as F

from replay.names import IN_ORDER, INCARNATION, LEADERSHIP, PARTITION_NUMBER, TENURE
from schemas import columns as C
from schemas.kinds import EventType

FIRST, NOW, LAST = Window.unboundedPreceding, Window.currentRow, Window.unboundedFollowing


def place() -> WindowSpec:
    """The leadership in order: for row_number, lag and lead, which take no frame."""
    return Window.partitionBy(*LEADERSHIP).orderBy(*IN_ORDER)


def so_far() -> WindowSpec:
    """The leadership up to and with this event."""
    return place().rowsBetween(FIRST, NOW)


def before() -> WindowSpec:
    """The leadership before this event."""
    return place().rowsBetween(FIRST, -1)


def whole() -> WindowSpec:
    """The leadership from its first event to its last, in whatever order."""
    return Window.partitionBy(*LEADERSHIP).rowsBetween(FIRST, LAST)


def to_the_end() -> WindowSpec:
    """The same, where the events are in order: with `so_far` and `before` it is one window."""
    return place().rowsBetween(FIRST, LAST)


def from_here() -> WindowSpec:
    """The leadership from this event on."""
    # Read from its end: a frame that begins at the row would be summed anew a row.
    backwards = Window.partitionBy(*LEADERSHIP).orderBy(*[F.desc(column) for column in IN_ORDER])
    return backwards.rowsBetween(FIRST, NOW)


def _tenure(*, is_long: bool) -> WindowSpec:
    if not is_long:
        return place()
    # Sorted as the leadership is, so that no second Sort is planned.
    return Window.partitionBy(PARTITION_NUMBER, TENURE).orderBy(C.LEADER_EPOCH, INCARNATION, *IN_ORDER)


def tenure_whole() -> WindowSpec:
    """All leaderships in a row of the same running leader."""
    return _tenure(is_long=True).rowsBetween(FIRST, LAST)


def tenure_so_far(*, is_long: bool) -> WindowSpec:
    """All leaderships in a row of the same running leader, up to and with this event.

    If no tenure of the cluster is long (`Profile.has_long_tenures`), that is the leadership, and one window with it.
    """
    return _tenure(is_long=is_long).rowsBetween(FIRST, NOW)


def tenure_before(*, is_long: bool) -> WindowSpec:
    """The same, before this event."""
    return _tenure(is_long=is_long).rowsBetween(FIRST, -1)


def history(*, has_returns: bool) -> WindowSpec:
    """All leaderships of the partition in order: for lag, which takes no frame.

    With leaders that return into their tenure (`Profile.has_returns`) that is another order than the tenures', and a
    sort more; without, tenure, epoch and incarnation rise together.
    """
    sorted_as_tenures = () if has_returns else (TENURE,)
    in_order = (*sorted_as_tenures, C.LEADER_EPOCH, INCARNATION, *IN_ORDER)
    return Window.partitionBy(PARTITION_NUMBER).orderBy(*in_order)


def timeline(*within: str) -> WindowSpec:
    """A public timeline in order: the partition's, or that of what `within` tells apart in it."""
    return Window.partitionBy(*C.PARTITION_KEY, *within).orderBy(*C.TIMELINE_ORDER)


def epoch_in_order(*within: str) -> WindowSpec:
    """The same of one leader epoch."""
    return Window.partitionBy(*C.EPOCH_KEY, *within).orderBy(C.EVENT_SEQ)


def is_end_told_late() -> Column:
    """Return whether a row of `leader_timeline` is the end of a killed leader.

    Its time is that at which the process was started again, hours after the next leader began maybe (docs/adr/0014): it
    did nothing until then.
    """
    return F.col(C.EVENT_TYPE) == EventType.RESTART.value


def begun_at() -> Column:
    """Return when an event began to tell of its partition: of a killed leader's end no later than what came next."""
    at, following = F.col(C.EVENT_TIME), F.lead(C.EVENT_TIME).over(timeline())
    return F.when(is_end_told_late(), F.least(at, following)).otherwise(at)


def carried(value: Column, window: WindowSpec) -> Column:
    """Return the last value that was assigned within `window`: an event assigns, a window carries."""
    return F.last(value, ignorenulls=True).over(window)


def following(column: str, within: Sequence[str] = LEADERSHIP, in_order: Sequence[str] = IN_ORDER) -> Column:
    """Return the next value of `column` that is not NULL: after this event in its leadership, where not said otherwise.

    In SQL, for the API has no `lead` that ignores NULLs; a frame from here to the end would be read anew a row, and one
    of the leadership in reverse would take a sort.
    """
    return F.expr(f"lead({column}) IGNORE NULLS OVER (PARTITION BY {', '.join(within)} ORDER BY {', '.join(in_order)})")


def following_in_tenure(column: str, *, is_long: bool) -> Column:
    """Return the same, after this event in all leaderships in a row of the same running leader."""
    if not is_long:
        return following(column)
    return following(column, (PARTITION_NUMBER, TENURE), (C.LEADER_EPOCH, INCARNATION, *IN_ORDER))
