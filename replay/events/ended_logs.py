"""Logs that end while their brokers live on: collected sooner than the others', cut, or lost with a disk.

Where a leader must have been asked after the last request that is logged of it, nobody tells what it did. It must have
been where its ISR has other members and no other leader took its place. One that died was asked no more; but then it is
replaced as soon as its session with the controller is over, and its successor has no more than the log tells of.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from replay.events.early_ends import REQUESTS_END_US, early_ends
from replay.events.epoch_times import NEXT_EPOCH, NEXT_US, REPLACED_WITHIN_US, with_times
from replay.events.heard import ASKED_WITHIN_US, AT_US, HEARD_UNTIL_US
from replay.keep import Keep
from replay.statements import is_of
from schemas import columns as C
from schemas import tables as T
from schemas.kinds import ChangeKind, StatementKind

ENDED = "ended_logs"
"""Name under which tables bring `ends_in_silence`: asked for wherever silence is, and a plan of its own."""
_EPOCH = C.on_partition(C.LEADER_EPOCH)
_DELETED_US = "deleted_us"


def with_ended_logs(landed: Mapping[str, DataFrame], keep: Keep) -> Mapping[str, DataFrame]:
    """Return the tables, and `ENDED` of them."""
    return landed if ENDED in landed else {**landed, ENDED: keep(ends_in_silence(landed), is_small=True)}


def ends_in_silence(landed: Mapping[str, DataFrame]) -> DataFrame:
    """One row per leader epoch that went on when its leader's request log had ended: the leader's last line, and times.

    Columns: the partition key, broker_id, the line's, event_time, leader_epoch; `heard_until_us`, the last request of
    the log, and `at_us`, when the epoch ended: as the next one began, as its leader deleted its log (of a topic that is
    deleted no epoch tells), or with the last request of any broker.
    """
    if ENDED in landed:
        return landed[ENDED]
    ended = early_ends(landed).where(F.col(HEARD_UNTIL_US).isNotNull())
    known = _led(landed).join(F.broadcast(ended), [str(c) for c in C.BROKER_KEY])
    of_replica = C.on_partition(C.BROKER_ID)
    dated = with_times(known, landed).join(F.broadcast(_deletions(landed)), of_replica, "left")
    deleted_since = F.when(F.col(_DELETED_US) > F.unix_micros(C.EVENT_TIME), F.col(_DELETED_US))
    timed = dated.withColumn(AT_US, F.least(deleted_since, F.coalesce(NEXT_US, REQUESTS_END_US)))
    # One that was silent and has just taken its role, or changed its ISR, is there: nobody has asked it yet.
    went_on_us = F.col(AT_US) - F.greatest(HEARD_UNTIL_US, F.unix_micros(C.EVENT_TIME))
    of_late = timed.where(went_on_us > ASKED_WITHIN_US)
    is_longer = F.coalesce(F.col("next_leo") > F.col("known_leo"), F.lit(False))
    lived = F.col(NEXT_US).isNull() | (went_on_us > F.col(REPLACED_WITHIN_US)) | is_longer
    more = [F.broadcast(leos) for leos in (_logged_ends(landed, of_late), _ends_at_elections(landed))]
    told = of_late.join(more[0], _EPOCH, "left").join(more[1], C.on_partition(NEXT_EPOCH), "left").where(lived)
    return told.select(*C.PARTITION_KEY, C.BROKER_ID, C.LEADER_EPOCH, C.EVENT_TIME, *C.LINE, HEARD_UNTIL_US, AT_US)


def _led(landed: Mapping[str, DataFrame]) -> DataFrame:
    """One row per leader epoch: its leader's last line of an ISR, if that has other members."""
    leads = (F.col(C.LEADER_ID) == F.col(C.BROKER_ID)) & (F.col(C.CHANGE_KIND) != ChangeKind.ASSIGNED.value)
    told = landed[T.LEADER_CHANGES.name].where(leads & F.col(C.ISR).isNotNull())
    line = F.struct(C.EVENT_TIME, *C.LINE, F.size(C.ISR).alias("members"))
    last = told.groupBy(*C.PARTITION_KEY, C.BROKER_ID, C.LEADER_EPOCH).agg(F.max(line).alias("line"))
    columns = (*C.PARTITION_KEY, C.BROKER_ID, C.LEADER_EPOCH, "line.*")
    return last.select(*columns).where("members > 1").drop("members")


def _deletions(landed: Mapping[str, DataFrame]) -> DataFrame:
    """One row per replica that deleted its log, by its broker_id: `deleted_us`, when it last did."""
    deleted = landed[T.BROKER_STATEMENTS.name].where(is_of(StatementKind.LOG_DELETED))
    last_us = F.unix_micros(F.max(C.EVENT_TIME)).alias(_DELETED_US)
    return deleted.groupBy(*C.PARTITION_KEY, C.BROKER_ID).agg(last_us)


def _logged_ends(landed: Mapping[str, DataFrame], epochs: DataFrame) -> DataFrame:
    """One row per leader epoch of these of which a request is logged: `known_leo`, the LEO of which requests tell."""
    appended, fetched = landed[T.PRODUCE_EVENTS.name], landed[T.FETCH_EVENTS.name]
    ends = appended.select(*_EPOCH, (F.greatest(C.BASE_OFFSET, C.LAST_OFFSET) + 1).alias("known_leo")).unionByName(
        fetched.select(*_EPOCH, F.col(C.FETCH_OFFSET).alias("known_leo"))
    )
    of_these = ends.join(F.broadcast(epochs.select(*_EPOCH)), _EPOCH, "left_semi")
    return of_these.groupBy(*_EPOCH).agg(F.max("known_leo").alias("known_leo"))


def _ends_at_elections(landed: Mapping[str, DataFrame]) -> DataFrame:
    """One row per `next_epoch` with the LEO with which its leader began, `next_leo`, where its line states that."""
    stated = landed[T.BROKER_STATEMENTS.name].where(is_of(StatementKind.BECAME_LEADER_LEO))
    leo = F.max(C.OFFSET).alias("next_leo")
    return stated.groupBy(*C.PARTITION_KEY, F.col(C.LEADER_EPOCH).alias(NEXT_EPOCH)).agg(leo)
