"""What the brokers of a scenario would have said at DEBUG and TRACE: its truth, by arithmetic, for comparison alone.

The kinds are those of a capture's truth.jsonl.gz, so that the same comparison works on both.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from sources.synthetic import names as N
from sources.synthetic.clock import turn_us
from sources.synthetic.epochs import TOPIC, epochs, roles
from sources.synthetic.forms import Forms
from sources.synthetic.requests import each_fetch
from sources.synthetic.rounds import broker_at, high_watermark, rounds

_STATEMENT = ("kind", "us", "broker", "replica", "from", "to", "leo")


def truth(spark: SparkSession, forms: Forms) -> DataFrame:
    """One row per statement: kind, ts (ms), broker, topic, partition, epoch, replica, from, to, leo."""
    lived, begun = rounds(spark, forms), epochs(spark, forms)
    told = _of_appends(lived, forms)
    for more in (_of_fetches(lived, forms), _of_epochs(begun, forms), _of_shrinks(lived, forms)):
        told = told.unionByName(more)
    return told.select(
        "kind", F.call_function("div", F.col("us"), F.lit(1000)).alias("ts"), "broker", F.lit(TOPIC).alias("topic"),
        F.col(N.P).alias("partition"), F.col(N.E).alias("epoch"), "replica", "from", "to", "leo",
    )  # fmt: skip


def _said(kind: str, us: Column, broker: Column, to: Column, **more: Column) -> Column:
    """Return a statement; `when` says where there is one."""
    told = {"replica": F.lit(None), "from": F.lit(None), "leo": F.lit(None), **more}
    when = told.pop("when", F.lit(True))
    statement = F.struct(
        F.lit(kind).alias("kind"), us.alias("us"), broker.alias("broker"),
        told["replica"].cast("int").alias("replica"), told["from"].cast("bigint").alias("from"),
        to.cast("bigint").alias("to"), told["leo"].cast("bigint").alias("leo"),
    )  # fmt: skip
    return F.when(when, statement)


def _each(rows: DataFrame, *said: Column) -> DataFrame:
    """One row per statement that was made."""
    made = rows.withColumn("said", F.explode(F.array(*said))).where("said IS NOT NULL")
    return made.select(N.P, N.E, *[F.col("said")[name].alias(name) for name in _STATEMENT])


def _of_appends(lived: DataFrame, forms: Forms) -> DataFrame:
    """One row per append, and per HW that it raised: of a leader alone in its ISR."""
    now, leader = turn_us(forms, 0), broker_at(forms, 0)
    before, after = high_watermark(forms, -1), high_watermark(forms, 0)
    return _each(
        lived.where(F.col(N.LEO) > F.col(N.LEO_BEFORE)),
        _said("append", now, leader, F.col(N.LEO)),
        _said("leader_hw", now, leader, after, when=after > before, **{"from": before}),
    )


def _of_fetches(lived: DataFrame, forms: Forms) -> DataFrame:
    """One row per remote LEO, per HW that it raised, per LEO and HW that the follower came to."""
    fetched = each_fetch(lived, forms)
    now, taken = turn_us(forms, F.col(N.TURN)), turn_us(forms, F.col(N.TURN) + 0.25)
    leader, replica = broker_at(forms, 0), broker_at(forms, F.col(N.TURN))
    asks, gets, before, after = F.col("asks"), F.col("gets"), F.col("hw_before"), F.col("hw")
    return _each(
        fetched,
        _said("remote_leo", now, leader, asks, when=asks != F.col("was_known"), replica=replica),
        _said("leader_hw", now, leader, after, when=after > before, **{"from": before}),
        _said("append", taken, replica, gets, when=gets > asks),
        _said("follower_leo", taken, replica, gets, replica=replica),
        _said("follower_hw", taken, replica, before, replica=replica),
    )


def _of_epochs(begun: DataFrame, forms: Forms) -> DataFrame:
    """One row per role taken, per append that its leader alone had, per truncation of it."""
    taken = roles(begun, forms)
    leads, broker = F.col(N.TURN) == 0, broker_at(forms, F.col(N.TURN))
    leo, hw, is_longer = F.col(N.OWN_LEO), F.col(N.BEGIN), F.col(N.OWN_LEO) > F.col(N.BEGIN)
    cut_us = turn_us(forms, F.col(N.TURN) - 0.1, F.col(N.BACK))
    alone = turn_us(forms, forms.scenario.replicas)
    return _each(
        taken,
        _said("become_leader", F.col(N.US), broker, hw, when=leads, leo=leo),
        _said("become_follower", F.col(N.US), broker, hw, when=~leads, leo=leo),
        _said("append", alone, broker, F.col(N.LEO) + F.col(N.LOSES), when=leads & (F.col(N.LOSES) > 0)),
        _said("truncate", cut_us, broker, hw, when=is_longer, **{"from": leo}),
    )


def _of_shrinks(lived: DataFrame, forms: Forms) -> DataFrame:
    """One row per HW that a commit of a smaller ISR raised: from what the last round left it at."""
    last = forms.scenario.replicas - 1
    at_commit = lived.where((F.col(N.GONE) > 0) & (F.col(N.M) == F.col(N.OUT) - 1))
    before = at_commit.withColumn("before", high_watermark(forms, last)).withColumn(N.M, F.col(N.M) + 1)
    # The offsets in the row are still those of the round before: nobody fetched since, one less holds the HW.
    return _each(
        before,
        _said(
            "leader_hw", turn_us(forms, last + 1.5, F.col(N.OUT) - 1), broker_at(forms, 0), high_watermark(forms, last),
            when=high_watermark(forms, last) > F.col("before"), **{"from": F.col("before")},
        ),
    )  # fmt: skip
