"""Leader epochs of a scenario: elections, who is in the ISR when, and what the brokers say of it."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from schemas import columns as C
from schemas.columns import NO_REPLICA
from schemas.kinds import ChangeKind, StatementKind
from sources.synthetic import names as N
from sources.synthetic.clock import epoch_us, turn_us
from sources.synthetic.forms import Forms, at
from sources.synthetic.rounds import broker_at, leo_after, with_absence

TOPIC, TOPIC_ID = "synthetic", "c3ludGhldGljLXRvcGljIQ"
PER_EPOCH = 16
"""Lines of a file that an epoch of a partition may fill."""
ELECTION_US = 10_000
"""An election is so long before the epoch's first round."""


def epochs(spark: SparkSession, forms: Forms) -> DataFrame:
    """One row per partition and leader epoch: `P`, `E`, who is away, its last round `M` and every `LEO` then."""
    number = len(forms.scenario.epochs)
    losses = [epoch.loses for epoch in forms.scenario.epochs]
    each = spark.range(forms.scenario.partitions * number).select(
        F.call_function("div", F.col("id"), F.lit(number)).cast("int").alias(N.P),
        F.pmod("id", F.lit(number)).cast("int").alias(N.E),
    )
    return with_absence(each, forms).withColumns(
        {
            N.LOSES: at(losses, F.col(N.E)),
            N.LOST_BEFORE: at([0, *losses[:-1]], F.col(N.E)),
            N.M: forms.of_shape(lambda shape: shape.rounds - 1),
            N.LEO: leo_after(forms, forms.of_shape(lambda shape: shape.rounds - 1)),
        }
    )


def roles(begun: DataFrame, forms: Forms) -> DataFrame:
    """One row per role that a broker takes in an epoch: `begun` (of `epochs`), `TURN`, `US`, `OWN_LEO`."""

    def role(turn: int) -> Column:
        was_ahead = F.lit(turn == forms.scenario.replicas - 1) & (F.col(N.LOST_BEFORE) > 0)
        at_election = epoch_us(forms) - ELECTION_US + turn
        when = F.when(was_ahead, turn_us(forms, turn - 0.75, F.col(N.BACK))).otherwise(at_election)
        own = F.col(N.BEGIN) + F.when(was_ahead, F.col(N.LOST_BEFORE)).otherwise(0)
        return F.struct(F.lit(turn).alias(N.TURN), when.alias(N.US), own.alias(N.OWN_LEO))

    each = F.explode(F.array(*[role(turn) for turn in range(forms.scenario.replicas)]))
    return begun.withColumn("role", each).select("*", "role.*").drop("role")


def leader_changes(begun: DataFrame, forms: Forms) -> DataFrame:
    """One row per role that is taken, per shrink of an ISR that is proposed, per ISR that is committed."""
    replicas = F.array(*[broker_at(forms, turn) for turn in range(forms.scenario.replicas)])
    others = F.array_except(replicas, F.array(broker_at(forms, F.col(N.AWAY))))
    taken = roles(begun, forms)
    leads = F.col(N.TURN) == 0
    elected = F.when(F.col(N.GONE) == 0, others).otherwise(replicas)
    become = F.when(leads, ChangeKind.BECOME_LEADER.value).otherwise(ChangeKind.BECOME_FOLLOWER.value)
    told = [_told(taken, forms, kind=become, us=F.col(N.US), isr=F.when(leads, elected), version=0, line=F.col(N.TURN))]
    shrunk, joined = begun.where(F.col(N.GONE) > 0), begun.where(F.col(N.AWAY) > 0)
    last = forms.scenario.replicas
    steps = (
        (shrunk, ChangeKind.ISR_SHRINK_PROPOSED, turn_us(forms, last + 0.25, F.col(N.OUT) - 1), others, 0),
        (shrunk, ChangeKind.ISR_UPDATED, turn_us(forms, last + 0.5, F.col(N.OUT) - 1), others, 1),
        (joined, ChangeKind.ISR_UPDATED, turn_us(forms, last + 0.5, F.col(N.BACK) + 1), replicas, 2),
    )
    for number, (rows, kind, us, isr, version) in enumerate(steps, start=last):
        leader = rows.withColumn(N.TURN, F.lit(0))
        told += [
            _told(leader, forms, kind=F.lit(kind.value), us=us, isr=isr, version=version, line=F.lit(number)),
        ]
    changes = told[0]
    for more in told[1:]:
        changes = changes.unionByName(more)
    return changes


def _told(
    rows: DataFrame, forms: Forms, *, kind: Column, us: Column, isr: Column, version: int, line: Column
) -> DataFrame:
    """Return changes as their brokers logged them."""
    replicas = F.array(*[broker_at(forms, turn) for turn in range(forms.scenario.replicas)])
    return logged(rows, forms, us, line, "state-change.log").select(
        *_LOGGED,
        kind.alias(C.CHANGE_KIND),
        (F.col(N.E) * len(ChangeKind) + version).alias(C.PARTITION_EPOCH),
        broker_at(forms, 0).alias(C.LEADER_ID),
        F.array_sort(isr).alias(C.ISR),
        replicas.alias(C.REPLICAS),
        *[F.lit(None).alias(name) for name in (C.ADDING_REPLICAS, C.REMOVING_REPLICAS)],
        F.lit(False).alias(C.IS_UNCLEAN),
    )


_LOGGED = (
    C.TOPIC, C.TOPIC_ID, C.PARTITION, C.LEADER_EPOCH, C.BROKER_ID, C.EVENT_TIME, C.SOURCE_FILE, C.SOURCE_LINE,
)  # fmt: skip


def logged(rows: DataFrame, forms: Forms, us: Column, line: Column, file: str) -> DataFrame:
    """Return rows of `P`, `E` and `TURN` with partition, broker, time and line of its log."""
    broker = broker_at(forms, F.col(N.TURN))
    number = F.col(N.P).cast("bigint") * len(forms.scenario.epochs) + F.col(N.E)
    return of_partition(rows).withColumns(
        {
            C.BROKER_ID: broker,
            C.EVENT_TIME: F.timestamp_micros(us),
            C.SOURCE_FILE: broker_file(broker, file),
            C.SOURCE_LINE: number * PER_EPOCH + line + 1,
        }
    )


def of_partition(rows: DataFrame) -> DataFrame:
    """Return rows of `P` and `E` with the names a partition has in every table."""
    return rows.withColumns(
        {C.TOPIC: F.lit(TOPIC), C.TOPIC_ID: F.lit(TOPIC_ID), C.PARTITION: F.col(N.P), C.LEADER_EPOCH: F.col(N.E)}
    )


def broker_file(broker: Column, name: str) -> Column:
    """Return the name of a broker's file in a capture."""
    return F.concat(F.lit("broker-"), broker.cast("string"), F.lit(f"/{name}"))


def broker_statements(begun: DataFrame, forms: Forms) -> DataFrame:
    """One row per LEO and HW in the line of a role, and per truncation to where the epoch began."""
    taken = roles(begun, forms)
    leads, back = F.col(N.TURN) == 0, F.col(N.OWN_LEO) > F.col(N.BEGIN)

    def said(kind: StatementKind, us: Column, offset: Column) -> Column:
        return F.struct(F.lit(kind.value).alias(C.KIND), us.alias("at"), offset.alias(C.OFFSET))

    role_us, leo, hw = F.col(N.US), F.col(N.OWN_LEO), F.col(N.BEGIN)
    cut_us = turn_us(forms, F.col(N.TURN) - 0.1, F.col(N.BACK))
    lines = F.array(
        F.when(leads, said(StatementKind.BECAME_LEADER_LEO, role_us, leo)),
        F.when(leads, said(StatementKind.BECAME_LEADER_HW, role_us, hw)),
        F.when(~leads, said(StatementKind.BECAME_FOLLOWER_LEO, role_us, leo)),
        F.when(~leads, said(StatementKind.BECAME_FOLLOWER_HW, role_us, hw)),
        F.when(back, said(StatementKind.TRUNCATED_TO, cut_us, hw)),
    )
    each = taken.withColumn("said", F.explode(F.array_compact(lines))).select("*", "said.*")
    return logged(each, forms, F.col("at"), F.col(N.TURN), "state-change.log").select(
        *_LOGGED, C.KIND, C.OFFSET, F.lit(NO_REPLICA).alias(C.REPLICA_ID)
    )
