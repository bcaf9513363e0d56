"""Silence: times of which a broker's request log tells nothing, because it has none, or it was cut or rotated away.

A broker that leads is asked all the time: each follower fetches at least every replica.fetch.wait.max.ms. Where no
request of anybody is logged for a minute, the log is not there; where somebody must have asked, a few seconds tell it.
What a leader did meanwhile is known only where a line of server.log or state-change.log states it (`told`), and
between bounds in between (`replay.states.bounds`).
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame, Window, WindowSpec
from pyspark.sql import functions as F

from replay.keep import Keep
from replay.windows import FIRST, NOW, carried
from schemas import columns as C
from schemas import tables as T
from schemas.kinds import AppendSource, ChangeKind

SILENT_US = 60_000_000
"""Longer than this without any request of a broker is silence, whatever happened."""
ASKED_WITHIN_US = 5_000_000
"""Within this a leader is asked by the other members of its ISR, ten times the default of replica.fetch.wait.max.ms."""

HEARD = "heard"
"""Name under which tables bring `heard` of more requests than they have themselves."""
AT_US = "at_us"
HEARD_UNTIL_US = "heard_until_us"
"""bigint: the broker's last request before a silent moment; NULL where it had none."""

_PATIENCE_US = "patience_us"
_BROKER = (C.CLUSTER_ID, C.BROKER_ID)
LINE_OF_LEADER = (*C.PARTITION_KEY, C.BROKER_ID, *C.LINE, C.EVENT_TIME)
"""A leader's line, and the partition it tells of."""


def with_heard(landed: Mapping[str, DataFrame], keep: Keep) -> dict[str, DataFrame]:
    """Return the tables, and `HEARD` of them: of a part of their requests a broker is heard as of all."""
    return {**landed, HEARD: keep(heard(landed), is_small=True)}


def heard(landed: Mapping[str, DataFrame]) -> DataFrame:
    """One row per broker and stretch of its request log: `from_us` and `to_us`, its first and last request.

    And `is_cut`: before the first there were others, for it goes on with fetch sessions whose begin is not there.
    """
    if HEARD in landed:
        return landed[HEARD]
    begins_anew = F.col("from_us") - F.lag("to_us").over(_in_order()) > ASKED_WITHIN_US
    number = F.count_if(F.coalesce(begins_anew, F.lit(True))).over(_in_order().rowsBetween(FIRST, NOW))
    numbered = _asked(landed).withColumn("number", number)
    early = F.col("bucket") - F.min("bucket").over(Window.partitionBy(*_BROKER, "number")) <= 1
    return numbered.withColumn("goes_on", F.col("goes_on") & early).groupBy(*_BROKER, "number").agg(
        F.min("from_us").alias("from_us"), F.max("to_us").alias("to_us"), F.bool_or("goes_on").alias("is_cut")
    )  # fmt: skip


def _asked(landed: Mapping[str, DataFrame]) -> DataFrame:
    """One row per broker and 5 s in which it was asked: `from_us`, `to_us`, `goes_on`: a session whose begin is lost.

    A session begins with epoch 0, and goes on with 1 (KIP-227). A request counts when its line was written, which is
    when it was answered: of those that came in the meantime some were answered sooner, and their lines may be lost.
    """
    at = F.unix_micros(F.coalesce(C.RESPONSE_TIME, C.EVENT_TIME)).alias(AT_US)
    bucket = F.expr(f"{AT_US} div {ASKED_WITHIN_US}").alias("bucket")
    logged = landed[T.PRODUCE_EVENTS.name].where(F.col(C.APPEND_SOURCE) == AppendSource.REQUEST.value)
    appended = logged.select(*_BROKER, at, F.lit(0).alias(C.SESSION_ID), F.lit(0).alias(C.SESSION_EPOCH))
    asked = landed[T.FETCH_EVENTS.name].select(*_BROKER, at, C.SESSION_ID, C.SESSION_EPOCH).unionByName(appended)
    of_session = asked.groupBy(*_BROKER, C.SESSION_ID, bucket).agg(
        F.min(AT_US).alias("from_us"), F.max(AT_US).alias("to_us"), F.min(C.SESSION_EPOCH).alias("epoch")
    )
    first = F.min("bucket").over(Window.partitionBy(*_BROKER, C.SESSION_ID))
    goes_on = (F.col(C.SESSION_ID) > 0) & (F.col("epoch") > 1) & (F.col("bucket") == first)
    return of_session.withColumn("goes_on", goes_on).groupBy(*_BROKER, "bucket").agg(
        F.min("from_us").alias("from_us"), F.max("to_us").alias("to_us"), F.bool_or("goes_on").alias("goes_on")
    )  # fmt: skip


def _in_order() -> WindowSpec:
    return Window.partitionBy(*_BROKER).orderBy("bucket")


def in_silence(moments: DataFrame, heard_of: DataFrame, patience_us: Column | None = None) -> DataFrame:
    """The rows of `moments` (with `broker_id` and `at_us`) that lie in silence, with `heard_until_us`.

    `heard_of` is `heard`; `patience_us` is how far the nearest request may be (default: `SILENT_US`), but before a log
    that is cut there: whatever was asked then is lost.
    """
    patience = F.lit(SILENT_US) if patience_us is None else patience_us
    stretch = F.struct("from_us", "to_us", "is_cut")
    per_broker = heard_of.groupBy(*_BROKER).agg(F.collect_list(stretch).alias("stretches"))
    known = moments.join(F.broadcast(per_broker), [str(c) for c in _BROKER], "left")
    near = F.exists(
        "stretches",
        lambda it: F.col(AT_US).between(
            F.when(it["is_cut"], it["from_us"]).otherwise(it["from_us"] - patience), it["to_us"] + patience
        ),
    )
    before = F.filter("stretches", lambda it: it["to_us"] < F.col(AT_US))
    until = F.array_max(F.transform(before, lambda it: it["to_us"]))
    return known.where(~F.coalesce(near, F.lit(False))).withColumn(HEARD_UNTIL_US, until).drop("stretches")


def silent_changes(landed: Mapping[str, DataFrame]) -> DataFrame:
    """One row per change that a leader applied in silence."""
    changes = landed[T.LEADER_CHANGES.name].withColumn(AT_US, F.unix_micros(C.EVENT_TIME))
    is_role = F.col(C.CHANGE_KIND).isin(ChangeKind.BECOME_LEADER.value, ChangeKind.BECOME_FOLLOWER.value)
    in_reverse = Window.partitionBy(*C.PARTITION_KEY, C.BROKER_ID).orderBy(
        F.desc(C.EVENT_TIME), F.desc(C.SOURCE_FILE), F.desc(C.SOURCE_LINE)
    )
    next_role_us = carried(F.when(is_role, F.col(AT_US)), in_reverse.rowsBetween(FIRST, -1))
    # A restarted process takes up its old leadership and steps down again before anybody asks it.
    stays = F.coalesce(next_role_us - F.col(AT_US) > ASKED_WITHIN_US, F.lit(True))
    is_asked = stays & F.coalesce(F.size(C.ISR) > 1, F.lit(False))
    leads = F.col(C.LEADER_ID) == F.col(C.BROKER_ID)
    of_leaders = changes.withColumn(_PATIENCE_US, F.when(is_asked, ASKED_WITHIN_US).otherwise(SILENT_US)).where(
        leads & (F.col(C.CHANGE_KIND) != ChangeKind.ASSIGNED.value)
    )
    return in_silence(of_leaders, heard(landed), F.col(_PATIENCE_US)).drop(_PATIENCE_US)


def silent_batches(landed: Mapping[str, DataFrame]) -> DataFrame:
    """One row per append that only a dump tells of, in silence: its request is missing, and the fetches beside it."""
    appends = landed[T.PRODUCE_EVENTS.name].where(F.col(C.APPEND_SOURCE) != AppendSource.REQUEST.value)
    # Markers of transactions and what coordinators write come without a request of a client.
    is_asked = ~F.col(C.IS_CONTROL) & ~F.startswith(C.TOPIC, F.lit("__"))
    patience_us = F.when(is_asked, ASKED_WITHIN_US).otherwise(SILENT_US)
    return in_silence(appends.withColumn(AT_US, F.unix_micros(C.EVENT_TIME)), heard(landed), patience_us)


def silent_moments(landed: Mapping[str, DataFrame]) -> DataFrame:
    """One row per change or append of a leader in silence: its line, leader epoch, `at_us` and `heard_until_us`."""
    columns = (*LINE_OF_LEADER, C.LEADER_EPOCH, AT_US, HEARD_UNTIL_US)
    return silent_changes(landed).select(*columns).unionByName(silent_batches(landed).select(*columns))


def with_heard_batches(landed: Mapping[str, DataFrame]) -> Mapping[str, DataFrame]:
    """Return the tables without the appends in silence.

    Between logged appends a batch's time is held by theirs; in silence it is the producer's word alone.
    """
    silent = silent_batches(landed).select(*C.LINE)
    others = landed[T.PRODUCE_EVENTS.name].join(silent, [str(c) for c in C.LINE], "left_anti")
    return {**landed, T.PRODUCE_EVENTS.name: others}
