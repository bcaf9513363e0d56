"""What a fetch request and its response name: one row for each time that one of them names a partition."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, StructType

from schemas import columns as C
from schemas.columns import UNKNOWN_OFFSET
from sources import request_log
from sources.fetch_requests import unknown
from sources.numbered import each_below
from sources.request_schema import ANSWERED_TOPICS, FETCHED_TOPICS

FORGOTTEN, LISTED, ANSWERED = 0, 1, 2
"""What names a partition: the request's `forgottenTopicsData`, its `topics`, or the response."""

NAMING = {FORGOTTEN: "forgotten", LISTED: "listed", ANSWERED: "answered"}
"""The columns of `fetch_requests` that they are."""

PARAMS = (C.FETCH_OFFSET, C.CURRENT_LEADER_EPOCH, C.LAST_FETCHED_EPOCH, C.LOG_START_OFFSET)
"""What a session remembers of a partition from the last request that listed it."""

ANSWER = (
    C.ERROR_CODE, C.RECORDS_SIZE, C.RESPONSE_HIGH_WATERMARK, C.RESPONSE_LAST_STABLE_OFFSET,
    C.RESPONSE_LOG_START_OFFSET, C.DIVERGING_EPOCH, C.DIVERGING_END_OFFSET,
)  # fmt: skip
"""What a response says of a partition it lists."""


def by_name(requests: DataFrame) -> DataFrame:
    """The requests, a row per naming: `named_by`, `topic_id`, `topic`, `partition`, `asked` and `answered`.

    `asked` is NULL in an answer; its only field is the partition as the request lists it, NULL where it is forgotten.
    `answered` is the partition as the response lists it, NULL in a request. `params` and `answer` read them: where rows
    are made the code would be longer than what Java compiles.
    """
    others = [c for c in requests.columns if c not in NAMING.values()]
    which = F.array(*[F.when(F.array_size(column) > 0, named_by) for named_by, column in NAMING.items()])
    namings = requests.select("*", F.explode(which).alias("named_by")).where(F.col("named_by").isNotNull())
    topics = namings.select("*", each_below(_of_naming(F.array_size)).alias("number")).select(
        *others, "named_by",
        request_log.topic_id(_of_naming(lambda column: _numbered(column)["topicId"])).alias(C.TOPIC_ID),
        F.coalesce(_of_naming(lambda column: _numbered(column)["topic"]), F.lit("")).alias(C.TOPIC),
        *[F.when(_is(by), _partitions(by)).alias(column) for by, column in NAMING.items()],
    )  # fmt: skip
    return topics.select("*", each_below(_of_naming(F.array_size)).alias("number")).select(
        *others, "named_by", C.TOPIC_ID, C.TOPIC, _partition().alias(C.PARTITION),
        F.when(~_is(ANSWERED), F.struct(_numbered("listed").alias("listed"))).alias("asked"),
        _numbered("answered").alias("answered"),
    )  # fmt: skip


def states_ids() -> Column:
    """Return whether a request names partitions by topic id; NULL where it names none."""
    first = F.coalesce(F.get("listed", 0)["topicId"], F.get("forgotten", 0)["topicId"])
    names_some = (F.array_size("listed") > 0) | (F.array_size("forgotten") > 0)
    return F.when(names_some, request_log.topic_id(first) != "")


def as_if_listed() -> Column:
    """Return, of rows that each have a partition's topic and params, all of them as the topics of one request."""
    return _topics(
        FETCHED_TOPICS,
        partition=F.col(C.PARTITION),
        currentLeaderEpoch=F.col(C.CURRENT_LEADER_EPOCH),
        fetchOffset=F.col(C.FETCH_OFFSET),
        lastFetchedEpoch=F.col(C.LAST_FETCHED_EPOCH),
        logStartOffset=F.col(C.LOG_START_OFFSET),
    )


def as_if_answered() -> Column:
    """Return, of the same rows, what their session was told last of each partition as the topics of one response."""
    told = F.nullif(C.SESSION_HIGH_WATERMARK, F.lit(UNKNOWN_OFFSET))
    return _topics(ANSWERED_TOPICS, partitionIndex=F.col(C.PARTITION), highWatermark=told)


def _topics(many: ArrayType, **of_partition: Column) -> Column:
    """All rows as such topics, of one partition each; what is not given is NULL."""
    topic = cast("StructType", many.elementType)
    partitions = cast("ArrayType", topic["partitions"].dataType)
    partition = _filled(cast("StructType", partitions.elementType), **of_partition)
    return F.collect_list(
        _filled(topic, topic=F.col(C.TOPIC), topicId=F.col(C.TOPIC_ID), partitions=F.array(partition))
    )


def _filled(struct: StructType, **fields: Column) -> Column:
    return F.struct(*[fields.get(it.name, F.lit(None)).cast(it.dataType).alias(it.name) for it in struct])


def _is(named_by: int) -> Column:
    return F.col("named_by") == named_by


def _numbered(column: str) -> Column:
    return F.get(F.col(column), F.col("number"))


def _of_naming(value: Callable[[str], Column]) -> Column:
    """What `value` makes of the column that names the partition."""
    forgotten, listed, answered = (value(column) for column in NAMING.values())
    return F.when(_is(FORGOTTEN), forgotten).when(_is(LISTED), listed).otherwise(answered)


def _partitions(named_by: int) -> Column:
    topic = _numbered(NAMING[named_by])
    return topic["partitions"] if named_by != ANSWERED else F.coalesce(topic["partitions"], topic["partitionResponses"])


def _partition() -> Column:
    listed, answered = _numbered("listed"), _numbered("answered")
    return (
        F.when(_is(FORGOTTEN), _numbered("forgotten"))
        .when(_is(LISTED), listed["partition"])
        .otherwise(F.coalesce(answered["partitionIndex"], answered["partition"]))
    )


def params(listed: Column) -> dict[str, Column]:
    """Return PARAMS of a partition as a request lists it."""
    columns = (
        listed["fetchOffset"],
        unknown(listed["currentLeaderEpoch"], "int"),
        unknown(listed["lastFetchedEpoch"], "int"),
        unknown(listed["logStartOffset"], "bigint"),
    )
    return dict(zip(PARAMS, columns, strict=True))


def answer(answered: Column) -> dict[str, Column]:
    """Return ANSWER of a partition as a response lists it, and of one that it does not list no error, and -1."""
    in_file = answered["recordsEnd"] - answered["recordsStart"]
    size = F.coalesce(answered["recordsSizeInBytes"], answered["recordSetSizeInBytes"], in_file)
    columns = (
        F.coalesce(answered["errorCode"], F.lit(0)),
        unknown(size, "bigint"),
        unknown(answered["highWatermark"], "bigint"),
        unknown(answered["lastStableOffset"], "bigint"),
        unknown(answered["logStartOffset"], "bigint"),
        unknown(answered["divergingEpoch"]["epoch"], "int"),
        unknown(answered["divergingEpoch"]["endOffset"], "bigint"),
    )
    return dict(zip(ANSWER, columns, strict=True))
