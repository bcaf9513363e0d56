"""Which topic id a name meant, from when to when, and at which broker."""

from __future__ import annotations

from functools import reduce

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from schemas import columns as C
from sources.created_anew import SINCE, UNTIL, has_no_id

OWN = "own"
_TOLD = "told"
_FIRST_SEEN = "first_seen"
_OF_NAME = (_FIRST_SEEN, C.TOPIC_ID)


def topic_ids(*changes: DataFrame) -> DataFrame:
    """One row a topic id: its name, and from when to when the name meant it; the first id of a name has no start.

    `own` (map of brokers to structs of `since` and `until`) has when it did at a broker that tells of ids itself: one
    that was frozen while a topic was deleted and created anew goes on with the log of the old one when it thaws, until
    it has caught up with the metadata.
    """
    first_seen = _first_seen(reduce(DataFrame.unionByName, map(_naming, changes)))
    ids_of_name = Window.partitionBy(C.TOPIC).orderBy(*_OF_NAME)
    is_first = F.row_number().over(ids_of_name) == 1
    meant = first_seen.withColumns(
        {SINCE: F.when(~is_first, F.col(_FIRST_SEEN)), UNTIL: F.lead(_FIRST_SEEN).over(ids_of_name)}
    )
    of_broker = F.when(F.col(C.BROKER_ID).isNotNull(), F.struct(C.BROKER_ID, OWN))
    return (
        _at_each_broker(meant)
        .groupBy(C.TOPIC, C.TOPIC_ID, SINCE, UNTIL)
        .agg(F.map_from_entries(F.collect_list(of_broker)).alias(OWN))
    )


def _naming(told: DataFrame) -> DataFrame:
    """What rows tell of topics and ids: when, and which broker does, but where a table is of no broker."""
    broker = F.col(C.BROKER_ID) if C.BROKER_ID in told.columns else F.lit(None).cast("int").alias(C.BROKER_ID)
    return told.where((F.col(C.TOPIC) != "") & ~has_no_id()).select(C.TOPIC, C.TOPIC_ID, broker, C.EVENT_TIME)


def _first_seen(naming: DataFrame) -> DataFrame:
    """One row a topic id: its name, when it is `first_seen`, and when it was `told` (map of brokers to times)."""
    by_broker = naming.groupBy(C.TOPIC_ID, C.BROKER_ID).agg(
        F.min(C.TOPIC).alias(C.TOPIC), F.min(C.EVENT_TIME).alias("at")
    )
    own = F.when(F.col(C.BROKER_ID).isNotNull() & F.col("at").isNotNull(), F.struct(C.BROKER_ID, "at"))
    return by_broker.groupBy(C.TOPIC_ID).agg(
        F.min(C.TOPIC).alias(C.TOPIC),
        F.min("at").alias(_FIRST_SEEN),
        F.map_from_entries(F.collect_list(own)).alias(_TOLD),
    )


def _at_each_broker(meant: DataFrame) -> DataFrame:
    """One row an id and broker that tells of ids of its name, with `own`; without such brokers one an id.

    Its own word counts if it told of another id before: its log may begin later than the topic.
    """
    of_topic = Window.partitionBy(C.TOPIC).rowsBetween(Window.unboundedPreceding, Window.unboundedFollowing)
    at_broker = Window.partitionBy(C.TOPIC, C.BROKER_ID).orderBy(*_OF_NAME)
    told_at: Column = F.try_element_at(F.col(_TOLD), F.col(C.BROKER_ID))
    told_another = F.count(told_at).over(at_broker.rowsBetween(Window.unboundedPreceding, -1)) > 0
    so_far = at_broker.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    return (
        meant.withColumn("tellers", F.collect_list(F.map_keys(_TOLD)).over(of_topic))
        .withColumn(C.BROKER_ID, F.explode_outer(F.array_distinct(F.flatten("tellers"))))
        .withColumn("own_word", F.when(told_another, told_at))
        .withColumn("own_since", F.greatest(F.max("own_word").over(so_far), SINCE))
        .withColumn(OWN, F.struct(F.col("own_since").alias(SINCE), F.lead("own_since").over(at_broker).alias(UNTIL)))
    )
