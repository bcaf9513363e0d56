"""When the ISR was too small for min.insync.replicas: because a replica left, or because the setting was changed."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from replay.brokers_rules import of_leader_at
from replay.events.leaderships import START_US
from replay.findings.finding import finding, members, text, until
from replay.findings.isr_story import of_the_living
from replay.findings.suspects import WAS_UNDER_MIN_ISR
from replay.findings.told_epochs import LAST_OF_EPOCH, with_untold_epochs
from replay.high_watermark import capped
from replay.profile import Profile
from replay.settings import min_isr, told_min_isrs, with_min_isr_changes
from replay.windows import FIRST, NOW
from schemas import columns as C
from schemas import tables as T
from schemas.columns import NO_REPLICA
from schemas.kinds import IncidentKind, Severity

_IS_SETTING, _REPLICAS = "is_setting", "replicas_assigned"
_LINES, _IS_DEFAULT = "lines", "is_default"
"""array<struct<event_time,broker_id,value,is_default>>: what tells of the topic's setting, or of a default."""
_NONE = -1
"""Of a setting that is removed, or a default that no line tells."""
_KNOWN = (C.LEADER_EPOCH, C.EVENT_SEQ, C.LEADER_ID, C.CAPTURE_ID, C.ISR, _REPLICAS)


def with_changed(suspected: DataFrame, settings: DataFrame, led: DataFrame) -> DataFrame:
    """Return `suspects.suspects`, those too whose min.insync.replicas is told to have been changed.

    It may be the topic's own, or the default of brokers, told after the first leadership of the cluster began: `led` is
    `spans.spans`. A default that no line tells is another one.
    """
    begun = led.groupBy(C.CLUSTER_ID).agg(F.min(C.STARTED_AT).alias("begun"))
    known = _with_lines(suspected, settings).join(F.broadcast(begun), str(C.CLUSTER_ID), "left")
    is_late = F.exists(_LINES, lambda it: F.coalesce(it[C.EVENT_TIME] > F.col("begun"), F.lit(False)))
    untold = F.when(F.exists(_LINES, lambda it: it[_IS_DEFAULT]), F.expr(C.NOBODY)).otherwise(F.array(F.lit(_NONE)))
    values = F.array_union(F.transform(_LINES, lambda it: F.coalesce(it["value"], F.lit(_NONE))), untold)
    may_be = F.col(WAS_UNDER_MIN_ISR) | (is_late & (F.size(values) > 1))
    return known.withColumn(WAS_UNDER_MIN_ISR, may_be).select(*suspected.columns)


def _with_lines(partitions: DataFrame, settings: DataFrame) -> DataFrame:
    """Return the partitions with `_LINES`; those of defaults concern every topic of the cluster."""
    of_cluster, of_topic = [str(C.CLUSTER_ID)], [str(C.CLUSTER_ID), str(C.TOPIC)]
    is_default = F.col(C.TOPIC) == ""
    told = told_min_isrs(settings).withColumn(_IS_DEFAULT, is_default)
    lines = F.collect_set(F.struct(C.EVENT_TIME, C.BROKER_ID, "value", _IS_DEFAULT))
    own = told.where(~is_default).groupBy(*of_topic).agg(lines.alias("own"))
    defaults = told.where(is_default).groupBy(*of_cluster).agg(lines.alias("defaults"))
    both = partitions.join(F.broadcast(own), of_topic, "left").join(F.broadcast(defaults), of_cluster, "left")
    known = both.withColumn(_LINES, F.flatten(F.array_compact(F.array("own", "defaults"))))
    return known.drop("own", "defaults")


def times_under_min_isr(
    leader_timeline: DataFrame, epochs: DataFrame, landed: Mapping[str, DataFrame], profile: Profile
) -> DataFrame:
    """One row per stretch in which the committed ISR was smaller than the effective min.insync.replicas.

    A change of the topic's setting, or of the default, counts from its own time on (`Partition.isUnderMinIsr` reads it
    whenever it is asked, P:382): the leader's next event may be long after, for what is refused is none. While nobody
    leads nothing is refused; `epochs` is `told_epochs.with_deletions`.
    """
    events = with_untold_epochs(of_the_living(leader_timeline), epochs)
    rows = _with_changes(events, landed, profile).where(F.col(C.IS_UNDER_MIN_ISR).isNotNull())
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


def _changes(partitions: DataFrame, landed: Mapping[str, DataFrame]) -> DataFrame:
    """One row per partition and line that tells its topic's setting or a default: whose it is, and what bears on it.

    `partitions` has `incarnations`, when the first leadership began.
    """
    settings = landed[T.SETTINGS.name]
    known = with_min_isr_changes(partitions, settings, landed[T.BROKER_STATEMENTS.name])
    told = _with_lines(known, settings).withColumn("line", F.explode(_LINES))
    its = told.select("*", f"line.{C.EVENT_TIME}", f"line.{C.BROKER_ID}").where(F.col(C.EVENT_TIME).isNotNull())
    return its.drop("line", _LINES, "incarnations").withColumn(_IS_SETTING, F.lit(1))


def _with_changes(leader_timeline: DataFrame, landed: Mapping[str, DataFrame], profile: Profile) -> DataFrame:
    """Return what was known of the ISR after each event, and after each line of the setting that its leader wrote."""
    nobody_leads = F.col(C.EVENT_SEQ) == LAST_OF_EPOCH
    known = leader_timeline.where(F.col(C.ISR).isNotNull() | nobody_leads)
    is_under = F.when(nobody_leads, F.lit(False)).otherwise(F.col(C.IS_UNDER_MIN_ISR)).alias(C.IS_UNDER_MIN_ISR)
    events = known.select(
        *C.PARTITION_KEY, C.EVENT_TIME, is_under, C.MIN_ISR, F.lit(0).alias(_IS_SETTING),
        C.LEADER_EPOCH, C.EVENT_SEQ, C.LEADER_ID, C.CAPTURE_ID, C.ISR, (F.size(C.REMOTE_LEO_MAP) + 1).alias(_REPLICAS),
    )  # fmt: skip
    begun = F.array(F.struct(F.unix_micros(F.min(C.EVENT_TIME)).alias(START_US)))
    changes = _changes(events.groupBy(*C.PARTITION_KEY).agg(begun.alias("incarnations")), landed)
    in_time = Window.partitionBy(*C.PARTITION_KEY).orderBy(C.EVENT_TIME, _IS_SETTING, C.LEADER_EPOCH, C.EVENT_SEQ)
    last = F.last(F.when(F.col(_IS_SETTING) == 0, F.struct(*_KNOWN)), ignorenulls=True).over(
        in_time.rowsBetween(FIRST, NOW)
    )
    both = events.unionByName(changes, allowMissingColumns=True).withColumn("last", last)
    is_event = F.col(_IS_SETTING) == 0
    is_told = F.col(C.BROKER_ID).isin(NO_REPLICA) | (F.col(C.BROKER_ID) == F.col("last")[C.LEADER_ID])
    heard = is_told & (F.col("last")[C.EVENT_SEQ] != LAST_OF_EPOCH)
    placed = both.where(is_event | heard).withColumns({c: F.col("last")[c] for c in _KNOWN})
    return _judged(placed.where(F.col(C.LEADER_EPOCH).isNotNull()), profile, is_event)


def _judged(placed: DataFrame, profile: Profile, is_event: Column) -> DataFrame:
    """Return the rows, those of changes with the effective min ISR, and whether the ISR is under it."""
    rules = of_leader_at(profile, F.col(C.LEADER_ID), F.unix_micros(C.EVENT_TIME))
    value = min_isr(F.unix_micros(C.EVENT_TIME), F.col(C.LEADER_ID))
    effective = F.when(value >= 0, capped(value, F.col(_REPLICAS), rules))
    return placed.withColumns(
        {
            C.MIN_ISR: F.when(is_event, F.col(C.MIN_ISR)).otherwise(effective),
            C.IS_UNDER_MIN_ISR: F.when(is_event, F.col(C.IS_UNDER_MIN_ISR)).otherwise(F.size(C.ISR) < effective),
        }
    )
