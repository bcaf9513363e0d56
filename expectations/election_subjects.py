"""What rules of elections speak of: a leader epoch in one row, as its leader rebuilt it or as brokers said."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from expectations.subject import OF_PARTITION, Subject, Tables
from expectations.timeline_subjects import HIGHEST_HW_BEFORE, POSSIBLE_HW_BEFORE
from schemas import columns as C
from schemas import tables as T
from schemas.columns import Field
from schemas.kinds import ChangeKind, EventType, Exactness, IncidentKind

LEADERS = Field("leaders", C.INTS, "Brokers that became leader of the epoch.")
HAS_EVENTS = Field("has_events", C.BOOL, "The leader's timeline has events of the epoch.")
IS_UNCLEAN_ELECTION = Field("is_unclean_election", C.BOOL, "The epoch's leader was elected from outside the ISR.")
IS_SEEN_TO_BEGIN = Field("is_seen_to_begin", C.BOOL, "The epoch's first event is that its leader begins.")

_FIRST = (
    C.EVENT_SEQ, C.EVENT_TIME, C.LEADER_ID, C.LOG_END_OFFSET, C.LOG_END_OFFSET_LOW,
    C.LOG_END_OFFSET_HIGH, *C.LINE,
)  # fmt: skip
_FIRST_SEQ, _REACHED, _POSSIBLE, _ELECTIONS = "first_event_seq", "reached", "possible", "unclean_elections"


def elected_leaders(tables: Tables) -> DataFrame:
    """One row per partition and leader epoch that a broker said it leads: `leaders`, and the last such line."""
    said = F.col(C.CHANGE_KIND) == ChangeKind.BECOME_LEADER.value
    became = tables[T.LEADER_CHANGES.name].where(said & (F.col(C.LEADER_EPOCH) >= 0))
    last = F.max_by(F.struct(*C.LINE), F.struct(C.EVENT_TIME, C.SOURCE_FILE, C.SOURCE_LINE))
    leaders = F.sort_array(F.collect_set(C.BROKER_ID))
    of_epoch = C.on_partition(C.LEADER_EPOCH)
    grouped = became.groupBy(*of_epoch).agg(leaders.alias(LEADERS), last.alias("last"))
    seen = tables[T.LEADER_TIMELINE.name].groupBy(*of_epoch).agg(F.count(F.lit(1)).alias("events"))
    known = grouped.join(seen, of_epoch, "left")
    return known.select(*of_epoch, LEADERS, F.col("events").isNotNull().alias(HAS_EVENTS), "last.*")


def elections(tables: Tables) -> DataFrame:
    """One row per leader epoch: how it begins, and the highest HW of leaders since the last unclean election.

    An unclean election gives up what was committed before; what is committed from it on must be kept again.
    """
    of_epoch = C.on_partition(C.LEADER_EPOCH)
    is_unclean = F.col(C.KIND) == IncidentKind.UNCLEAN_ELECTION.value
    unclean = tables[T.INCIDENTS.name].where(is_unclean).select(*of_epoch).distinct()
    # Few rows begin a leadership: only of these is the first looked for, the others are but counted by the maximum.
    events = tables[T.LEADER_TIMELINE.name]
    begins = events.where(F.col(C.EVENT_TYPE) == EventType.BECOME_LEADER.value).groupBy(*of_epoch)
    possible = F.when(F.col(C.EXACTNESS) == Exactness.BOUNDED.value, F.col(C.HIGH_WATERMARK_HIGH))
    epochs = (
        events.groupBy(*of_epoch)
        .agg(
            F.min(C.EVENT_SEQ).alias(_FIRST_SEQ),
            F.max(C.HIGH_WATERMARK_LOW).alias(_REACHED),
            F.max(possible).alias(_POSSIBLE),
        )
        .join(begins.agg(F.min_by(F.struct(*_FIRST), C.EVENT_SEQ).alias("first")), of_epoch, "left")
        .withColumn(IS_SEEN_TO_BEGIN, F.col("first")[C.EVENT_SEQ].eqNullSafe(F.col(_FIRST_SEQ)))
        .join(F.broadcast(unclean.withColumn(IS_UNCLEAN_ELECTION, F.lit(True))), of_epoch, "left")
        .withColumn(IS_UNCLEAN_ELECTION, F.coalesce(IS_UNCLEAN_ELECTION, F.lit(False)))
    )
    in_order = Window.partitionBy(*C.PARTITION_KEY).orderBy(C.LEADER_EPOCH)
    so_far = in_order.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    counted = epochs.withColumn(_ELECTIONS, F.count_if(F.col(IS_UNCLEAN_ELECTION)).over(so_far))
    since = Window.partitionBy(*C.PARTITION_KEY, _ELECTIONS).orderBy(C.LEADER_EPOCH)
    before = since.rowsBetween(Window.unboundedPreceding, -1)
    highest = (
        F.max(_REACHED).over(before).alias(HIGHEST_HW_BEFORE),
        F.max(_POSSIBLE).over(before).alias(POSSIBLE_HW_BEFORE),
    )
    return counted.select(*of_epoch, IS_SEEN_TO_BEGIN, IS_UNCLEAN_ELECTION, *highest, "first.*")


ELECTED_LEADERS = Subject(
    "elected_leaders",
    T.LEADER_CHANGES,
    (*OF_PARTITION, C.LEADER_EPOCH),
    elected_leaders,
    beside=(T.LEADER_TIMELINE,),
    may_be_empty=True,
)
ELECTIONS = Subject("elections", T.LEADER_TIMELINE, (*OF_PARTITION, C.LEADER_EPOCH), elections, beside=(T.INCIDENTS,))
