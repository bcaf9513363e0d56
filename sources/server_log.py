"""A broker's own words on offsets, and its settings, by server.log and state-change.log."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from schemas import columns as C
from schemas import tables as T
from schemas.kinds import StatementKind
from sources import outcomes
from sources.line_parts import (
    CONFIG_HEADER,
    CONFIG_LINE,
    FETCHER_STARTS,
    FETCHER_STARTS_BEFORE_2_7,
    LAGGARD,
    TOPIC_SETTINGS,
)
from sources.log_lines import MESSAGE
from sources.worded import SETTING, TOLD, WORDING, number, text

STATED = (C.KIND, C.TOPIC, C.TOPIC_ID, C.PARTITION, C.LEADER_EPOCH, C.OFFSET, C.REPLICA_ID)

KAFKA_VERSION = "kafka.version"
"""The setting that "Kafka version: …" gives: no setting of Kafka, but as good as one."""


def statement_rows(parsed: DataFrame) -> DataFrame:
    """Rows of `broker_statements`: one line may state several offsets, of several partitions."""
    stated = F.concat(_statements(), _laggards(), _fetcher_starts(), _fetcher_starts_before_2_7())
    return (
        outcomes.having(parsed, outcomes.LANDED)
        .where(F.col(WORDING).isNotNull())
        .select(C.BROKER_ID, C.EVENT_TIME, *T.LINE, F.inline(stated))
        .select(*T.BROKER_STATEMENTS.parsed)
    )


def setting_rows(parsed: DataFrame) -> DataFrame:
    """Rows of `settings`: of "KafkaConfig values" blocks, of changes, and the version of Kafka.

    A change prints all overrides there are: one that is not among them is not set, its value is NULL.
    """
    return _changed_settings(parsed).unionByName(_configured_settings(parsed))


def _statements() -> Column:
    """The statements that the line's wording lists, each with the offset of the field that it names."""
    # "the largest offset in the log is M": the LEO is M + 1.
    leo = number("last_offset") + 1
    return F.transform(
        F.col(WORDING)["states"],
        lambda state: _stated(
            state["kind"], text("topic"), text("topic_id"), number("partition"), number("leader_epoch"),
            F.when(state["field"] == "last_offset", leo)
            .otherwise(F.try_element_at(TOLD, state["field"]).try_cast("bigint")),
        ),
    )  # fmt: skip


def _stated(
    kind: Column, topic: Column, topic_id: Column, partition: Column, leader_epoch: Column, offset: Column,
    replica_id: Column | None = None,
) -> Column:  # fmt: skip
    """One statement, with every column's type and its unknown value."""
    nothing, unknown = F.lit(""), F.lit(-1)
    values = (
        kind, F.coalesce(topic, nothing), F.coalesce(topic_id, nothing), F.coalesce(partition, unknown),
        F.coalesce(leader_epoch, unknown), F.coalesce(offset, unknown), unknown if replica_id is None else replica_id,
    )  # fmt: skip
    return F.struct(*[value.cast(c.type).alias(c) for c, value in zip(STATED, values, strict=True)])


def _laggards() -> Column:
    """The remote LEOs of the replicas that are to leave the ISR."""
    kind = F.lit(StatementKind.SHRINKING_REMOTE_LEO.value)
    pairs = F.arrays_zip(*_groups("laggards", LAGGARD, "replica", "leo"))
    return F.transform(pairs, lambda pair: _stated(
        kind, text("topic"), text("topic_id"), number("partition"), number("leader_epoch"),
        pair["leo"].try_cast("bigint"), pair["replica"].try_cast("int"),
    ))  # fmt: skip


def _fetcher_starts() -> Column:
    names = ("topic", "partition", "topic_id", "epoch", "offset")
    return _starts(F.arrays_zip(*_groups("fetchers", FETCHER_STARTS, *names)))


def _fetcher_starts_before_2_7() -> Column:
    zipped = F.arrays_zip(*_groups("fetchers", FETCHER_STARTS_BEFORE_2_7, "topic", "partition", "offset", "epoch"))
    return _starts(F.transform(zipped, lambda start: start.withField("topic_id", F.lit(""))))


def _starts(starts: Column) -> Column:
    kind = F.lit(StatementKind.FETCHER_START.value)
    return F.transform(starts, lambda start: _stated(
        kind, start["topic"], start["topic_id"], start["partition"].try_cast("int"),
        start["epoch"].try_cast("int"), start["offset"].try_cast("bigint"),
    ))  # fmt: skip


def _groups(field: str, regex: str, *names: str) -> list[Column]:
    """Of each group of the expression, what it matched in the field: all matches in order, none without the field."""
    searched = F.coalesce(text(field), F.lit(""))
    return [
        F.regexp_extract_all(searched, F.lit(regex), F.lit(index)).alias(name) for index, name in enumerate(names, 1)
    ]


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
        .when(F.col(WORDING)["name"] == "log created", named)
        .when(F.array_contains(F.col(WORDING)["fields"], "settings"), overrides)
    )


def _override(name: str) -> Column:
    pattern = r"(?:^|[\s{(,])" + name.replace(".", r"\.") + r"(?: -> |=)([^,})\s]+)"
    return F.nullif(F.regexp_extract(F.coalesce(text("settings"), F.lit("")), pattern, 1), F.lit(""))


def _named(name: str, value: Column) -> Column:
    return F.struct(F.lit(name).alias(C.NAME), value.alias(C.VALUE))


def _configured_settings(parsed: DataFrame) -> DataFrame:
    """The settings of "KafkaConfig values" blocks, at the time of the block's first line: its lines have none."""
    is_header = F.col(MESSAGE).contains(CONFIG_HEADER)
    above = Window.partitionBy(C.SOURCE_FILE).orderBy(C.SOURCE_LINE)
    before = above.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    return (
        parsed.where(is_header | F.col(SETTING).isNotNull())
        .withColumn("block_time", F.last(F.when(is_header, F.col(C.EVENT_TIME)), ignorenulls=True).over(before))
        .where(F.col(SETTING).isNotNull())
        .select(
            C.BROKER_ID, F.lit("").alias(C.TOPIC), F.col(SETTING).alias(C.NAME),
            F.regexp_extract(C.LINE_TEXT, CONFIG_LINE, 2).alias(C.VALUE), F.col("block_time").alias(C.EVENT_TIME),
            *T.LINE,
        )
        .select(*T.SETTINGS.parsed)
    )  # fmt: skip
