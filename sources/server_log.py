"""A broker's own words on offsets, by server.log and state-change.log."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from schemas import columns as C
from schemas import tables as T
from schemas.kinds import StatementKind
from sources import outcomes
from sources.line_parts import FETCHER_STARTS, FETCHER_STARTS_BEFORE_2_7, LAGGARD
from sources.worded import TOLD, WORDING, number, text

STATED = (C.KIND, C.TOPIC, C.TOPIC_ID, C.PARTITION, C.LEADER_EPOCH, C.OFFSET, C.REPLICA_ID)


def statement_rows(parsed: DataFrame) -> DataFrame:
    """Rows of `broker_statements`: one line may state several offsets, of several partitions."""
    stated = F.concat(_statements(), _laggards(), _fetcher_starts(), _fetcher_starts_before_2_7())
    return (
        outcomes.having(parsed, outcomes.LANDED)
        .where(F.col(WORDING).isNotNull())
        .select(C.BROKER_ID, C.EVENT_TIME, *T.LINE, F.inline(stated))
        .select(*T.BROKER_STATEMENTS.parsed)
    )


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
