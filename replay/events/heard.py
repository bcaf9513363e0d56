"""When a broker was heard: the stretches of its request log, and which of them lost what was before.

A session of fetches begins with epoch 0 and goes on with 1, 2, … (KIP-227, `FetchSession.scala`). Where a log goes on
with an epoch that does not follow on the last one it has of the session, requests between are lost: the log was cut
there, or rotated away, and was not merely without anything to say. Since when a session is unbroken, its requests say.
Of fetches in a row that name nothing only the last has a row (`sources.fetch_sessions`): through all of them the log
was kept.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame, Window, WindowSpec
from pyspark.sql import functions as F

from replay.keep import Keep
from replay.windows import FIRST, LAST, NOW
from schemas import columns as C
from schemas import tables as T
from schemas.kinds import AppendSource

SILENT_US = 60_000_000
"""Longer than this without any request of a broker is silence, whatever happened."""
ASKED_WITHIN_US = 5_000_000
"""Within this a leader is asked by the other members of its ISR, ten times the default of replica.fetch.wait.max.ms."""
BROKEN_US = 500_000
"""Where a fetch session breaks, this long without any request is a hole in the log: a follower asks as often."""

HEARD = "heard"
"""Name under which tables bring `heard` of more requests than they have themselves."""
AT_US = "at_us"
HEARD_UNTIL_US = "heard_until_us"
"""bigint: the broker's last request before a silent moment; NULL where it had none."""
FROM_US, TO_US = "from_us", "to_us"
AFTER_US, BEFORE_US = "after_us", "before_us"
IS_CUT_BEFORE, IS_CUT_AFTER = "is_cut_before", "is_cut_after"

_BUCKET, _SINCE, _GOES_ON, _IS_BROKEN, _ENDS_RUN = "bucket", "since", "goes_on", "is_broken", "ends_run"
_IS_FETCH = "is_fetch"


def with_heard(landed: Mapping[str, DataFrame], keep: Keep) -> dict[str, DataFrame]:
    """Return the tables, and `HEARD` of them: of a part of their requests a broker is heard as of all."""
    return {**landed, HEARD: keep(heard(landed), is_small=True)}


def heard(landed: Mapping[str, DataFrame]) -> DataFrame:
    """One row per broker and stretch of its request log: `from_us` and `to_us`, its first and last request.

    `after_us` and `before_us`: the last request of the stretch before and the first of the next, NULL if none is.
    `is_cut_before`: requests before the first are missing, for a fetch session goes on of which no earlier epoch is in
    the log; `is_cut_after`: `is_cut_before` of the next stretch.
    """
    if HEARD in landed:
        return landed[HEARD]
    gap_us = F.col(FROM_US) - F.lag(TO_US).over(_in_order(_BUCKET))
    begins_anew = (gap_us > ASKED_WITHIN_US) | (F.col(_IS_BROKEN) & (gap_us > BROKEN_US))
    number = F.count_if(F.coalesce(begins_anew, F.lit(True))).over(_in_order(_BUCKET).rowsBetween(FIRST, NOW))
    numbered = _asked(landed).withColumn("number", number)
    is_early = F.col(_BUCKET) - F.min(_BUCKET).over(_whole_stretch()) <= 1
    stretches = numbered.withColumn(_GOES_ON, F.col(_GOES_ON) & is_early).groupBy(*C.BROKER_KEY, "number").agg(
        F.min(FROM_US).alias(FROM_US), F.max(TO_US).alias(TO_US), F.bool_or(_GOES_ON).alias(IS_CUT_BEFORE)
    )  # fmt: skip
    in_order = _in_order("number")
    neighbours = {
        AFTER_US: F.lag(TO_US).over(in_order), BEFORE_US: F.lead(FROM_US).over(in_order),
        IS_CUT_AFTER: F.coalesce(F.lead(IS_CUT_BEFORE).over(in_order), F.lit(False)),
    }  # fmt: skip
    return stretches.withColumns(neighbours)


def _whole_stretch() -> WindowSpec:
    return Window.partitionBy(*C.BROKER_KEY, "number").rowsBetween(FIRST, LAST)


def _asked(landed: Mapping[str, DataFrame]) -> DataFrame:
    """One row per broker and 5 s in which it was asked: `from_us`, `to_us`, `goes_on`: requests before it are lost.

    `is_broken`: between two requests of a session that the log has. What is lost within the 5 s is not seen here: by
    the second it would be three times as many rows.

    A request counts when its line was written, which is when it was answered: of those that came in the meantime some
    were answered sooner, and their lines may be lost.
    """
    at = F.unix_micros(F.coalesce(C.RESPONSE_TIME, C.EVENT_TIME)).alias(AT_US)
    bucket = F.expr(f"{AT_US} div {ASKED_WITHIN_US}").alias(_BUCKET)
    logged = landed[T.PRODUCE_EVENTS.name].where(F.col(C.APPEND_SOURCE) == AppendSource.REQUEST.value)
    in_none = {
        C.SESSION_ID: F.lit(0), C.SESSION_EPOCH: F.lit(0), _SINCE: F.lit(0), _ENDS_RUN: F.lit(False),
        _IS_FETCH: F.lit(False),
    }  # fmt: skip
    appended = logged.select(*C.BROKER_KEY, at).withColumns(in_none)
    ends_run = F.coalesce(F.col(C.IS_IMPLIED) & (F.col(C.RESPONSE_HIGH_WATERMARK) < 0), F.lit(False)).alias(_ENDS_RUN)
    since = F.coalesce(C.SESSION_UNBROKEN_SINCE, C.SESSION_EPOCH).alias(_SINCE)
    fetched = landed[T.FETCH_EVENTS.name].select(
        *C.BROKER_KEY, at, C.SESSION_ID, C.SESSION_EPOCH, since, ends_run, F.lit(True).alias(_IS_FETCH)
    )
    of_session = fetched.unionByName(appended).groupBy(*C.BROKER_KEY, C.SESSION_ID, bucket).agg(
        F.min(AT_US).alias(FROM_US), F.max(AT_US).alias(TO_US), F.min(_SINCE).alias(_SINCE),
        F.min(F.when(~F.col(_ENDS_RUN), F.col(C.SESSION_EPOCH))).alias("first_epoch"),
        F.min(F.when(F.col(_ENDS_RUN), F.col(C.SESSION_EPOCH))).alias("run_end"),
        F.max(C.SESSION_EPOCH).alias("last_epoch"), F.bool_or(_IS_FETCH).alias(_IS_FETCH),
    )  # fmt: skip
    asked = of_session.withColumns(_since_before()).groupBy(*C.BROKER_KEY, _BUCKET).agg(
        F.min(FROM_US).alias(FROM_US), F.max(TO_US).alias(TO_US),
        *[F.bool_or(name).alias(name) for name in (_GOES_ON, _IS_BROKEN, _IS_FETCH)],
    )  # fmt: skip
    return _of_whole_logs(asked, landed[T.LEADER_CHANGES.name])


def _of_whole_logs(asked: DataFrame, changes: DataFrame) -> DataFrame:
    """Return what brokers were asked, but for those whose fetches nobody logged, though followers must have fetched."""
    leads = (F.col(C.LEADER_ID) == F.col(C.BROKER_ID)) & (F.size(C.ISR) > 1)
    followed = changes.where(leads).select(*C.BROKER_KEY).distinct().withColumn("is_followed", F.lit(True))
    has_fetches = F.bool_or(_IS_FETCH).over(Window.partitionBy(*C.BROKER_KEY).rowsBetween(FIRST, LAST))
    known = asked.withColumn(_IS_FETCH, has_fetches).join(F.broadcast(followed), [str(c) for c in C.BROKER_KEY], "left")
    return known.where(F.col(_IS_FETCH) | F.col("is_followed").isNull()).drop(_IS_FETCH, "is_followed")


def _since_before() -> dict[str, Column]:
    """Return since when the log has all of the session, and whether one is missing before the first in these 5 s."""
    in_order = Window.partitionBy(*C.BROKER_KEY, C.SESSION_ID).orderBy(_BUCKET)
    earlier, first = F.lag("last_epoch").over(in_order), F.col("first_epoch")
    is_run_through = F.coalesce(F.col("run_end") < first, F.col("run_end").isNotNull())
    # The first of all may be without its begin: what asks for a session has no number yet.
    is_missing = (F.col(C.SESSION_ID) > 0) & (F.col(_SINCE) > F.coalesce(earlier, F.lit(0)) + 1)
    return {
        FROM_US: F.when(is_run_through, F.least(FROM_US, F.lag(TO_US).over(in_order))).otherwise(F.col(FROM_US)),
        _GOES_ON: F.coalesce(is_missing, F.lit(False)),
        _IS_BROKEN: F.coalesce(is_missing & earlier.isNotNull(), F.lit(False)),
    }


def _in_order(by: str) -> WindowSpec:
    return Window.partitionBy(*C.BROKER_KEY).orderBy(by)


def in_silence(moments: DataFrame, heard_of: DataFrame, patience_us: Column | None = None) -> DataFrame:
    """The rows of `moments` (with `broker_id` and `at_us`) that lie in silence, with `heard_until_us`.

    `heard_of` is `heard`; `patience_us` is how far the nearest request may be (default: `SILENT_US`), but where the log
    is cut: whatever was asked then is lost.
    """
    patience = F.lit(SILENT_US) if patience_us is None else patience_us
    stretch = F.struct(FROM_US, TO_US, AFTER_US, BEFORE_US, IS_CUT_BEFORE, IS_CUT_AFTER)
    per_broker = heard_of.groupBy(*C.BROKER_KEY).agg(F.collect_list(stretch).alias("stretches"))
    known = moments.join(F.broadcast(per_broker), [str(c) for c in C.BROKER_KEY], "left")
    near = F.exists(
        "stretches",
        lambda it: F.col(AT_US).between(
            F.greatest(it[AFTER_US], it[FROM_US] - F.when(it[IS_CUT_BEFORE], 0).otherwise(patience)),
            F.least(it[BEFORE_US], it[TO_US] + F.when(it[IS_CUT_AFTER], 0).otherwise(patience)),
        ),
    )
    before = F.filter("stretches", lambda it: it[TO_US] < F.col(AT_US))
    until = F.array_max(F.transform(before, lambda it: it[TO_US]))
    return known.where(~F.coalesce(near, F.lit(False))).withColumn(HEARD_UNTIL_US, until).drop("stretches")
