"""When the ISR was too small for min.insync.replicas: because a replica left, or because the setting was changed."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from replay.brokers_rules import of_leader_at
from replay.findings.finding import finding, members, text, until
from replay.findings.isr_story import of_the_living
from replay.findings.suspects import WAS_UNDER_MIN_ISR
from replay.findings.told_epochs import LAST_OF_EPOCH, with_untold_epochs
from replay.high_watermark import capped
from replay.profile import Profile
from replay.settings import told_min_isrs
from replay.windows import FIRST, NOW
from schemas import columns as C
from schemas.columns import NO_REPLICA
from schemas.kinds import IncidentKind, Severity

_IS_SETTING, _REPLICAS = "is_setting", "replicas_assigned"
_KNOWN = (C.LEADER_EPOCH, C.EVENT_SEQ, C.LEADER_ID, C.CAPTURE_ID, C.ISR, _REPLICAS)


def with_changed(suspected: DataFrame, settings: DataFrame) -> DataFrame:
    """Return `suspects.suspects`, those too whose topic's min.insync.replicas is told to have been changed."""
    told = _told(settings).groupBy(C.CLUSTER_ID, C.TOPIC).agg(F.count_distinct(C.MIN_ISR).alias("values"))
    known = suspected.join(F.broadcast(told), [str(C.CLUSTER_ID), str(C.TOPIC)], "left")
    may_be = F.col(WAS_UNDER_MIN_ISR) | F.coalesce(F.col("values") > 1, F.lit(False))
    return known.withColumn(WAS_UNDER_MIN_ISR, may_be).drop("values")


def times_under_min_isr(
    leader_timeline: DataFrame, epochs: DataFrame, settings: DataFrame, profile: Profile
) -> DataFrame:
    """One row per stretch in which the committed ISR was smaller than the effective min.insync.replicas.

    A change of the topic's setting counts from its own time on (`Partition.isUnderMinIsr` reads it whenever it is
    asked, P:382): the leader's next event may be long after, for what is refused is none. While nobody leads nothing is
    refused; `epochs` is `told_epochs.told_epochs`.
    """
    events = with_untold_epochs(of_the_living(leader_timeline), epochs)
    rows = _with_changes(events, settings, profile).where(F.col(C.IS_UNDER_MIN_ISR).isNotNull())
    in_order = Window.partitionBy(*C.PARTITION_KEY).orderBy(*C.TIMELINE_ORDER, _IS_SETTING, C.EVENT_TIME)
    is_change = ~F.lag(C.IS_UNDER_MIN_ISR).over(in_order).eqNullSafe(F.col(C.IS_UNDER_MIN_ISR))
    changes = rows.withColumn("is_change", is_change).where("is_change")
    stretches = changes.withColumns(
        {C.STARTED_AT: F.col(C.EVENT_TIME), C.ENDED_AT: F.lead(C.EVENT_TIME).over(in_order)}
    ).where(C.IS_UNDER_MIN_ISR)
    evidence = text(
        "the ISR {} of leader {} was below min.insync.replicas {} {}: acks=all is refused",
        members(C.ISR), C.LEADER_ID, C.MIN_ISR, until(F.col(C.STARTED_AT), F.col(C.ENDED_AT)),
    )  # fmt: skip
    return finding(stretches, IncidentKind.UNDER_MIN_ISR, Severity.WARNING, evidence)


def _told(settings: DataFrame) -> DataFrame:
    """One row per line that tells a topic's own setting: whose it is, when, and `min_isr`; a removed one is none."""
    told = told_min_isrs(settings).where(F.col(C.TOPIC) != "").withColumnRenamed("value", C.MIN_ISR)
    return told.select(C.CLUSTER_ID, C.TOPIC, C.EVENT_TIME, C.BROKER_ID, C.MIN_ISR).where(F.col(C.MIN_ISR).isNotNull())


def _with_changes(leader_timeline: DataFrame, settings: DataFrame, profile: Profile) -> DataFrame:
    """Return what was known of the ISR after each event, and after each change of the setting its leader heard of."""
    nobody_leads = F.col(C.EVENT_SEQ) == LAST_OF_EPOCH
    known = leader_timeline.where(F.col(C.ISR).isNotNull() | nobody_leads)
    is_under = F.when(nobody_leads, F.lit(False)).otherwise(F.col(C.IS_UNDER_MIN_ISR)).alias(C.IS_UNDER_MIN_ISR)
    events = known.select(
        *C.PARTITION_KEY, C.EVENT_TIME, is_under, C.MIN_ISR, F.lit(0).alias(_IS_SETTING),
        C.LEADER_EPOCH, C.EVENT_SEQ, C.LEADER_ID, C.CAPTURE_ID, C.ISR, (F.size(C.REMOTE_LEO_MAP) + 1).alias(_REPLICAS),
    )  # fmt: skip
    told = _told(settings).where(F.col(C.EVENT_TIME).isNotNull()).withColumn(_IS_SETTING, F.lit(1))
    partitions = events.select(*C.PARTITION_KEY).distinct()
    changes = partitions.join(F.broadcast(told), [str(C.CLUSTER_ID), str(C.TOPIC)])
    in_time = Window.partitionBy(*C.PARTITION_KEY).orderBy(C.EVENT_TIME, _IS_SETTING, C.LEADER_EPOCH, C.EVENT_SEQ)
    last = F.last(F.when(F.col(_IS_SETTING) == 0, F.struct(*_KNOWN)), ignorenulls=True).over(
        in_time.rowsBetween(FIRST, NOW)
    )
    both = events.unionByName(changes, allowMissingColumns=True).withColumn("last", last)
    is_event = F.col(_IS_SETTING) == 0
    heard = F.col(C.BROKER_ID).isin(NO_REPLICA) | (F.col(C.BROKER_ID) == F.col("last")[C.LEADER_ID])
    placed = both.where(is_event | heard).withColumns({c: F.col("last")[c] for c in _KNOWN})
    return _judged(placed.where(F.col(C.LEADER_EPOCH).isNotNull()), profile, is_event)


def _judged(placed: DataFrame, profile: Profile, is_event: Column) -> DataFrame:
    """Return the rows, those of changes with the effective min ISR, and whether the ISR is under it."""
    rules = of_leader_at(profile, F.col(C.LEADER_ID), F.unix_micros(C.EVENT_TIME))
    effective = capped(F.col(C.MIN_ISR), F.col(_REPLICAS), rules)
    return placed.withColumns(
        {
            C.MIN_ISR: F.when(is_event, F.col(C.MIN_ISR)).otherwise(effective),
            C.IS_UNDER_MIN_ISR: F.when(is_event, F.col(C.IS_UNDER_MIN_ISR)).otherwise(F.size(C.ISR) < effective),
        }
    )
