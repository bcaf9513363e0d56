"""What a completed request has to have, and what its numbers can be, by its API."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce

from pyspark.sql import Column
from pyspark.sql import functions as F

from schemas import columns as C
from sources.outcomes import NONE_FOLLOWS
from sources.request_schema import FETCH, LEADER_AND_ISR, PRODUCE, WRITE_TXN_MARKERS

TIMES = ("totalTimeMs", "requestQueueTimeMs", "localTimeMs", "remoteTimeMs", "responseQueueTimeMs", "sendTimeMs")

STATES = ("topicStates", "ungroupedPartitionStates", "partitionStates")
"""Where a LEADER_AND_ISR request has the states of its partitions, by its version."""

NEVER = -(2**31)
"""No partition's number, and no offset."""

MAX_MS = 1e11
"""No stage of a request takes three years."""

LEAST_REPLICA_ID = -3
"""A future replica's; -1 is a consumer's, -2 a debugging consumer's."""

LEADER_OF_DELETED = -2
"""`LeaderDuringDelete`."""


def missing_field(line: Column) -> Column:
    """The first field that the API needs and the line lacks; NULL when all are there."""
    request, responses = line["request"], line["response"]["responses"]
    every = {name: line[name].isNull() for name in TIMES}
    by_api: dict[str, Mapping[str, Column]] = {
        FETCH: {
            "topics": request["topics"].isNull(),
            "partition or fetchOffset": _lacks_partition_or_offset(request["topics"]),
            "responses": responses.isNull(),
        },
        PRODUCE: {
            "acks": request["acks"].isNull(),
            # At DEBUG the text of before 2.8 does not tell what was asked.
            "topicData": request["topicData"].isNull() & responses.isNull(),
            "responses": responses.isNull() & (request["acks"] != 0),
            "partition": _lacks_written_partition(request, responses),
        },
        LEADER_AND_ISR: {
            "topicStates": reduce(Column.__and__, [request[name].isNull() for name in STATES]),
            "partitionIndex, leader or leaderEpoch": _lacks_some(
                _numbers(request), *[_of_states(request, name) for name in ("leader", "leaderEpoch")]
            ),
        },
        WRITE_TXN_MARKERS: {
            "markers": _answered_markers(line).isNull(),
            "producerId, partitionIndex or errorCode": _lacks_some(
                _answered_markers(line)["producerId"], _marked(line, "errorCode"), _marked_numbers(line)
            ),
        },
    }
    absences = [F.when(is_missing, F.lit(name)) for name, is_missing in every.items()]
    for api, fields in by_api.items():
        absences += [F.when((F.col("api_name") == api) & missing, F.lit(name)) for name, missing in fields.items()]
    return F.coalesce(*absences)


def _lacks_partition_or_offset(topics: Column) -> Column:
    """Whether a partition of a topic lacks its number or offset, or a topic its partitions."""
    partitions = F.flatten(topics["partitions"])
    return _lacks_some(partitions["partition"], partitions["fetchOffset"])


def _lacks_written_partition(request: Column, responses: Column) -> Column:
    """Whether a partition that was written to lacks its number: in the answer or, with acks=0, in what was asked."""
    answered = _answered(responses)
    is_unanswered = _lacks_some(answered["index"]) & _lacks_some(answered["partition"])
    is_unasked = _lacks_some(F.flatten(request["topicData"]["partitionData"])["index"])
    return F.when(responses.isNull(), is_unasked).otherwise(is_unanswered)


def _lacks_some(*members: Column) -> Column:
    """Whether some member of the arrays is NULL: NULL is then what Spark answers. It also does where there is no array.

    As an `exists` it would be interpreted, for each line.
    """
    return reduce(Column.__or__, [F.array_contains(of, NEVER).isNull() for of in members])


def replica_id(request: Column) -> Column:
    """The replica that a FETCH is of; a consumer's has none, or one below 0."""
    return F.coalesce(request["replicaState"]["replicaId"], request["replicaId"])


def is_out_of_range(line: Column) -> Column:
    """Whether some number is none that Kafka writes; what a NULL is compared with is not."""
    request, answered = line["request"], _answered(line["response"]["responses"])
    listed = F.flatten(request["topics"]["partitions"])
    replica = replica_id(request)
    asked = F.flatten(request["topicData"]["partitionData"])
    impossible = {
        FETCH: [
            F.array_min(listed["partition"]) < 0,
            (replica >= 0) & (F.array_min(listed["fetchOffset"]) < 0),
            (replica >= 0) & (F.array_max(listed["fetchOffset"]) == NONE_FOLLOWS),
            replica < LEAST_REPLICA_ID,
        ],
        PRODUCE: [
            F.array_min(answered["index"]) < 0,
            F.array_min(answered["partition"]) < 0,
            F.array_min(answered["baseOffset"]) < C.UNKNOWN_OFFSET,
            F.array_max(answered["baseOffset"]) == NONE_FOLLOWS,
            F.array_min(asked["index"]) < 0,
        ],
        LEADER_AND_ISR: [
            F.array_min(_numbers(request)) < 0,
            F.array_min(_of_states(request, "leader")) < LEADER_OF_DELETED,
        ],
        WRITE_TXN_MARKERS: [F.array_min(_marked_numbers(line)) < 0],
    }
    of_api = [
        (F.col("api_name") == api) & F.coalesce(test, F.lit(False))
        for api, tests in impossible.items()
        for test in tests
    ]
    return reduce(Column.__or__, of_api, reduce(Column.__or__, [~line[name].between(0, MAX_MS) for name in TIMES]))


def _answered(responses: Column) -> Column:
    """The answers of all topics as one array."""
    return F.coalesce(F.flatten(responses["partitionResponses"]), F.flatten(responses["partitions"]))


def _answered_markers(line: Column) -> Column:
    """The markers that a response tells of."""
    return F.coalesce(line["response"]["markers"], line["response"]["transactionMarkers"])


def _marked(line: Column, field: str) -> Column:
    """A field of all partitions that a response to WRITE_TXN_MARKERS tells of."""
    return F.flatten(F.flatten(_answered_markers(line)["topics"])["partitions"])[field]


def _marked_numbers(line: Column) -> Column:
    """The numbers of these partitions; up to 2.5 they have another name."""
    by_index = _marked(line, "partitionIndex")
    return F.when(F.array_max(by_index).isNull(), _marked(line, "partition")).otherwise(by_index)


def _of_states(request: Column, field: str) -> Column:
    """A field of all partitions that a LEADER_AND_ISR request tells of."""
    grouped = F.flatten(request["topicStates"]["partitionStates"])
    return F.coalesce(grouped[field], request["ungroupedPartitionStates"][field], request["partitionStates"][field])


def _numbers(request: Column) -> Column:
    """The numbers of all partitions that a LEADER_AND_ISR request tells of; up to 2.3 they have another name."""
    by_index, by_name = (_of_states(request, name) for name in ("partitionIndex", "partition"))
    return F.when(F.array_max(by_index).isNull(), by_name).otherwise(by_index)
