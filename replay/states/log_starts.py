"""Where a leader's log starts when its leadership begins, and how that is known.

Its responses say so, from before the first time that it moves. Else its own lines, of whatever role it had by then.
Else its fetches, when it followed.

A follower takes the log start of each response (`ReplicaFetcherThread.processPartitionData`), a process finds that of
the log it loads, and a log given up starts where it is begun again (UL:2278 truncateFullyAndStartAt).
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from replay import names as N
from replay.event_types import is_event
from replay.events.leaderships import START_US
from replay.statements import is_of
from replay.states.lineage import BEYOND
from replay.windows import FIRST, NOW, carried
from schemas import columns as C
from schemas.columns import UNKNOWN_OFFSET
from schemas.kinds import EventType
from schemas.kinds import StatementKind as S

TOLD_LOG_START = "told_log_start_offset"
"""bigint: the last log start that a line of the leader told before it led; NULL if none did."""
CUT_TO = "cut_to"
"""bigint: where its log was cut last, since then; past any offset if it was not; NULL if it told neither."""
GIVEN_UP_AT = "given_up_at"
"""bigint: where the leader's log was begun again when it had been given up entirely; NULL if it never was."""
TOLD_BEFORE = (TOLD_LOG_START, CUT_TO, GIVEN_UP_AT)
FIRST_LOG_START = "first_log_start_offset"
"""bigint: the log start that responses of the leadership state from before it moves; NULL if none does."""
LAST_LOG_START = "last_log_start_offset"
"""bigint: the last one of the leadership that is told, by whatever; NULL if none is."""
OF_FOLLOWERS = "log_starts_of_followers"
"""array<bigint>: by slot, the last that a replica's fetches state of its own log, or that it was told; NULL if none."""
LOG_STARTS = {FIRST_LOG_START: "bigint", LAST_LOG_START: "bigint", OF_FOLLOWERS: "array<bigint>"}


def with_told_log_start(begun: DataFrame, statements: DataFrame) -> DataFrame:
    """Return the leaderships with what is `TOLD_BEFORE`; all times are of the leader's own clock."""
    is_cut, is_deleted = is_of(S.TRUNCATED_TO), is_of(S.LOG_DELETED)
    is_begun = is_of(S.TRUNCATED_FULLY_AT) | is_deleted
    # One that is deleted, for its broker is no replica any more, begins at 0 when it is one again.
    at = F.when(is_deleted, F.lit(0)).otherwise(F.col(C.OFFSET))
    told = statements.where(is_of(S.LOG_START_MOVED, S.LOADED_LOG_START) | is_begun | is_cut).select(
        *C.PARTITION_KEY,
        F.col(C.BROKER_ID).alias(C.LEADER_ID),
        F.unix_micros(C.EVENT_TIME).alias(START_US),
        F.col(C.SOURCE_LINE),
        F.when(~is_cut, at).alias(TOLD_LOG_START),
        F.when(is_cut, F.col(C.OFFSET)).otherwise(BEYOND).alias(CUT_TO),
        F.when(is_begun, at).alias(GIVEN_UP_AT),
        F.when(is_cut, F.col(C.OFFSET)).alias("cut_at"),
    )
    in_order = (START_US, F.col(C.LEADER_EPOCH).isNotNull(), C.SOURCE_LINE)
    so_far = Window.partitionBy(*C.PARTITION_KEY, C.LEADER_ID).orderBy(*in_order).rowsBetween(FIRST, NOW)
    both = begun.unionByName(told, allowMissingColumns=True)
    # Cut since to less than that, it has what was appended there later.
    since = F.count(GIVEN_UP_AT).over(so_far)
    known = both.withColumn("times", since).withColumns({name: carried(F.col(name), so_far) for name in TOLD_BEFORE})
    of_log = Window.partitionBy(*C.PARTITION_KEY, C.LEADER_ID, "times").orderBy(*in_order).rowsBetween(FIRST, NOW)
    kept = F.least(GIVEN_UP_AT, F.min("cut_at").over(of_log))
    given_up = F.when(F.col(GIVEN_UP_AT).isNotNull(), kept)
    led = known.withColumn(GIVEN_UP_AT, given_up).where(F.col(C.LEADER_EPOCH).isNotNull())
    return led.drop(C.SOURCE_LINE, "cut_at", "times")


def log_starts(slots: int) -> list[Column]:
    """Return `LOG_STARTS`, as aggregates of the events of a leadership.

    Within it the log start never falls: a response that states less than it is first moved to was read before that.
    """
    known = F.when(F.col(C.LOG_START_OFFSET) >= 0, F.col(C.LOG_START_OFFSET))
    first, moved = F.min(known), F.min(F.when(is_event(EventType.LOG_START), known))
    told = F.when(is_event(N.RESPONSE) & F.col(N.IS_TAKEN), known)
    own = [F.when(F.col(N.SLOT) == i, F.greatest(N.OWN_LOG_START, told)) for i in range(slots)]
    # A log that is cut may start below where it had: the last one counts.
    last = F.array(*[F.max_by(each, F.when(each.isNotNull(), F.col(C.EVENT_SEQ))) for each in own])
    aggregates = (F.when(first < F.coalesce(moved, first + 1), first), F.max(known), last)
    return [of.cast(kind).alias(name) for of, (name, kind) in zip(aggregates, LOG_STARTS.items(), strict=True)]


def log_start_before(own: Column, leadership: Column, begin: Column) -> Column:
    """Return the log start with which a leadership began, at the LEO `begin`; -1 where nothing tells.

    `own` is the last one that its leader's fetches, or its own leaderships, told.
    """
    last, at_begin = F.when(own >= 0, own), F.when(begin == 0, F.lit(0))
    # A log that is cut below its start starts where it was cut (UL:2234 truncateTo); a cut alone tells of no start.
    known = F.greatest(leadership[TOLD_LOG_START], last)
    before = F.when(known.isNotNull(), F.least(known, leadership[CUT_TO]))
    told = F.coalesce(leadership[FIRST_LOG_START], before, at_begin)
    # `least` leaves out NULL: what is unknown is not at the end.
    in_log = F.when(told.isNotNull() & (begin >= 0), F.least(told, begin)).otherwise(told)
    return F.coalesce(in_log, F.lit(UNKNOWN_OFFSET)).cast("bigint")
