"""The last stable offset: how far a `read_committed` consumer may read (KIP-98).

It is a function of the HW and of where transactions begin and end in the leader's log: the first offset of the earliest
transaction that began below the HW and whose marker is not below it, else the HW itself; and never below the log start.
Source: `UnifiedLog.fetchLastStableOffsetMetadata` (UL:676), `ProducerStateManager.firstUnstableOffset` and
`onHighWatermarkUpdated`.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from replay import names as N
from replay.events.leaderships import START_US
from replay.states.lineage import BEYOND, NUMBER, UNTIL, WRITER
from replay.states.log_starts import GIVEN_UP_AT
from replay.states.unfinished import FIRST_OFFSET, unfinished
from replay.states.unfinished import MARKER as _MARKER
from replay.windows import FIRST, NOW, carried, following
from schemas import columns as C
from schemas.columns import UNKNOWN_OFFSET

REACH = "reach"
"""bigint: offset of its marker, or past any offset while it is open; of an event, the HW."""
UNTOLD = "is_untold"
"""bool: stands for appends of transactions whose producer nothing tells: whether they are over, nobody knows."""
TOLD_LSO, IS_FLOOR = "told_lso", "is_floor"
"""bigint: the LSO that a leader told with a HW (`told_stable`); bool: it was the log start, and may be below it."""
TOLD = (REACH, TOLD_LSO, IS_FLOOR)
_PART, _PIECE = "part", "piece"
_ENDS_AT = "ends_at"
"""bigint: last offset of a batch; all of a piece are on the same side of wherever a log began again."""
_OF_PIECE = (N.PARTITION_NUMBER, WRITER, _PIECE, C.PRODUCER_ID)
_IS_EVENT = "is_event"
_SAID, _ABOVE, _BELOW = "said", "said_above", "said_below"
"""A struct of `TOLD`: what was told; the next at or above an event's HW, and the next below it."""


def transactions(
    produced: DataFrame, begun: DataFrame, assigned: DataFrame, lineage: DataFrame, *, is_tail: bool = False
) -> DataFrame:
    """One row per leadership and transaction in its log that was not over when it began: where it begins and ends.

    `produced` is `produce_events`, `lineage` is `lineage.lineages` with what each leadership began with. What a later
    leader lost was in the log of the one before, and what a later one wrote was not. Of what lies below the offset at
    which a log was begun again its replica knows nothing.

    A request line names no producer, the batch in a dump does; and only there are the markers that end transactions.
    Of a tail, whose leaderships begin at a moment and not anew, those that are over by then are left out first.
    """
    written = _with_piece(_written(produced, begun, assigned), lineage)
    parts = _parts(unfinished(written, lineage, _OF_PIECE) if is_tail else written)
    # Of a log that begins within a batch the whole batch is in it: it was fetched from there.
    is_kept = F.col(_ENDS_AT) >= F.coalesce(GIVEN_UP_AT, F.lit(0))
    is_held = (F.coalesce(FIRST_OFFSET, _MARKER) < F.col(UNTIL)) & is_kept
    held = parts.join(lineage, [N.PARTITION_NUMBER, WRITER]).where(is_held)
    marker = F.when(F.col(_MARKER) < F.col(UNTIL), F.col(_MARKER))
    # What was over below the HW before it began holds nothing: but for that, each log would hold all of its parent's.
    is_over = F.coalesce(marker < F.col(N.START_HW), F.lit(False))
    is_own = F.col(WRITER) == F.col(NUMBER)
    open_ones = held.withColumn(_MARKER, marker).where(is_own | (F.col(_PART) == 0) | ~is_over)
    in_log = (*N.LEADERSHIP, C.PRODUCER_ID)
    joined = _counted(open_ones, in_log)
    return _ends(joined, in_log).where(F.col(FIRST_OFFSET).isNotNull()).select(
        *N.LEADERSHIP,
        FIRST_OFFSET,
        F.coalesce(_MARKER, F.lit(BEYOND)).alias(REACH),
        (F.col(C.PRODUCER_ID) < 0).alias(UNTOLD),
    )  # fmt: skip


def _written(produced: DataFrame, begun: DataFrame, assigned: DataFrame) -> DataFrame:
    """One row per batch of a transaction, and per marker: with its `writer`, the leadership that appended it."""
    is_told = F.col(C.PRODUCER_ID) >= 0
    of_transaction = (F.col(C.IS_TRANSACTIONAL) & ~F.col(C.IS_CONTROL)) | (F.col(C.IS_CONTROL) & is_told)
    entry = F.struct(C.LEADER_EPOCH, N.INCARNATION, START_US)
    led = begun.groupBy(*C.PARTITION_KEY).agg(F.collect_list(entry).alias("begun"))
    placed = produced.where(of_transaction & (F.col(C.BASE_OFFSET) >= 0)).join(F.broadcast(led), C.on_partition())

    def by_then(it: Column) -> Column:
        is_same, is_earlier = it[C.LEADER_EPOCH] == F.col(C.LEADER_EPOCH), it[C.LEADER_EPOCH] < F.col(C.LEADER_EPOCH)
        return is_earlier | (is_same & ((it[N.INCARNATION] == 0) | (it[START_US] <= F.unix_micros(C.EVENT_TIME))))

    return placed.join(F.broadcast(assigned), C.on_partition()).select(
        N.PARTITION_NUMBER,
        F.size(F.filter("begun", by_then)).alias(WRITER),
        F.when(is_told, F.col(C.PRODUCER_ID)).otherwise(UNKNOWN_OFFSET).alias(C.PRODUCER_ID),
        F.when(~F.col(C.IS_CONTROL), F.col(C.BASE_OFFSET)).alias(FIRST_OFFSET),
        F.when(F.col(C.IS_CONTROL), F.col(C.BASE_OFFSET)).alias(_MARKER),
        F.greatest(C.BASE_OFFSET, C.LAST_OFFSET).alias(_ENDS_AT),
    )


def _with_piece(written: DataFrame, lineage: DataFrame) -> DataFrame:
    """Return the batches with `piece`: how many logs were given up and began again within or below them."""
    begun = lineage.groupBy(N.PARTITION_NUMBER).agg(F.collect_set(GIVEN_UP_AT).alias("begun"))
    placed = written.join(F.broadcast(begun), N.PARTITION_NUMBER)
    below = F.size(F.filter("begun", lambda since: since <= F.col(_ENDS_AT)))
    return placed.withColumn(_PIECE, F.when(F.size("begun") == 0, 0).otherwise(below)).drop("begun")


def _parts(written: DataFrame) -> DataFrame:
    """One row per transaction, writer and piece: what is there of it, and which `part` of its producer's it is."""
    return _ends(_counted(written, _OF_PIECE), _OF_PIECE)


def _counted(rows: DataFrame, of: tuple[str, ...]) -> DataFrame:
    """Return the rows with `part`: how many transactions of the producer have ended before, in the log's order."""
    in_order = Window.partitionBy(*of).orderBy(F.coalesce(FIRST_OFFSET, _MARKER), WRITER)
    ended = F.count_if(F.col(_MARKER).isNotNull()).over(in_order.rowsBetween(FIRST, -1))
    return rows.withColumn(_PART, ended)


def _ends(counted: DataFrame, of: tuple[str, ...]) -> DataFrame:
    """One row per transaction: where it begins, and its marker; NULL where it is not there. And an end of a batch."""
    first, marker = F.min(FIRST_OFFSET).alias(FIRST_OFFSET), F.max(_MARKER).alias(_MARKER)
    return counted.groupBy(*of, _PART).agg(first, marker, F.min(_ENDS_AT).alias(_ENDS_AT))


def with_last_stable_offset(known: DataFrame, of_logs: DataFrame, told: DataFrame | None = None) -> DataFrame:
    """Return the events with `last_stable_offset`; `of_logs` is `transactions`, `told` is `told_stable.told_stable`.

    Past the first append of which nobody knows whether its transaction is over it is what was told, else unknown.

    The HW rises from event to event and markers lie anywhere, so both are sorted by offset once: seen from the end of
    the log, a transaction comes before every HW that its marker is not below.
    """
    events = known.withColumns({REACH: F.col(C.HIGH_WATERMARK), _IS_EVENT: F.lit(1)})
    both = events.unionByName(of_logs.withColumn(_IS_EVENT, F.lit(0)), allowMissingColumns=True)
    from_the_end = Window.partitionBy(*N.LEADERSHIP).orderBy(F.desc(REACH), _IS_EVENT).rowsBetween(FIRST, NOW)
    begins = {name: F.when(F.col(UNTOLD) == is_so, F.col(FIRST_OFFSET)) for name, is_so in _BEGINS.items()}
    found = {name: F.min(first).over(from_the_end) for name, first in begins.items()}
    if told is not None:
        said = told.select(*N.LEADERSHIP, REACH, F.struct(*TOLD).alias(_SAID), F.lit(0).alias(_IS_EVENT))
        both = both.unionByName(said, allowMissingColumns=True)
        found[_ABOVE] = carried(F.col(_SAID), from_the_end)
        found[_BELOW] = following(_SAID, in_order=(f"{REACH} DESC", _IS_EVENT))
    hw = F.col(C.HIGH_WATERMARK)
    is_unknown = F.coalesce(hw > F.col("untold"), F.lit(False))
    unstable = F.greatest(F.coalesce("told", hw), C.LOG_START_OFFSET)
    otherwise = F.lit(UNKNOWN_OFFSET) if told is None else F.coalesce(_told_at(hw), F.lit(UNKNOWN_OFFSET))
    stable = F.when(is_unknown, otherwise).otherwise(F.least(hw, unstable))
    return both.withColumns(found).where(F.col(_IS_EVENT) == 1).withColumn(C.LAST_STABLE_OFFSET, stable).select(
        *known.columns, C.LAST_STABLE_OFFSET
    )  # fmt: skip


def _told_at(hw: Column) -> Column:
    """Return the LSO that was told with this HW, or with the next below and the next above alike; else NULL.

    It is never below the log start, which may rise while the HW stands (`UnifiedLog.fetchLastStableOffsetMetadata`).
    """
    above, below, start = F.col(_ABOVE), F.col(_BELOW), F.col(C.LOG_START_OFFSET)
    is_sure = (above[REACH] == hw) | (above[TOLD_LSO] == below[TOLD_LSO])
    is_it = ~above[IS_FLOOR] | (start < 0) | (start >= above[TOLD_LSO])
    return F.when(is_sure & is_it, F.least(hw, F.greatest(above[TOLD_LSO], start)))


_BEGINS = {"told": False, "untold": True}
"""What of the transactions the earliest of is looked for: whose end the log tells, and the others."""
