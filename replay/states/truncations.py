"""`truncations`: where a replica's own LEO goes back, records of it are gone.

Reconstructed from the replica's states, and matched with the brokers' "Truncating to offset" lines. A line that no
state explains is a cut whose fetches were not logged, and stands for itself.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from replay import names as N
from replay.profile import Profile
from replay.statements import is_of
from replay.states.settled import Settled, since_then
from replay.states.stated_cuts import SAID_METHOD, stated_cuts
from replay.windows import FIRST, carried
from schemas import columns as C
from schemas import tables as T
from schemas.columns import UNKNOWN_OFFSET
from schemas.kinds import Method, Role, StatementKind

_IS_LOSS, _IS_GROWTH = "is_loss", "is_growth"
_REPLICA = C.REPLICA_KEY


def truncations(
    statements: DataFrame, states: DataFrame, profile: Profile, settled: Settled | None = None
) -> DataFrame:
    """One row per truncation that removed records, of `schemas.tables.TRUNCATIONS`.

    `statements` are the landed ones, `states` is `replica_rows.replica_states` with its partitions' keys.
    """
    stated = stated_cuts(statements, states)
    rebuilt = _with_what_is_told(_rebuilt(states), statements)
    if settled is not None:
        rebuilt = since_then(rebuilt, settled, has_own_epoch=True)
        stated = since_then(stated, settled, has_own_epoch=False)
    matched = (
        _numbered(rebuilt, _IS_LOSS)
        .alias("rebuilt")
        .join(_numbered(stated).alias("stated"), [*_REPLICA, C.TO_OFFSET, "number"], "full")
    )
    is_stated = F.coalesce(C.IS_STATED, F.lit(False))
    both = matched.where(is_stated | ~F.col(_IS_GROWTH))
    by_restart = ~is_stated & (F.col(N.IS_RESTART) | F.col(_IS_LOSS))

    def either(first: str, second: str, column: str) -> Column:
        return F.coalesce(F.col(f"{first}.{column}"), F.col(f"{second}.{column}")).alias(column)

    rows = both.select(
        *_REPLICA, C.TO_OFFSET,
        *[either("rebuilt", "stated", c) for c in (C.CAPTURE_ID, C.FROM_OFFSET, C.HIGH_WATERMARK_BEFORE)],
        # The line is of the moment; the fetch that shows the cut may be long after it.
        *[either("stated", "rebuilt", c) for c in (C.LEADER_EPOCH, C.EVENT_TIME, C.PARTITION_HIGH_WATERMARK_BEFORE)],
        F.when(by_restart, Method.RESTART.value)
        .otherwise(F.coalesce(SAID_METHOD, F.lit(profile.truncation)))
        .alias(C.METHOD),
        is_stated.alias(C.IS_STATED),
    )  # fmt: skip
    return T.TRUNCATIONS.conform(rows.withColumn(C.FROM_OFFSET, _from_where_the_last_ended()))


def _from_where_the_last_ended() -> Column:
    """Return the LEO before the cut; of a second round of truncation (KIP-279) that is where the first one cut to.

    The replica's request between the rounds tells it too, where it was logged.
    """
    in_epoch = Window.partitionBy(*_REPLICA, C.LEADER_EPOCH).orderBy(C.EVENT_TIME, F.desc(C.TO_OFFSET))
    last_from, last_to = F.lag(C.FROM_OFFSET).over(in_epoch), F.lag(C.TO_OFFSET).over(in_epoch)
    goes_on = (last_from == F.col(C.FROM_OFFSET)) & (last_to > F.col(C.TO_OFFSET))
    return F.when(goes_on, last_to).otherwise(F.col(C.FROM_OFFSET))


def _numbered(cuts: DataFrame, *by: str) -> DataFrame:
    """Return the cuts with their number among those of the replica to the same offset: by `by`, then in time."""
    same = Window.partitionBy(*_REPLICA, C.TO_OFFSET).orderBy(*by, C.LEADER_EPOCH, C.EVENT_TIME)
    return cuts.withColumn("number", F.row_number().over(same))


def _rebuilt(states: DataFrame) -> DataFrame:
    """One row per place where a replica's own LEO goes back."""
    of_replica = Window.partitionBy(N.PARTITION_NUMBER, C.REPLICA_ID).orderBy(*C.TIMELINE_ORDER)
    leo_before = F.lag(C.LOG_END_OFFSET).over(of_replica)
    last_told = F.when(~F.col("leo_before").eqNullSafe(F.col(C.LOG_END_OFFSET)), F.col(C.VALID_FROM))
    # Between bounds it may be as long as it was.
    is_cut = (F.col(C.LOG_END_OFFSET) >= 0) & (F.col(C.LOG_END_OFFSET_HIGH) < F.col("leo_before"))
    # States lie in the order of their replica; that of their partition is a sort, of those alone that were cut.
    compared = states.withColumn("leo_before", leo_before)
    cut = compared.where(is_cut).select(N.PARTITION_NUMBER).distinct()
    cut_at_all = compared.join(F.broadcast(cut), N.PARTITION_NUMBER, "left_semi")
    of_partition = Window.partitionBy(N.PARTITION_NUMBER).orderBy(C.LEADER_EPOCH, C.EVENT_SEQ, C.REPLICA_ID)
    leads = F.col(C.ROLE) == Role.LEADER.value
    leader_hw = F.when(leads, F.col(C.HIGH_WATERMARK))
    # A response of a leader's epoch before may be sent when this has begun, and tell of it: that was no longer log.
    is_of_this = F.col(C.VALID_FROM) < F.lag(C.VALID_FROM).over(of_replica)
    leads_on = leads & F.lag(leads).over(of_replica) & is_of_this & ~F.col(N.IS_RESTART)
    return cut_at_all.select(
        *_REPLICA, C.CAPTURE_ID, C.LEADER_EPOCH,
        F.col(C.VALID_FROM).alias(C.EVENT_TIME),
        F.col("leo_before").alias(C.FROM_OFFSET),
        F.col(C.LOG_END_OFFSET).alias(C.TO_OFFSET),
        F.lag(C.HIGH_WATERMARK).over(of_replica).alias(C.HIGH_WATERMARK_BEFORE),
        F.coalesce(F.max(leader_hw).over(of_partition.rowsBetween(FIRST, -1)), F.lit(UNKNOWN_OFFSET)).alias(
            C.PARTITION_HIGH_WATERMARK_BEFORE
        ),
        N.IS_RESTART, (is_cut & ~F.coalesce(leads_on, F.lit(False))).alias("is_cut"),
        carried(last_told, of_replica.rowsBetween(FIRST, -1)).alias("since"),
    ).where("is_cut").drop("is_cut")  # fmt: skip


def _with_what_is_told(rebuilt: DataFrame, statements: DataFrame) -> DataFrame:
    """Return the cuts with what the replica's lines tell since it was last known longer: `is_loss` and `is_growth`.

    It loaded a log of just that length: its unflushed tail was gone (`LogLoader`). In which epoch it then was told its
    role may be known of no leader. Or it had cut its log to less than that: from there it is growth, as where the
    leader's log starts farther on (`AbstractFetcherThread.fetchOffsetAndTruncate`). Or its log was deleted, for it was
    no replica for a while: a new log is no cut of it.
    """
    said = statements.where(is_of(StatementKind.LOADED_LEO, StatementKind.TRUNCATED_TO, StatementKind.LOG_DELETED))
    by_replica = said.groupBy(*C.PARTITION_KEY, F.col(C.BROKER_ID).alias(C.REPLICA_ID)).agg(
        F.collect_list(F.struct(C.KIND, C.OFFSET, C.EVENT_TIME)).alias("said")
    )
    to, at = F.col(C.TO_OFFSET), F.col(C.EVENT_TIME)
    # The replica's clock tells of the load, its leaders' of the states before and after.
    first, last = F.expr(f"since - {N.CLOCKS_APART}"), F.expr(f"{C.EVENT_TIME} + {N.CLOCKS_APART}")

    def loaded_it(line: Column) -> Column:
        is_load = line[C.KIND] == StatementKind.LOADED_LEO.value
        return is_load & (line[C.OFFSET] == to) & line[C.EVENT_TIME].between(first, last)

    def had_less(line: Column) -> Column:
        was_cut = (line[C.KIND] == StatementKind.TRUNCATED_TO.value) & (line[C.OFFSET] < to)
        was_deleted = line[C.KIND] == StatementKind.LOG_DELETED.value
        return (was_cut | was_deleted) & line[C.EVENT_TIME].between(first, at)

    has_loaded, was_shorter = F.exists("said", loaded_it), F.exists("said", had_less)
    told = rebuilt.join(F.broadcast(by_replica), [*map(str, _REPLICA)], "left").withColumns(
        {_IS_LOSS: F.coalesce(has_loaded, F.lit(False)), _IS_GROWTH: F.coalesce(was_shorter, F.lit(False))}
    )
    return told.drop("said", "since")
