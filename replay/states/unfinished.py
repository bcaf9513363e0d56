"""Transactions that are over for good: a replay that goes on leaves them out, and needs all others.

What the LSO needs of the past: of each producer what follows its last marker that is below the HW. The LSO is the first
offset of the earliest transaction whose marker is not below the HW, and within a leadership the HW never falls: what is
over at the HW that it begins with, or has where it is gone on with, never holds its LSO again.

But records are in the log of whoever leads after their writer as well, and a later leader may begin with a HW that lags
behind, or without the marker (an unclean election): a transaction that was over is open again. So over for good is what
has its marker below the HW, and in the log, of every leader that has records of the marker's writer so far. Whose
records those are tells `lineage`, of which no moment bounds what it needs either: where a transaction is open across
elections, the leaderships since.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from replay import names as N
from replay.states.lineage import UNTIL, WRITER
from schemas import columns as C
from schemas.columns import UNKNOWN_OFFSET

FIRST_OFFSET = "first_offset"
"""bigint: where a transaction begins; NULL where the marker alone is there."""
MARKER = "marker"
"""bigint: offset of the marker that ends it; NULL where it is not there."""


def unfinished(written: DataFrame, lineage: DataFrame, of_producer: Sequence[str]) -> DataFrame:
    """Return the batches and markers without those of transactions that are over for good.

    `written` has them with their writer, `lineage` is as `stable.transactions` has it; `of_producer` are the columns
    that tell apart what is in order of one producer. The last marker that is over stays: it also ends what the
    producer had begun in the log of an earlier leader. Of producers that nothing tells the first batch alone counts.
    """
    least_hw = F.min(F.least(F.coalesce(N.START_HW, F.lit(UNKNOWN_OFFSET)), UNTIL))
    of_writer = lineage.groupBy(N.PARTITION_NUMBER, WRITER).agg(least_hw.alias("least_hw"))
    placed = written.join(F.broadcast(of_writer), [N.PARTITION_NUMBER, WRITER])
    over = F.max(F.when(F.col(MARKER) < F.col("least_hw"), F.col(MARKER)))
    ends = placed.groupBy(*of_producer).agg(over.alias("over"), F.min(FIRST_OFFSET).alias("begun"))
    is_after = F.coalesce(FIRST_OFFSET, MARKER) >= F.coalesce("over", F.lit(UNKNOWN_OFFSET))
    is_left = F.when(F.col(C.PRODUCER_ID) >= 0, is_after).otherwise(F.col(FIRST_OFFSET) == F.col("begun"))
    return placed.join(ends, [*of_producer]).where(is_left).select(*written.columns)
