"""Truncations that the replicas themselves tell of, each a "Truncating to offset" line of its own."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from replay.partitions import of_partitions
from replay.statements import ROLE_LEOS, is_of
from replay.states.highest_before import BY_EPOCH, HIGHEST, highest_where, is_earlier
from replay.windows import FIRST, carried
from schemas import columns as C
from schemas.columns import UNKNOWN_OFFSET
from schemas.kinds import Method, Role, StatementKind

_CUT_AT, _BY_THEN = "cut_at", "by_then"
SAID_METHOD = "said_method"
"""string: how the replica's fetcher says it cuts; NULL where that is as the protocol has it."""
_TOLD = {
    StatementKind.TRUNCATION_OUT_OF_RANGE: Method.OUT_OF_RANGE,
    StatementKind.TRUNCATION_TO_HW: Method.HIGH_WATERMARK,
}
"""What a fetcher's line says of the cut that follows, where it is not by the protocol's own rule."""


def stated_cuts(statements: DataFrame, states: DataFrame) -> DataFrame:
    """One row per line: the replica, its epoch and time, where to, and what was known before: -1 what is unknown.

    `states` is `replica_rows.replica_states` with its partitions' keys: they tell the highest HW of earlier epochs, and
    that to which the cut's own had come at the time of the line.
    """
    said = _said(statements)
    of_leaders = of_partitions(states.where(F.col(C.ROLE) == Role.LEADER.value), said)
    earlier = highest_where(lambda it: is_earlier(it, has_own_epoch=False))
    own = F.filter(
        BY_EPOCH, lambda it: (it[C.LEADER_EPOCH] == F.col(C.LEADER_EPOCH)) & (it[_CUT_AT] == F.col(C.EVENT_TIME))
    )
    highest = F.greatest(earlier, F.array_max(F.transform(own, lambda it: it[_BY_THEN])), F.lit(UNKNOWN_OFFSET))
    known = said.join(F.broadcast(_reached(of_leaders, said)), C.on_partition(), "left")
    return known.withColumn(C.PARTITION_HIGH_WATERMARK_BEFORE, highest).drop(BY_EPOCH)


def _reached(of_leaders: DataFrame, said: DataFrame) -> DataFrame:
    """One row per partition: the highest HW of each leader epoch, `highest_by_epoch`, and by each cut in it.

    In one look at the leaders' states, for they are many.
    """
    of_epoch = C.on_partition(C.LEADER_EPOCH)
    times = said.groupBy(*of_epoch).agg(F.collect_set(C.EVENT_TIME).alias("times"))
    at_cuts = of_leaders.join(F.broadcast(times), of_epoch, "left").withColumn(_CUT_AT, F.explode_outer("times"))
    by_then = F.when(F.col(C.VALID_FROM) <= F.col(_CUT_AT), F.col(C.HIGH_WATERMARK))
    highest = at_cuts.groupBy(*of_epoch, _CUT_AT).agg(
        F.max(C.HIGH_WATERMARK).alias(HIGHEST), F.max(by_then).alias(_BY_THEN)
    )
    each = F.collect_list(F.struct(C.LEADER_EPOCH, _CUT_AT, HIGHEST, _BY_THEN))
    return highest.groupBy(*C.PARTITION_KEY).agg(each.alias(BY_EPOCH))


def _said(statements: DataFrame) -> DataFrame:
    """One row per "Truncating to offset" line, with what the replica last stated before it, by its own clock.

    That is its LEO, and why it cuts: `said_method`, NULL where that is as the protocol has it (AbstractFetcherThread:
    `truncateToHighWatermark` for a log without epochs, `fetchOffsetAndTruncate` for OFFSET_OUT_OF_RANGE).
    """
    says_why = is_of(*_TOLD)  # beside TRUNCATION_TARGET, of the same line: it has the last word
    in_order = (C.EVENT_TIME, C.SOURCE_FILE, C.SOURCE_LINE, says_why, C.KIND)
    before = Window.partitionBy(*C.PARTITION_KEY, C.BROKER_ID).orderBy(*in_order).rowsBetween(FIRST, -1)
    says_leo = is_of(*ROLE_LEOS, StatementKind.LOADED_LEO)
    # A line tells of the one cut that follows it.
    aims = is_of(StatementKind.TRUNCATION_TARGET, StatementKind.TRUNCATED_TO, *_TOLD)
    said = statements.withColumns(
        {
            "leo_said": carried(F.when(says_leo, F.col(C.OFFSET)), before),
            "epoch_said": carried(F.when(says_leo, F.col(C.LEADER_EPOCH)), before),
            "aim": carried(F.when(aims, F.struct(C.KIND, C.OFFSET)), before),
        }
    )
    cut = said.where(F.col(C.KIND) == StatementKind.TRUNCATED_TO.value)
    methods = F.create_map(*[F.lit(word.value) for pair in _TOLD.items() for word in pair])
    aim = F.when(F.col("aim")[C.OFFSET] == F.col(C.OFFSET), F.col("aim")[C.KIND])
    leo = F.when(F.col("leo_said") > F.col(C.OFFSET), F.col("leo_said")).otherwise(UNKNOWN_OFFSET)
    return cut.select(
        *C.PARTITION_KEY,
        F.col(C.BROKER_ID).alias(C.REPLICA_ID),
        C.CAPTURE_ID,
        F.when(F.col(C.LEADER_EPOCH) >= 0, F.col(C.LEADER_EPOCH)).otherwise(F.col("epoch_said")).alias(C.LEADER_EPOCH),
        C.EVENT_TIME,
        leo.alias(C.FROM_OFFSET),
        F.col(C.OFFSET).alias(C.TO_OFFSET),
        F.lit(UNKNOWN_OFFSET).cast("bigint").alias(C.HIGH_WATERMARK_BEFORE),
        F.lit(True).alias(C.IS_STATED),
        methods[aim].alias(SAID_METHOD),
    )
