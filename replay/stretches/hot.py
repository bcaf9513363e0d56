"""Hot partitions: those with so many of all requests that the task which replays them would be the last by far.

They are cut into stretches (`cut`) where their requests are many, so that each has about as many.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from replay.assignment import outsiders
from replay.going_on.news import reach_us
from replay.profile import Profile
from replay.stretches.cut import stretches
from replay.stretches.requests import SECOND_US
from schemas import columns as C
from schemas import tables as T

REACH_US = "reach_us"
"""bigint: how far the stretches of the partition look around themselves."""
PIECES = "pieces"
"""int: stretches that the partition is cut into."""
_SHARES = 4
"""A partition with as many times the requests of the average task is the longest task by far."""
_REQUESTS_A_TASK, _FEWEST_TASKS = 250_000, 32
"""What AQE makes a task of (`spark-*.conf`), and as how many tasks a small log is looked upon: a core wants one."""
_LEAST_US = 1_000_000
"""Twice what a fetch is parked: a stretch of a dense partition looks no farther around itself, for in the 5 s that
`replay.going_on.news` has may be a hundred thousand requests. Where it is too little two stretches do not meet."""
_MOST, _QUANTILES = 99, 500
"""Stretches of a partition at the most, and parts of its requests that they are made of: some have one more."""
_REACHES, _REACHES_TO_SPARE = 5, 10
"""A stretch lasts at least as many times what it replays before and after itself; and looks farther than it has to if
it lasts as many times that. What is replayed twice is a cost."""
_HAS_OUTSIDERS = "has_outsiders"
"""boolean, TRUE or NULL: some replica of the partition was outside its ISR at some time."""


def may_be_cut(profile: Profile) -> bool:
    """Return whether any may be: an inferred ISR reaches from one stretch into the next."""
    return not profile.has_untold_isr


def request_counts(landed: Mapping[str, DataFrame], assigned: DataFrame) -> DataFrame:
    """One row per partition: its `requests`, the seconds of the `first` and the `last`, and `has_outsiders`.

    `assigned` is `replay.assignment.assignments`.
    """
    counts = (
        _requests(landed)
        .groupBy(*C.PARTITION_KEY)
        .agg(F.count("*").alias("requests"), F.min("second").alias("first"), F.max("second").alias("last"))
    )
    left = outsiders(landed, assigned).select(*C.PARTITION_KEY, F.lit(True).alias(_HAS_OUTSIDERS)).distinct()
    return counts.join(F.broadcast(left), C.on_partition(), "left")


def hot_partitions(counts: DataFrame, least: int, profile: Profile) -> DataFrame:
    """One row per partition with `least` requests, and more than its share: `pieces`, `reach_us`.

    `counts` is `request_counts`. A stretch has about a third of `least`.
    """
    tasks = F.greatest(F.lit(_FEWEST_TASKS), F.col("total") / _REQUESTS_A_TASK)
    total = counts.agg(F.sum("requests").alias("total"))
    lasts, wanted = F.col("last") - F.col("first"), F.ceil(3 * F.col("requests") / least)
    no_outsiders = profile.with_changes(has_outsiders=False)

    def reach(*apart_us: int) -> Column:
        lagging, never = reach_us(profile, *apart_us), reach_us(no_outsiders, *apart_us)
        return F.when(F.col(_HAS_OUTSIDERS), lagging).otherwise(never)

    around = F.floor(lasts / wanted / _REACHES_TO_SPARE) * SECOND_US
    most = F.floor(lasts * SECOND_US / (F.col(REACH_US) * _REACHES))
    return (
        counts.crossJoin(F.broadcast(total))
        .where((F.col("requests") >= least) & (F.col("requests") > F.col("total") * _SHARES / tasks))
        .withColumn(REACH_US, F.least(reach(), F.greatest(reach(_LEAST_US), around)))
        .withColumn(PIECES, F.least(wanted, most, F.lit(_MOST)).cast("int"))
        .where(F.col(PIECES) > 1)
        .select(*C.PARTITION_KEY, PIECES, REACH_US)
    )


def hot_stretches(landed: Mapping[str, DataFrame], hot: DataFrame) -> DataFrame:
    """One row per stretch of a hot partition, as `cut.stretches`; `hot` is `hot_partitions`."""
    shares = F.transform(F.sequence(F.lit(1), F.col(PIECES) - 1), lambda k: k / F.col(PIECES))
    of_hot = _requests(landed).join(F.broadcast(hot), C.on_partition())
    # Quantiles of the time, of which the nearest are the cuts: a percentile's shares must be literals.
    quantiles = F.percentile_approx("second", [k / _QUANTILES for k in range(_QUANTILES + 1)], 10_000)
    times = of_hot.groupBy(*C.PARTITION_KEY, PIECES, REACH_US).agg(quantiles.alias("times"))
    cuts = F.array_distinct(F.transform(shares, lambda share: F.get("times", F.round(share * _QUANTILES).cast("int"))))
    return stretches(times.withColumn("cuts", cuts), F.col(REACH_US))


def _requests(landed: Mapping[str, DataFrame]) -> DataFrame:
    """One row per append and follower's fetch: the `second` of its begin."""
    produced, fetched = landed[T.PRODUCE_EVENTS.name], landed[T.FETCH_EVENTS.name]
    return _seconds(produced).unionByName(_seconds(fetched.where(F.col(C.REPLICA_ID) >= 0)))


def _seconds(requests: DataFrame) -> DataFrame:
    """One row per request: its partition and the second of its begin."""
    return requests.select(*C.PARTITION_KEY, F.unix_seconds(C.EVENT_TIME).alias("second"))
