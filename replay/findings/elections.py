"""Elections: who was elected to which epoch and how, and the times when nobody led."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from replay.findings.finding import finding, text, until
from replay.findings.losses import silent_epochs
from replay.findings.spans import END_ISR, NUMBER, START_HW, START_ISR, START_LEO
from replay.findings.unclean import IS_ELECTED_UNCLEANLY, IS_RECOVERING, holds, said_unclean
from replay.windows import FIRST
from schemas import columns as C
from schemas import tables as T
from schemas.columns import NO_REPLICA
from schemas.kinds import IncidentKind, Severity, StatementKind

IS_UNCLEAN = str(C.IS_UNCLEAN)
"""boolean: elected from outside the ISR; NULL where nothing tells. Here also where it is inferred."""
_IS_STATED = "is_said_unclean"


def elections(landed: Mapping[str, DataFrame], led: DataFrame) -> DataFrame:
    """One row per leader epoch after the partition's first, with `is_unclean`; `led` is `spans.spans`.

    Metadata says it (`unclean`). Where nothing does (ZooKeeper), a leader that was in no ISR its predecessor
    knew of, and begins as the ISR's only member, was elected uncleanly (`Election.leaderForOffline`: the ISR becomes
    the leader alone). If a leader in between gave the capture no file, the ISR that it left is not known.
    """
    said = said_unclean(landed[T.METADATA_CHANGES.name], landed[T.LEADER_CHANGES.name])
    in_order = Window.partitionBy(*C.PARTITION_KEY).orderBy(C.LEADER_EPOCH, NUMBER)
    silent = silent_epochs(landed, led).groupBy(*C.PARTITION_KEY)
    silents = silent.agg(F.collect_list(f"silent.{C.LEADER_EPOCH}").alias("silents"))
    told = led.join(said, C.on_partition(C.LEADER_EPOCH), "left").join(silents, C.on_partition(), "left")
    known = told.withColumns(
        {
            "isr_before": F.lag(END_ISR).over(in_order),
            "leader_before": F.lag(C.LEADER_ID).over(in_order),
            "epoch_before": F.lag(C.LEADER_EPOCH).over(in_order),
            "is_recovering_anew": ~F.lag(IS_RECOVERING).over(in_order)
            & (F.lag(C.LEADER_EPOCH).over(in_order) == F.col(C.LEADER_EPOCH) - 1),
        }
    )
    alone = F.col(START_ISR) == F.array(C.LEADER_ID)
    between = F.exists("silents", lambda it: (it > F.col("epoch_before")) & (it < F.col(C.LEADER_EPOCH)))
    is_heard = ~F.coalesce(between, F.lit(False))
    outside = F.when(is_heard, ~F.array_contains("isr_before", F.col(C.LEADER_ID)) & alone)
    # What was said within the epoch alone may be of an earlier election, but for one right after an epoch without it.
    may_be = F.coalesce("is_recovering_anew", F.lit(False)) | ~holds("isr_before", str(C.LEADER_ID))
    return (
        known.where(F.col(NUMBER) == 1)
        .withColumn(_IS_STATED, F.coalesce(IS_ELECTED_UNCLEANLY, F.col(IS_RECOVERING) & may_be))
        .withColumn(IS_UNCLEAN, F.coalesce(_IS_STATED, outside))
        .where(F.col("leader_before").isNotNull())
    )


def unclean_elections(elected: DataFrame) -> DataFrame:
    """One row per unclean election; it need not have lost anything."""
    how = F.when(F.col(_IS_STATED), "metadata says so").otherwise("inferred: no line says how it was elected")
    joining = F.when(holds("isr_before", str(C.LEADER_ID)), " with it, for it was to join").otherwise("")
    evidence = text(
        "leader {} of epoch {} was elected from outside the ISR, which leader {} knew as {}{}; it began at {}, HW {};"
        " {}",
        C.LEADER_ID, C.LEADER_EPOCH, "leader_before", members("isr_before"), joining, START_LEO, START_HW, how,
    )  # fmt: skip
    rows = elected.where(IS_UNCLEAN).withColumn(C.ENDED_AT, F.lit(None))
    return finding(rows, IncidentKind.UNCLEAN_ELECTION, Severity.CRITICAL, evidence, replica_id=F.col(C.LEADER_ID))


def members(replicas: Column | str) -> Column:
    """Return an array of replica ids as words."""
    return F.concat(F.lit("["), F.array_join(F.array_sort(replicas).cast("array<string>"), ", "), F.lit("]"))


def regressions(led: DataFrame) -> DataFrame:
    """One row per leadership that began with a lower HW than an earlier one had reached.

    After a clean election this is normal: a follower learns of the HW one fetch later (BecomeLeader of
    `KafkaReplication.tla`: "typically behind the 'true' high watermark"). It matters where the new leader's log is
    shorter than that HW.
    """
    in_order = Window.partitionBy(*C.PARTITION_KEY).orderBy(C.LEADER_EPOCH, NUMBER)
    known = led.withColumns(
        {
            "reached": F.max(C.HIGH_WATERMARK).over(in_order.rowsBetween(FIRST, -1)),
            # It is made good when a leadership has reached it again: later ones are not compared with time.
            C.ENDED_AT: F.lit(None),
        }
    ).where((F.col(START_HW) >= 0) & (F.col(START_HW) < F.col("reached")))
    is_short = F.col(START_LEO) < F.col("reached")
    severity = F.when(is_short, Severity.WARNING.value).otherwise(Severity.INFO.value)
    evidence = F.concat(
        text("leader {} of epoch {} began at HW {}, a leader before had reached {}; its LEO was {}",
             C.LEADER_ID, C.LEADER_EPOCH, START_HW, "reached", START_LEO),
        F.when(is_short, "; the records between are not in its log")
        .when(is_short.isNull(), "; no line tells whether it held the records between")
        .otherwise("; it held the records between"),
    )  # fmt: skip
    offsets = (F.col(START_HW), F.col("reached"))
    kind = IncidentKind.HIGH_WATERMARK_REGRESSED
    return finding(known, kind, severity, evidence, replica_id=F.col(C.LEADER_ID), offsets=offsets)


def times_without_leader(landed: Mapping[str, DataFrame]) -> DataFrame:
    """One row per stretch in which nobody led: from an epoch with leader -1 to the next with a leader.

    After the last in-sync replica was told to stop it is what somebody wanted, and only information.
    """
    changes = [landed[name] for name in (T.METADATA_CHANGES.name, T.LEADER_CHANGES.name)]
    told = [
        rows.select(*C.PARTITION_KEY, C.CAPTURE_ID, C.LEADER_EPOCH, C.LEADER_ID, C.EVENT_TIME).where(
            F.col(C.LEADER_ID).isNotNull() & (F.col(C.LEADER_EPOCH) >= 0)
        )
        for rows in changes
    ]
    per_epoch = (
        told[0]
        .unionByName(told[1])
        .groupBy(*C.PARTITION_KEY, C.LEADER_EPOCH)
        .agg(
            F.min(C.CAPTURE_ID).alias(C.CAPTURE_ID),
            F.max(C.LEADER_ID).alias(C.LEADER_ID),
            F.min(C.EVENT_TIME).alias(C.STARTED_AT),
        )
    )
    in_order = Window.partitionBy(*C.PARTITION_KEY).orderBy(C.LEADER_EPOCH)
    led_by = F.when(F.col(C.LEADER_ID) >= 0, F.col(C.LEADER_ID))
    known = per_epoch.withColumns(
        {
            "last_leader": F.last(led_by, ignorenulls=True).over(in_order.rowsBetween(FIRST, -1)),
            "is_begin": F.lag(C.LEADER_ID).over(in_order) != NO_REPLICA,
            C.ENDED_AT: F.first(F.when(led_by.isNotNull(), F.col(C.STARTED_AT)), ignorenulls=True).over(
                in_order.rowsBetween(1, Window.unboundedFollowing)
            ),
        }
    )
    gaps = known.where((F.col(C.LEADER_ID) == NO_REPLICA) & F.coalesce("is_begin", F.lit(True)))
    return _no_leader(gaps.join(_stops(landed), [str(C.CLUSTER_ID), "last_leader"], "left"))


def _stops(landed: Mapping[str, DataFrame]) -> DataFrame:
    """One row per broker that began a controlled shutdown: the times."""
    stopping = landed[T.BROKER_STATEMENTS.name].where(F.col(C.KIND) == StatementKind.PROCESS_STOPPING.value)
    return stopping.groupBy(C.CLUSTER_ID, F.col(C.BROKER_ID).alias("last_leader")).agg(
        F.collect_list(C.EVENT_TIME).alias("stops")
    )


def _no_leader(gaps: DataFrame) -> DataFrame:
    """One finding per stretch in which nobody led."""
    # The controller moves the leader within the shutdown (controlled.shutdown.*), a minute is far more than it takes.
    near = F.expr("INTERVAL 60 SECONDS")
    is_planned = F.coalesce(
        F.exists("stops", lambda at: (at <= F.col(C.STARTED_AT) + near) & (at >= F.col(C.STARTED_AT) - near)),
        F.lit(False),
    )
    severity = F.when(is_planned, Severity.INFO.value).otherwise(Severity.CRITICAL.value)
    lasted = until(F.col(C.STARTED_AT), F.col(C.ENDED_AT))
    evidence = F.concat(
        text("no leader from epoch {} on, {}; the last was {}", C.LEADER_EPOCH, lasted, "last_leader"),
        F.when(is_planned, ", which was told to stop").otherwise(""),
    )
    return finding(gaps, IncidentKind.NO_LEADER, severity, evidence)
