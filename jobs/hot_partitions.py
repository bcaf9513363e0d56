"""Hot partitions: those with so many of all events that the task which replays them would be the last by far."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from replay.news import reach_us
from replay.profile import Profile
from replay.stretches import stretches
from schemas import columns as C
from schemas.tables import FETCH_EVENTS, PRODUCE_EVENTS

HOT_ROWS = "spark.tidegauge.hotRows"
"""Setting: a partition with as many requests, and more than its share, is cut into stretches of a third as many."""
_DEFAULT_HOT_ROWS = "300000"
"""Each window holds all of a partition, and there are seventeen: 100,000 requests are 400 MB in a task."""
_SHARES = 4
"""A partition with as many times the requests of the average task is the longest task by far."""
_REQUESTS_A_TASK, _FEWEST_TASKS = 250_000, 32
"""What AQE makes a task of (`spark-*.conf`), and as how many tasks a small log is looked upon: a core wants one."""
_APART_US = 1_000_000
"""Twice what a fetch is parked. Less than `replay.news` has, for a dense partition has a hundred thousand requests in
5 s; where it is too little two stretches do not meet, and all is replayed in one piece."""
_REACHES, _MOST = 5, 99
"""A stretch lasts at least as many times what it replays before and after itself."""


def hot_stretches(landed: Mapping[str, DataFrame], profile: Profile) -> DataFrame | None:
    """The stretches of hot partitions, as `replay.stretches.stretches`; None where there are none.

    Nothing is cut where silence, transactions or an inferred ISR reach from one stretch into the next.
    """
    if profile.has_silence or profile.has_untold_isr or profile.has_transactions:
        return None
    spark = landed[FETCH_EVENTS.name].sparkSession
    least = int(spark.conf.get(HOT_ROWS, _DEFAULT_HOT_ROWS) or _DEFAULT_HOT_ROWS)
    requests = _times(landed[PRODUCE_EVENTS.name]).unionByName(
        _times(landed[FETCH_EVENTS.name].where("replica_id >= 0"))
    )
    counts = requests.groupBy(*C.PARTITION_KEY).agg(
        F.count("*").alias("requests"), F.min("second").alias("first"), F.max("second").alias("last")
    )
    hot = _hot(counts.localCheckpoint(), least, reach_us(profile, _APART_US))
    if hot.isEmpty():
        return None
    shares = F.transform(F.sequence(F.lit(1), F.col("pieces") - 1), lambda k: k / F.col("pieces"))
    of_hot = requests.join(F.broadcast(hot), C.on_partition())
    # A hundred quantiles of the time, of which the nearest are the cuts: a percentile's shares must be literals.
    hundredths = F.percentile_approx("second", [k / 100 for k in range(101)], 10_000)
    times = of_hot.groupBy(*C.PARTITION_KEY).agg(hundredths.alias("times"), F.max("pieces").alias("pieces"))
    cuts = F.array_distinct(F.transform(shares, lambda share: F.get("times", F.round(share * 100).cast("int"))))
    return stretches(times.select(*C.PARTITION_KEY, cuts.alias("cuts")), reach_us(profile, _APART_US))


def _times(requests: DataFrame) -> DataFrame:
    """One row per request: the second of its begin."""
    return requests.select(*C.PARTITION_KEY, F.unix_seconds(C.EVENT_TIME).alias("second"))


def _hot(counts: DataFrame, least: int, reach: Column) -> DataFrame:
    """One row per hot partition, and into how many `pieces` it is cut."""
    tasks = F.greatest(F.lit(_FEWEST_TASKS), F.col("total") / _REQUESTS_A_TASK)
    total = counts.agg(F.sum("requests").alias("total"))
    lasts = F.col("last") - F.col("first")
    longest = F.floor(lasts * 1_000_000 / (reach * _REACHES))
    pieces = F.least(F.ceil(3 * F.col("requests") / least), longest, F.lit(_MOST)).cast("int")
    share = F.col("total") * _SHARES / tasks
    return counts.crossJoin(F.broadcast(total)).withColumn("pieces", pieces).where(
        (F.col("requests") >= least) & (F.col("requests") > share) & (F.col("pieces") > 1)
    ).select(*C.PARTITION_KEY, "pieces")  # fmt: skip
