"""A broker's settings, by server.log: those it started with, those that changed, and the version of Kafka."""

from __future__ import annotations

import re

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from schemas import columns as C
from schemas import tables as T
from schemas.kinds import KAFKA_VERSION
from sources import outcomes
from sources.json_lines import BREAK
from sources.line_parts import BROKER_SETTINGS, CONFIG_HEADER, CONFIG_LINE, TOPIC_SETTINGS
from sources.line_patterns_of_server_log import SETTINGS_OF_TOPIC
from sources.log_lines import MESSAGE
from sources.worded import SETTING, WORDING, number, text


def setting_rows(parsed: DataFrame) -> DataFrame:
    """Rows of `settings`: of "KafkaConfig values" blocks, of changes, and the version of Kafka.

    A change of a topic prints all overrides there are: one that is not among them is not set, its value is NULL. So
    does a change of the dynamic settings of the cluster or of a broker, but what is not among them may be set in the
    broker's own file: that the block tells, which is logged again after each such change.
    """
    return _changed_settings(parsed).unionByName(_configured_settings(parsed)).unionByName(_blocks_of_settings(parsed))


def _changed_settings(parsed: DataFrame) -> DataFrame:
    """The settings that a change, a new log or the start of a process tells."""
    name = F.col(WORDING)["name"]
    broker = (
        F.when(name == "cluster's settings", C.NO_REPLICA)
        .when(name == "broker's settings", number("target").cast("int"))
        .otherwise(F.col(C.BROKER_ID))
    )
    return (
        outcomes.having(parsed, outcomes.LANDED)
        .where(F.col(WORDING).isNotNull())
        .select(
            broker.alias(C.BROKER_ID), F.coalesce(text("topic"), F.lit("")).alias(C.TOPIC), C.EVENT_TIME, *T.LINE,
            F.inline(_settings()),
        )
        .select(*T.SETTINGS.parsed)
    )  # fmt: skip


def _settings() -> Column:
    version = F.array(_named(KAFKA_VERSION, text("version")))
    overrides = F.array(*[_named(name, _override(name)) for name in TOPIC_SETTINGS])
    named = F.filter(overrides, lambda pair: pair[C.VALUE].isNotNull())
    return (
        F.when(text("version").isNotNull(), version)
        .when(F.col(WORDING)["name"] == SETTINGS_OF_TOPIC, overrides)
        .when(F.array_contains(F.col(WORDING)["fields"], "settings"), named)
    )


def _override(name: str) -> Column:
    pattern = r"(?:^|[\s{(,])" + name.replace(".", r"\.") + r"(?: -> |=)([^,})\s]+)"
    return F.nullif(F.regexp_extract(F.coalesce(text("settings"), F.lit("")), pattern, 1), F.lit(""))


def _named(name: str, value: Column) -> Column:
    return F.struct(F.lit(name).alias(C.NAME), value.alias(C.VALUE))


def _configured_settings(parsed: DataFrame) -> DataFrame:
    """The settings of "KafkaConfig values" blocks, at the time of the block's first line: its lines have none."""
    is_header = F.col(MESSAGE).contains(CONFIG_HEADER)
    above = Window.partitionBy(C.SOURCE_FILE, C.BROKER_ID).orderBy(C.SOURCE_LINE)
    before = above.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    return (
        parsed.where(is_header | F.col(SETTING).isNotNull())
        .withColumn("block_time", F.last(F.when(is_header, F.col(C.EVENT_TIME)), ignorenulls=True).over(before))
        .where(F.col(SETTING) != CONFIG_HEADER)
        .select(
            C.BROKER_ID, F.lit("").alias(C.TOPIC), F.col(SETTING).alias(C.NAME),
            F.regexp_extract(C.LINE_TEXT, CONFIG_LINE, 2).alias(C.VALUE), F.col("block_time").alias(C.EVENT_TIME),
            *T.LINE,
        )
        .select(*T.SETTINGS.parsed)
    )  # fmt: skip


def _blocks_of_settings(parsed: DataFrame) -> DataFrame:
    """The settings of such blocks that are one message, as collectors keep it."""
    settings = [_named(name, F.nullif(_in_block(name), F.lit(""))) for name in BROKER_SETTINGS]
    told = F.filter(F.array(*settings), lambda it: it[C.VALUE].isNotNull())
    return (
        parsed.where(F.col(SETTING) == CONFIG_HEADER)
        .withColumn("it", F.explode(told))
        .select(C.BROKER_ID, F.lit("").alias(C.TOPIC), "it.*", C.EVENT_TIME, *T.LINE)
        .select(*T.SETTINGS.parsed)
    )


def _in_block(name: str) -> Column:
    return F.regexp_extract(MESSAGE, rf"{BREAK}\s*{re.escape(name)} = ([^{BREAK}]*)", 1)
