"""Topic ids to names and back: a request says one of the two, an event has both (or an empty id before KIP-516)."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from schemas import columns as C
from schemas.files import FileKind
from sources.created_anew import SINCE, UNTIL
from sources.topic_ids import OWN

UNKNOWN_TOPIC_ID = "unknown topic id"


def with_topic(events: DataFrame, ids: DataFrame, time: Column | None = None) -> DataFrame:
    """The events with name and id, each from the other; the id a name meant at `time`, without one the last."""
    return events.transform(_with_name, ids).transform(_with_id, ids, time)


def of_known_topic(events: DataFrame) -> DataFrame:
    """The events whose topic has a name."""
    return events.where(F.col(C.TOPIC) != "")


def rejected_for_topic(events: DataFrame) -> DataFrame:
    """One row a line with an event of a topic id that nothing names, as `rejected_lines` has it."""
    return (
        events.where(F.col(C.TOPIC) == "")
        .groupBy(C.SOURCE_FILE, C.SOURCE_LINE, C.BROKER_ID)
        .agg(F.concat_ws(", ", F.array_sort(F.collect_set(C.TOPIC_ID))).alias("ids"))
        .select(
            C.BROKER_ID,
            F.lit(FileKind.REQUEST_LOG.value).alias(C.KIND),
            F.lit(UNKNOWN_TOPIC_ID).alias(C.REASON),
            F.concat(F.lit(f"{UNKNOWN_TOPIC_ID}: "), "ids").alias(C.LINE_TEXT),
            C.SOURCE_FILE,
            C.SOURCE_LINE,
        )
    )


def _with_name(events: DataFrame, ids: DataFrame) -> DataFrame:
    """The events with the name of their topic, by its id where that alone is told."""
    names = ids.select(C.TOPIC_ID, F.col(C.TOPIC).alias("name_of_id"))
    named = events.join(F.broadcast(names), C.TOPIC_ID, "left")
    name = F.when(F.col(C.TOPIC) != "", F.col(C.TOPIC)).otherwise(F.coalesce("name_of_id", F.lit("")))
    return named.withColumn(C.TOPIC, name).select(*events.columns)


def _with_id(events: DataFrame, ids: DataFrame, time: Column | None) -> DataFrame:
    """The events with the id of their topic: that which the name stood for at their time."""
    of_name = ids.select(F.col(C.TOPIC).alias("name"), F.col(C.TOPIC_ID).alias("id_of_name"), SINCE, UNTIL, OWN)
    holds = F.col(UNTIL).isNull()
    if time is not None:
        own = F.try_element_at(OWN, F.col(C.BROKER_ID))
        since = F.when(own.isNotNull(), own[SINCE]).otherwise(F.col(SINCE))
        until = F.when(own.isNotNull(), own[UNTIL]).otherwise(F.col(UNTIL))
        holds = (since.isNull() | (time >= since)) & (until.isNull() | (time < until))
    is_same = (F.col(C.TOPIC) == F.col("name")) & (F.col(C.TOPIC_ID) == "") & holds
    topic_id = F.when(F.col(C.TOPIC_ID) != "", F.col(C.TOPIC_ID)).otherwise(F.coalesce("id_of_name", F.lit("")))
    identified = events.join(F.broadcast(of_name), is_same, "left")
    return identified.withColumn(C.TOPIC_ID, topic_id).select(*events.columns)
