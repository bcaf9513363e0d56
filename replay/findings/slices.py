"""Slices of time: what lasts long goes on through a whole slice, so that this one shows nothing that ends it."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

SLICE, IS_SHOWN = "slice", "is_shown"
"""bigint: the number of the slice, from 1970 on; boolean: it has an event that ends what is looked for."""
_FIRST, _LAST, _FIRST_SHOWN, _LAST_SHOWN, _SHOWN = "first", "last", "first_shown", "last_shown", "shown"


def slice_of(time: Column | str, width_ms: Column | float) -> Column:
    """Return the number of the slice that the time is in."""
    return F.floor(F.unix_millis(time) / width_ms).cast("bigint")


def ends_of_slices() -> list[Column]:
    """Return what `is_left_out` asks of rows of `slice` and `is_shown`, each slice once, as aggregates."""
    every, shown = F.col(SLICE), F.when(F.col(IS_SHOWN), F.col(SLICE))
    return [
        F.min(every).alias(_FIRST),
        F.max(every).alias(_LAST),
        F.min(shown).alias(_FIRST_SHOWN),
        F.max(shown).alias(_LAST_SHOWN),
        F.count(shown).alias(_SHOWN),
    ]


def is_left_out(end: Column) -> Column:
    """Return whether some slice between the first and the `end`, or the last if that is later, has no such event.

    Nor has one without events.
    """
    last = F.greatest(end, F.col(_LAST))
    is_first_shown, is_last_shown = F.col(_FIRST_SHOWN).eqNullSafe(F.col(_FIRST)), F.col(_LAST_SHOWN).eqNullSafe(last)
    between = F.col(_SHOWN) - is_first_shown.cast("int") - is_last_shown.cast("int")
    return last - F.col(_FIRST) - 1 > between
