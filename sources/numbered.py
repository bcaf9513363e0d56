"""Members of an array as rows, by number: what is asked of a member is then compiled code.

To make structs of the members in a lambda and to explode those is shorter, and dearer: Spark interprets a lambda, field
by field.
"""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F


def each_below(count: Column) -> Column:
    """Return a row (int) per number from 0 up to below the count, none where that is 0 or NULL."""
    return F.explode(F.when(count > 0, F.sequence(F.lit(0), count - 1)))
