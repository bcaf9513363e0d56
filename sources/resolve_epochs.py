"""The leader epoch of what names none: the one its broker was in, by the broker's own word and clock.

A broker's leader epochs of a partition only grow, so an event is of the last epoch that had begun when it happened.
What a broker did as the leader (an append, a follower's fetch without an error) is of the last epoch that it *led*.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from schemas import columns as C
from schemas.kinds import ChangeKind, StatementKind

BROKER_PARTITION: list[str] = [C.BROKER_ID, C.TOPIC, C.TOPIC_ID, C.PARTITION]

BEGINS_AT = "begins_at"
"""bigint: the LEO with which a leader began an epoch; NULL where no line tells."""

BEGINNINGS = (ChangeKind.BECOME_LEADER.value, ChangeKind.BECOME_FOLLOWER.value)

LATENESS_US, LATENESS_OF_SECONDS_US = 1_000, 1_000_000
"""A line's time is cut to milliseconds; where it has no fraction, to seconds."""
EARLINESS_US = 5_000
"""Work may have begun so much earlier than is told: its line counts back from when it is made."""


def terms(leader_changes: DataFrame, fetches: DataFrame, statements: DataFrame) -> DataFrame:
    """One row a broker and partition: the leader epochs it was in, in order, with what first shows each.

    A broker's log tells when an epoch began. Where it is missing, a fetch answered without an error shows that the
    epoch had begun, and a LEADER_AND_ISR request that it was about to. `begins_at` is the LEO with which it led.
    """
    evidence = _told(leader_changes).unionByName(_shown(fetches))
    by_epoch = evidence.groupBy(*BROKER_PARTITION, C.LEADER_EPOCH).agg(
        F.min_by(F.struct("since", "is_beginning"), F.struct("doubt", "since")).alias("first"),
        F.bool_or("is_leader").alias("is_leader"),
    )
    term = F.struct(C.LEADER_EPOCH, "first.since", "first.is_beginning", "is_leader", BEGINS_AT)
    led = by_epoch.join(begins(statements, BROKER_PARTITION), [*BROKER_PARTITION, str(C.LEADER_EPOCH)], "left")
    return led.groupBy(*BROKER_PARTITION).agg(F.array_sort(F.collect_list(term)).alias("terms"))


def lines_of_leaders(statements: DataFrame) -> DataFrame:
    """The statements of with what LEO a leader began an epoch."""
    is_told = (F.col(C.KIND) == StatementKind.BECAME_LEADER_LEO.value) & (F.col(C.OFFSET) >= 0)
    return statements.where(is_told & (F.col(C.LEADER_EPOCH) >= 0))


def begins(statements: DataFrame, of: Sequence[str]) -> DataFrame:
    """One row a leader epoch `of` a broker or a partition: the least LEO with which a line says that it began."""
    return lines_of_leaders(statements).groupBy(*of, C.LEADER_EPOCH).agg(F.min(C.OFFSET).alias(BEGINS_AT))


def with_append_epoch(appends: DataFrame, terms: DataFrame, to_the_second: Collection[str] = ()) -> DataFrame:
    """Appends with the leader epoch: of a real base offset, or a marker, one the broker led, of an error one it was in.

    What lies below where an epoch began, and was worked on as that began, was appended in the one before it. Later it
    is a producer's repeat of what had been appended before (`append_ends`).

    `to_the_second` has the files in which the times of requests have no fraction.
    """
    was_led = (F.col(C.BASE_OFFSET) >= 0) | (F.col(C.IS_CONTROL) & (F.col(C.ERROR_CODE) == 0))
    return _with_epoch(appends, terms, _end_of_work(to_the_second), was_led, _begin_of_work(to_the_second))


def with_fetch_epoch(fetches: DataFrame, terms: DataFrame, to_the_second: Collection[str] = ()) -> DataFrame:
    """Fetches with the leader epoch of the broker that answered, fenced or not."""
    is_at_leader = (F.col(C.ERROR_CODE) == 0) & (F.col(C.REPLICA_ID) >= 0)
    return _with_epoch(fetches, terms, _end_of_work(to_the_second), is_at_leader)


def with_statement_epoch(statements: DataFrame, terms: DataFrame) -> DataFrame:
    """Statements with the leader epoch their broker was last in: of a log just loaded, the one before the restart."""
    return _with_epoch(statements, terms, F.col(C.EVENT_TIME), F.lit(False))


def _told(leader_changes: DataFrame) -> DataFrame:
    """One row per line that tells a broker's epoch of a partition: since when it was in it, and how surely."""
    kind = F.col(C.CHANGE_KIND)
    return leader_changes.where(F.col(C.LEADER_EPOCH) >= 0).select(
        *BROKER_PARTITION,
        C.LEADER_EPOCH,
        F.col(C.EVENT_TIME).alias("since"),
        kind.isin(*BEGINNINGS).alias("is_beginning"),
        (F.col(C.LEADER_ID) == F.col(C.BROKER_ID)).alias("is_leader"),
        F.when(kind.isin(*BEGINNINGS), 0).when(kind == ChangeKind.ASSIGNED.value, 2).otherwise(1).alias("doubt"),
    )


def _shown(fetches: DataFrame) -> DataFrame:
    """One row per epoch in which a broker answered a follower that named it: it led by then."""
    is_answered_by_leader = (F.col(C.REPLICA_ID) >= 0) & (F.col(C.LEADER_EPOCH) >= 0) & (F.col(C.ERROR_CODE) == 0)
    return (
        fetches.where(is_answered_by_leader)
        .groupBy(*BROKER_PARTITION, C.LEADER_EPOCH)
        .agg(F.min(C.EVENT_TIME).alias("since"))
        .withColumns({"is_beginning": F.lit(False), "is_leader": F.lit(True), "doubt": F.lit(1)})
    )


def _end_of_work(to_the_second: Collection[str]) -> Column:
    """The latest it can have happened: right after an election the estimate may be before the epoch's own line."""
    lateness = _or_of_seconds(LATENESS_US, to_the_second)
    return F.timestamp_micros(F.unix_micros(C.EVENT_TIME) + F.col(C.LOCAL_TIME_US) + lateness)


def _begin_of_work(to_the_second: Collection[str]) -> Column:
    """The earliest it can have happened."""
    return F.timestamp_micros(F.unix_micros(C.EVENT_TIME) - _or_of_seconds(EARLINESS_US, to_the_second))


def _or_of_seconds(us: int, to_the_second: Collection[str]) -> Column:
    """So many microseconds, of a file whose times have no fraction a second."""
    is_coarse = F.col(C.SOURCE_FILE).isin(*to_the_second)
    return F.when(is_coarse, LATENESS_OF_SECONDS_US).otherwise(us) if to_the_second else F.lit(us)


def _with_epoch(
    events: DataFrame, terms: DataFrame, time: Column, is_at_leader: Column, began: Column | None = None
) -> DataFrame:
    """The events with the leader epoch that their broker was in at `time`, where they do not name it.

    A broker has few terms of a partition: they come as one array, and no event is moved for their sake.
    """
    known = F.col(C.LEADER_EPOCH) >= 0
    fitting = F.filter("terms", lambda term: term["is_leader"] | ~is_at_leader)
    begun = F.filter(fitting, lambda term: term["since"] <= time)
    latest = F.try_element_at(begun, F.lit(-1))[C.LEADER_EPOCH]
    if began is not None:
        latest = F.coalesce(F.when(F.col(C.BASE_OFFSET) >= 0, _epoch_below(begun, began)), latest)
    # Before the first sign of an epoch, unless that is its beginning, the broker was in it already.
    first = F.get(fitting, F.lit(0))
    earlier = F.when(~first["is_beginning"], first[C.LEADER_EPOCH])
    epoch = F.coalesce(F.when(known, F.col(C.LEADER_EPOCH)), latest, earlier, F.lit(C.UNKNOWN_EPOCH))
    return (
        events.join(F.broadcast(terms), BROKER_PARTITION, "left")
        .withColumn(C.LEADER_EPOCH, epoch.cast("int"))
        .select(*events.columns)
    )


def _epoch_below(begun: Column, began: Column) -> Column:
    """The last epoch but those that began above an append, and not before the work on it; NULL for none."""

    def may_be(term: Column) -> Column:
        return F.coalesce((term[BEGINS_AT] <= F.col(C.BASE_OFFSET)) | (term["since"] < began), F.lit(True))

    return F.try_element_at(F.filter(begun, may_be), F.lit(-1))[C.LEADER_EPOCH]
