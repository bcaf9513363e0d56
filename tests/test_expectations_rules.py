"""Each rule on literal rows: one that breaks it, one that just does not, one of which too little is known."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from expectations import results
from expectations.capture_rules import is_fresh
from expectations.invariant import Invariant
from expectations.invariants import INVARIANTS
from expectations.measuring import judged_rows
from expectations.views import RULE_VIEWS
from schemas import tables as T
from schemas.tables import Table
from tests.checked_rows import (
    appended,
    at,
    became_leader,
    epoch_start,
    event,
    fetched,
    found,
    frames,
    partition_record,
    read_file,
    sound,
    state,
    stated_start,
)

RULES = {rule.name: rule for rule in INVARIANTS}
ROOT = Path(__file__).parent.parent

Rows = Sequence[Any]

ALONE = {"isr": [1], "min_isr": 2, "is_under_min_isr": True}


# fmt: off
CASES: list[tuple[str, Table, Rows, list[str | None]]] = [
    #  rule                                             table              rows                                                          verdicts
    ("HighWatermarkNeverExceedsLogEndOffset",           T.LEADER_TIMELINE, [event(0, 1, 5, 5), event(0, 2, 5, 6)],                       ["valid", "invalid"]),
    ("HighWatermarkNeverExceedsLogEndOffset",           T.LEADER_TIMELINE, [event(0, 1, 5, 4, exactness="bounded", high_watermark_high=9), event(0, 2, 5, 9, log_end_offset_high=9)], ["unknown", "unknown"]),
    ("HighWatermarkNeverExceedsLogEndOffset",           T.LEADER_TIMELINE, [event(0, 1, 5, 5, high_watermark=None), event(0, 2, 5, 9, exactness=None)], ["invalid", "invalid"]),
    ("HighWatermarkNeverExceedsLogEndOffset",           T.LEADER_TIMELINE, [event(0, 1, -1, 4), event(0, 2, -1, 4, exactness="bounded")], ["unknown", "unknown"]),
    ("HighWatermarkIsMonotoneWithinLeadership",         T.LEADER_TIMELINE, [event(0, 1, 9, 5), event(0, 2, 9, 5), event(0, 3, 9, 4)],    [None, "valid", "invalid"]),
    ("HighWatermarkIsMonotoneWithinLeadership",         T.LEADER_TIMELINE, [event(0, 1, 9, 5), event(0, 2, 9, 3, event_type="BECOME_LEADER"), event(1, 1, 9, 2)], [None, None, None]),
    ("HighWatermarkIsMonotoneWithinLeadership",         T.LEADER_TIMELINE, [event(0, 1, 9, 5), event(0, 2, 9, 3, exactness="bounded", high_watermark_high=6), event(0, 3, 9, 1, exactness="bounded", high_watermark_high=2)], [None, "unknown", "invalid"]),
    ("HighWatermarkNeverExceedsLogEndOffset",           T.LEADER_TIMELINE, [event(0, 1, 5, 6, high_watermark_high=9, log_end_offset_low=5, log_end_offset_high=5, exactness="bounded"), event(0, 2, 5, 3, high_watermark_high=5, exactness="bounded")], ["invalid", "valid"]),
    ("LogEndOffsetIsMonotoneWithinLeadership",          T.LEADER_TIMELINE, [event(0, 1, 9, 5), event(0, 2, 9, 5), event(0, 3, 8, 5), event(1, 1, 7, 5)], [None, "valid", "invalid", None]),
    ("LogEndOffsetIsMonotoneWithinLeadership",          T.LEADER_TIMELINE, [event(0, 1, 9, 5, log_end_offset_high=12), event(0, 2, 9, 5), event(0, 3, 8, 5, log_end_offset_high=12)], [None, "unknown", "unknown"]),
    ("LogStartAndStableOffsetNeverExceedHighWatermark", T.LEADER_TIMELINE, [event(0, 1, 9, 5, log_start_offset=5), event(0, 2, 9, 5, log_start_offset=6), event(0, 3, 9, 5, last_stable_offset=6), event(0, 4, 9, 5, log_start_offset=None)], ["valid", "invalid", "invalid", "invalid"]),
    ("LogStartAndStableOffsetNeverExceedHighWatermark", T.LEADER_TIMELINE, [event(0, 1, 9, -1, log_start_offset=5)],                     ["unknown"]),
    ("HighWatermarkStandsWhileUnderMinIsr",             T.LEADER_TIMELINE, [event(0, 1, 9, 5), event(0, 2, 9, 5, **ALONE), event(0, 3, 9, 6, **ALONE)], [None, "valid", "invalid"]),
    ("HighWatermarkStandsWhileUnderMinIsr",             T.LEADER_TIMELINE, [event(0, 1, 9, 5, **ALONE), event(0, 2, 9, 9)],              [None, None]),
    ("HighWatermarkStandsWhileUnderMinIsr",             T.LEADER_TIMELINE, [event(0, 1, 9, 5), event(0, 2, 9, 6, is_under_min_isr=None)], [None, "unknown"]),
    ("HighWatermarkStandsWhileUnderMinIsr",             T.LEADER_TIMELINE, [event(0, 1, 9, -1, exactness="bounded"), event(0, 2, 9, 6, **ALONE)], [None, "unknown"]),
    ("LeaderIsInIsr",                                   T.LEADER_TIMELINE, [event(0, 1, 9, 5, isr=[1]), event(0, 2, 9, 5, isr=[2, 3])],  ["valid", "invalid"]),
    ("LeaderIsInIsr",                                   T.LEADER_TIMELINE, [event(0, 1, 9, 5, isr=None), event(0, 2, 9, 5, isr=[]), event(0, 3, 9, 5, leader_id=-1)], ["unknown", "unknown", None]),
    ("OneLeaderPerEpoch",                               T.LEADER_CHANGES,  [became_leader(0, 1), became_leader(0, 1), became_leader(1, 2)], ["valid", "valid"]),
    ("OneLeaderPerEpoch",                               T.LEADER_CHANGES,  [became_leader(0, 1, topic_id="t"), became_leader(0, 2, topic_id="t")], ["invalid"]),
    ("OneLeaderPerEpoch",                               T.LEADER_CHANGES,  [became_leader(0, 1), became_leader(0, 2)],                   ["unknown"]),
    ("OneLeaderPerEpoch",                               T.LEADER_CHANGES,  [became_leader(0, 1, topic_id="t"), became_leader(0, 2, topic_id="t", change_kind="become_follower")], ["valid"]),
    ("RemoteLeoNeverExceedsLeaderLeo",                  T.LEADER_TIMELINE, [event(0, 1, 9, 5, remote_log_end_offset={2: 9, 3: -1}), event(0, 2, 9, 5, remote_log_end_offset={2: 9, 3: 10})], ["valid", "invalid"]),
    ("RemoteLeoNeverExceedsLeaderLeo",                  T.LEADER_TIMELINE, [event(0, 1, -1, -1, remote_log_end_offset={2: 9})],          ["unknown"]),
    ("FollowerHighWatermarkNeverExceedsItsLogEndOffset", T.REPLICA_TIMELINE, [state(2, 0, 1, 5, 5), state(2, 0, 2, 5, 6)],               ["valid", "invalid"]),
    ("FollowerHighWatermarkNeverExceedsItsLogEndOffset", T.REPLICA_TIMELINE, [state(2, 0, 1, -1, 5), state(2, 0, 2, -1, 0), state(2, 0, 3, 5, -1), state(2, 0, 4, 5, 6, role="LEADER")], ["unknown", "valid", None, None]),
    ("FollowerHighWatermarkWasReachedByALeader",        T.REPLICA_TIMELINE, [state(1, 0, 1, 9, 4, role="LEADER"), state(2, 0, 2, 9, 5), state(1, 0, 3, 9, 5, role="LEADER"), state(2, 0, 4, 9, 6), state(2, 1, 1, 9, 5), state(1, 2, 1, 9, 7, role="LEADER")], [None, None, None, "valid", "invalid", "valid"]),
    ("FollowerHighWatermarkWasReachedByALeader",        T.REPLICA_TIMELINE, [state(2, 0, 1, 9, 4), state(2, 0, 2, 9, 4, exactness="bounded", high_watermark_high=7)], ["unknown", "unknown"]),
    ("RemoteLeoNeverExceedsFollowerLeo",                T.REPLICA_TIMELINE, [state(2, 0, 1, 5, 0, remote_log_end_offset=-1), state(2, 0, 2, 5, 0, remote_log_end_offset=5), state(2, 0, 3, 4, 0, remote_log_end_offset=5), state(2, 0, 4, 5, 0, remote_log_end_offset=6)], [None, "valid", None, "invalid"]),
    ("RemoteLeoNeverExceedsFollowerLeo",                T.REPLICA_TIMELINE, [state(2, 0, 1, -1, 0, remote_log_end_offset=-1), state(2, 0, 2, -1, 0, remote_log_end_offset=5), state(2, 1, 1, 3, 0, remote_log_end_offset=5)], [None, "unknown", None]),
    ("ReplicaStatesFollowEachOther",                    T.REPLICA_TIMELINE, [state(2, 0, 1, 5, 0, valid_to=at(2)), state(2, 0, 2, 5, 1, valid_to=at(4)), state(2, 0, 3, 5, 2)], [None, "valid", "invalid"]),
    ("ReplicaStatesFollowEachOther",                    T.REPLICA_TIMELINE, [state(2, 0, 1, 5, 0, valid_to=at(2)), state(2, 0, 4, -1, -1, valid_to=at(5)), state(2, 0, 6, 5, 2)], [None, "valid", "invalid"]),
    ("ReplicaStatesFollowEachOther",                    T.REPLICA_TIMELINE, [state(2, 0, 5, 5, 0, valid_to=at(5)), state(2, 0, 6, 5, 1, valid_from=at(3)), state(2, 0, 7, 5, 2)], [None, "valid", "invalid"]),
    ("CommittedRecordsSurviveElections",                T.LEADER_TIMELINE, [event(0, 1, 11, 11), event(1, 1, 11, 10), event(2, 1, 10, 10)], [None, "valid", "invalid"]),
    ("CommittedRecordsSurviveElections",                T.LEADER_TIMELINE, [event(0, 1, 11, 11), event(0, 2, 10, 10, event_type="BECOME_LEADER")], [None, "invalid"]),
    ("CommittedRecordsSurviveElections",                T.LEADER_TIMELINE, [event(0, 1, 11, 11), event(1, 1, 10, 10, topic_id="new")],   [None, None]),
    ("CommittedRecordsSurviveElections",                T.LEADER_TIMELINE, [event(0, 1, 11, 11), event(1, 1, 10, 10, event_type="APPEND"), event(2, 1, -1, -1)], [None, "unknown", "unknown"]),
    ("EventSequenceIsUnique",                           T.LEADER_TIMELINE, [event(0, 1, 5, 5), event(0, 2, 5, 5), event(1, 2, 5, 5), event(1, 2, 5, 5)], [None, "valid", None, "invalid"]),
    ("EveryLineIsAccountedFor",                         T.SOURCE_FILES,    [read_file(landed=8, rejected=0, ignored=2, read=10)],        ["valid"]),
    ("EveryLineIsAccountedFor",                         T.SOURCE_FILES,    [read_file(landed=8, rejected=0, ignored=2, read=11)],        ["invalid"]),
    ("NoLineWasRejected",                               T.SOURCE_FILES,    [read_file(landed=7, rejected=1)],                            ["invalid"]),
    ("NoLineWasRejected",                               T.SOURCE_FILES,    [read_file(landed=8, rejected=0)],                            ["valid"]),
    ("RebuiltHighWatermarkEqualsStated",                T.BROKER_STATEMENTS, [stated_start(0, 0), stated_start(1, 11), stated_start(2, 11)], ["valid", "invalid", "valid"]),
    ("RebuiltHighWatermarkEqualsStated",                T.BROKER_STATEMENTS, [stated_start(1, 10, source_line=99), stated_start(1, 10, kind="loaded_high_watermark")], ["unknown"]),
    ("RebuiltHighWatermarkEqualsStated",                T.LEADER_TIMELINE, [event(0, 1, 0, 0, exactness="stated"), event(1, 1, 11, 9), event(2, 1, 12, 12, isr=[3])], [None, "invalid", "valid"]),
    ("CleanlyElectedLeaderHoldsTheHighWatermark",       T.LEADER_TIMELINE, [event(0, 1, 11, 11), event(1, 1, 11, 10), event(2, 1, 10, 10)], [None, "valid", "invalid"]),
    ("CleanlyElectedLeaderHoldsTheHighWatermark",       T.INCIDENTS,       [found("UNCLEAN_ELECTION", epoch=1)],                         [None, None, "valid"]),
    ("CleanlyElectedLeaderHoldsTheHighWatermark",       T.LEADER_TIMELINE, [event(0, 1, 11, 11), event(1, 1, -1, -1), event(2, 1, 11, 11, event_type="FETCH")], [None, "unknown", "unknown"]),
    ("EveryLeadershipHasEvents",                        T.LEADER_CHANGES,  [became_leader(0, 1), became_leader(3, 1)],                   ["valid", "invalid"]),
    ("EveryReplicaDeliveredItsLogs",                    T.LEADER_CHANGES,  [became_leader(0, 1, replicas=[1, 4])],                       ["valid", "valid", "valid", "invalid"]),
    ("EveryReplicaDeliveredItsLogs",                    T.SOURCE_FILES,    [read_file(broker=-1, brokers=[1, 3]), read_file(broker=3, brokers=[])], ["valid", "invalid", "valid"]),
    ("EpochsNeverGoBackInMetadata",                     T.METADATA_CHANGES, [partition_record(1, [1], [1], partition_epoch=0), partition_record(2, [1], [1], partition_epoch=1), partition_record(2, [1], [1], partition_epoch=1), partition_record(3, [1], [1], partition_epoch=1), partition_record(4, [1], [1], partition_epoch=2, leader_epoch=-1)], [None, "valid", None, "invalid", "invalid"]),
    ("EpochsNeverGoBackInMetadata",                     T.METADATA_CHANGES, [partition_record(1, [1], [1]), partition_record(2, [1], [1], partition_epoch=-1)], [None, "unknown"]),
    ("EpochsNeverGoBackInMetadata",                     T.METADATA_CHANGES, [partition_record(1, [1], [1], partition_epoch=30), partition_record(9, [1], [1], partition_epoch=30, capture_id="two"), partition_record(10, [1], [1], partition_epoch=31, capture_id="two")], [None, "valid"]),
    ("RebuiltOffsetsEqualStatedAtShrink",               T.BROKER_STATEMENTS, [stated_start(0, 11, kind="shrinking_log_end_offset", event_time=at(2.5)), stated_start(0, 12, kind="shrinking_log_end_offset", event_time=at(2.6)), stated_start(0, 10, kind="shrinking_high_watermark", event_time=at(2.5)), stated_start(0, 10, kind="shrinking_remote_log_end_offset", replica_id=3, event_time=at(2.5)), stated_start(0, 9, kind="shrinking_remote_log_end_offset", replica_id=3, event_time=at(2.6)), stated_start(9, 9, kind="shrinking_high_watermark")], ["valid", "valid", "invalid", "valid", "invalid", "unknown"]),
    ("IsrHoldsTheHighWatermarkWhenItRises",             T.LEADER_TIMELINE, [event(0, 1, 9, 5), event(0, 2, 9, 7, remote_log_end_offset={2: 7, 3: 8}), event(0, 3, 9, 8, remote_log_end_offset={2: 7, 3: 8})], [None, "valid", "invalid"]),
    ("IsrHoldsTheHighWatermarkWhenItRises",             T.LEADER_TIMELINE, [event(0, 1, 9, 5), event(0, 2, 9, 7, isr=None), event(0, 3, 9, 7, remote_log_end_offset={2: 1})], [None, "unknown", None]),
    ("IsrHoldsTheHighWatermarkWhenItRises",             T.LEADER_TIMELINE, [event(0, 1, 9, 5), event(0, 2, 9, 7, exactness="stated", remote_log_end_offset={2: 5}), event(0, 3, 9, 8, remote_log_end_offset={2: 5})], [None, "unknown", "invalid"]),
    ("IsrIsSubsetOfReplicas",                           T.METADATA_CHANGES, [partition_record(1, [1, 2], [2, 1]), partition_record(2, [1, 4], [1, 2], adding_replicas=[4]), partition_record(3, [1, 4], [1, 2])], ["valid", "valid", "invalid"]),
    ("EpochsAndStartsIncreaseInCheckpoint",             T.EPOCH_STARTS,    [epoch_start(0, 0, 3), epoch_start(2, 7, 4), epoch_start(3, 7, 5)], [None, "valid", "invalid"]),
    ("NoCommittedRecordIsLost",                         T.INCIDENTS,       [found("COMMITTED_RECORDS_LOST"), found("ISR_SHRUNK"), found("RECORDS_LOST_UNKNOWN_IF_COMMITTED"), found("UNCOMMITTED_RECORDS_LOST")], ["invalid", None, "unknown", "valid"]),
    ("AcknowledgedByAllIsNeverLost",                    T.INCIDENTS,       [found("UNCOMMITTED_RECORDS_LOST")],                          ["invalid"]),
    ("AcknowledgedByAllIsNeverLost",                    T.INCIDENTS,       [found("RECORDS_LOST_UNKNOWN_IF_COMMITTED")],                 ["invalid"]),
    ("AcknowledgedByAllIsNeverLost",                    T.INCIDENTS,       [found("UNCOMMITTED_RECORDS_LOST", begin=11, end=12), {**found("COMMITTED_RECORDS_LOST", epoch=0), "started_at": at(0)}], ["valid"]),
    ("AcknowledgedByAllIsNeverLost",                    T.INCIDENTS,       [found("COMMITTED_RECORDS_LOST", epoch=0)],                   ["invalid"]),
    ("AcknowledgedByAllIsNeverLost",                    T.PRODUCE_EVENTS,  [appended(0, 10, acks=1), appended(0, 10, error=7)],          []),
    ("ConsumersReadBelowTheHighWatermark",              T.FETCH_EVENTS,    [fetched(1, replica_id=-1, records_size=9, fetch_offset=9), fetched(2, replica_id=-1, records_size=9, fetch_offset=10), fetched(3, replica_id=-1, records_size=9, fetch_offset=9, isolation_level=1)], ["valid", "invalid", "invalid"]),
    ("ConsumersReadBelowTheHighWatermark",              T.FETCH_EVENTS,    [fetched(1, replica_id=-1, records_size=0, fetch_offset=10), fetched(2, records_size=9, fetch_offset=10)], [None, None]),
    ("ToldHighWatermarksWereReached",                   T.FETCH_EVENTS,    [fetched(1, response_high_watermark=0), fetched(2, response_high_watermark=5, replica_id=-1), fetched(3), fetched(4, response_high_watermark=12)], ["valid", "invalid", "valid", "invalid"]),
    ("ToldHighWatermarksWereReached",                   T.FETCH_EVENTS,    [fetched(1, response_high_watermark=5, broker_id=2), fetched(2, response_high_watermark=-1), fetched(3, response_high_watermark=5, error_code=1)], []),
    ("ToldHighWatermarksWereReached",                   T.LEADER_TIMELINE, [event(0, 1, 11, 4), event(0, 2, 11, 9, exactness="bounded", high_watermark_high=10), event(0, 3, 11, 11)], ["unknown"]),
    ("ToldHighWatermarksWereReached",                   T.LEADER_TIMELINE, [event(0, 1, 11, 4), event(0, 2, 11, 11), event(3, 1, 11, 10, leader_id=1)], ["valid"]),
    ("DivergingFetchMovesNoRemoteLeo",                  T.FETCH_EVENTS,    [fetched(1, diverging_epoch=3, source_file="broker-1/state-change.log", source_line=2), fetched(9, diverging_epoch=3)], ["valid", "invalid"]),
    ("NoLineLandsTwice",                                T.PRODUCE_EVENTS,  [appended(0, 1), appended(2, 3, line=9), appended(2, 3, line=9)], ["valid", "valid", "invalid"]),
    ("NoLineLandsTwice",                                T.PRODUCE_EVENTS,  [appended(0, 0, producer_id=7), appended(1, 1, producer_id=9), appended(2, 2, line=9, producer_id=7), appended(2, 2, line=9, producer_id=7)], ["valid", "valid", "invalid"]),
    ("NoLineLandsTwice",                                T.FETCH_EVENTS,    [fetched(2), fetched(3), fetched(3)],                         ["valid", "valid", "invalid"]),
    ("ClocksOfBrokersAgree",                            T.METADATA_CHANGES, [partition_record(1, [1], [1]), partition_record(2, [1], [1], leader_epoch=1, partition_epoch=1, event_time=at(10.1)), partition_record(3, [1], [1], leader_epoch=2, partition_epoch=2, event_time=at(20.2))], ["valid", "invalid"]),
    ("LogsOfReplicasMatch",                             T.INCIDENTS,       [found("LOG_DIVERGENCE", "critical"), found("LOG_DIVERGENCE", "info")], ["invalid", "valid"]),
    ("ConsumersReadNothingThatVanishes",                T.INCIDENTS,       [found("CONSUMER_READ_LOST_RECORDS", "critical"), found("CONSUMER_READ_LOST_RECORDS", "warning"), found("ISR_SHRUNK")], ["invalid", "unknown", "valid"]),
    ("NoReplicaTruncatesCommittedRecords",         T.INCIDENTS,       [found("ISR_SHRUNK"), found("TRUNCATED_BELOW_HIGH_WATERMARK", "info"), found("TRUNCATED_BELOW_HIGH_WATERMARK", "warning")], ["valid", "valid", "invalid"]),
    ("OffsetsGoBackOnlyAsTold",                         T.INCIDENTS,       [found("ISR_SHRUNK"), found("OFFSET_WENT_BACK", "warning")],   ["valid", "invalid"]),
    ("IsrMembersAreAssigned",                           T.INCIDENTS,       [found("ISR_MEMBER_IS_NO_REPLICA", "warning"), found("ISR_SHRUNK")], ["invalid", "valid"]),
    ("LinesNameOneLeaderPerEpoch",                      T.INCIDENTS,       [{**found("TWO_LEADERS_IN_ONE_EPOCH", "critical"), "topic_id": "t"}, found("ISR_SHRUNK")], ["valid", "invalid"]),
    ("LinesNameOneLeaderPerEpoch",                      T.INCIDENTS,       [found("TWO_LEADERS_IN_ONE_EPOCH", "critical")],              ["unknown"]),
    ("IsrMembersKeepUp",                                T.INCIDENTS,       [found("ISR_SHRUNK"), found("STALE_ISR_MEMBER", "warning")],   ["valid", "invalid"]),
    ("IsrMembersKeepUp",                                T.FETCH_EVENTS,    [],                                                           ["unknown"]),
    ("FetchSessionsHaveNoGaps",                         T.FETCH_EVENTS,    [],                                                           ["unknown"]),
    ("CommittedRecordsSurviveElections",                T.LEADER_TIMELINE, [event(0, 1, 9, 5), event(0, 2, 9, 5, log_end_offset_high=99, high_watermark_high=99, exactness="bounded"), event(1, 1, 9, 5), event(2, 1, 4, 4), event(3, 1, 99, 9)], [None, None, "unknown", "invalid", "valid"]),
    ("FetchSessionsHaveNoGaps",                         T.INCIDENTS,       [found("FETCH_SESSION_GAP", "warning"), found("ISR_SHRUNK")],  ["invalid", "valid"]),
]
# fmt: on


@pytest.fixture(scope="module")
def judged(spark: SparkSession) -> list[list[str | None]]:
    """The verdicts of each case's rows in the order of their keys: a cluster a case, a Spark job a subject."""
    given: dict[Table, list[Any]] = defaultdict(list)
    for place, (_, table, rows, _) in enumerate(CASES):
        for of, history in (sound() | {table: rows}).items():
            given[of] += [{**row, "cluster_id": f"{place}"} for row in history]
    tables = frames(spark, given)
    found: list[list[str | None]] = [[] for _ in CASES]
    for rules in _by_subject():
        for row in judged_rows(tables, rules).orderBy(*rules[0].subject.keys).collect():
            name = CASES[int(row["cluster_id"])][0]
            if name in {rule.name for rule in rules}:
                found[int(row["cluster_id"])].append(row[name])
    return found


def _by_subject() -> list[list[Invariant]]:
    """The rules, those of a subject together."""
    groups: dict[str, list[Invariant]] = defaultdict(list)
    for rule in INVARIANTS:
        groups[rule.subject.name].append(rule)
    return list(groups.values())


@pytest.mark.spark
@pytest.mark.parametrize("place", range(len(CASES)), ids=[f"{n}-{c[0]}" for n, c in enumerate(CASES)])
def test_a_rule_on_its_rows(place: int, judged: list[list[str | None]]) -> None:
    """A row is valid, invalid or unknown, or the rule does not speak of it; a NULL never lets a row slip away."""
    assert judged[place] == CASES[place][3]


@pytest.mark.spark
def test_the_last_append_before_a_crash_is_judged(spark: SparkSession) -> None:
    """No later line tells where its batch ended: it is lost if its first record is."""
    rule = RULES["AcknowledgedByAllIsNeverLost"]
    appends = [appended(8, -1), appended(10, -1, line=2), appended(-1, -1, line=3)]
    history = {T.PRODUCE_EVENTS: appends, T.INCIDENTS: [found("COMMITTED_RECORDS_LOST")]}
    judged = judged_rows(frames(spark, sound() | history), [rule]).orderBy("base_offset").collect()

    assert [(row["base_offset"], row[rule.name]) for row in judged] == [(8, "valid"), (10, "invalid")]


@pytest.mark.spark
def test_the_sql_of_each_rule_finds_the_rows_that_break_it(spark: SparkSession) -> None:
    """What docs/rules.md shows runs as it stands, and finds what the check finds."""
    tables = frames(spark, sound() | {T.LEADER_TIMELINE: [event(0, 1, 5, 5), event(0, 2, 5, 6)]})
    for view in RULE_VIEWS:
        view.make(*[tables[table.name] for table in view.of]).createOrReplaceTempView(view.name)
    broken = {rule.name: spark.sql(rule.sql) for rule in INVARIANTS}

    assert [row["high_watermark"] for row in broken["HighWatermarkNeverExceedsLogEndOffset"].collect()] == [6]
    assert broken["HighWatermarkIsMonotoneWithinLeadership"].collect() == []


def test_every_rule_has_a_row_that_breaks_it_and_one_that_does_not() -> None:
    """Else a rule that cannot fail, or cannot hold, would pass for one."""
    shown = {name: {verdict for case in CASES if case[0] == name for verdict in case[3]} for name in RULES}

    assert {name for name, found in shown.items() if not {"valid", "invalid"} <= found} == set()


def test_names_are_sentences_and_unique() -> None:
    """A rule is cited by its name, and what it demands by its fingerprint."""
    assert len({rule.name for rule in INVARIANTS}) == len(INVARIANTS)
    assert len({rule.fingerprint for rule in INVARIANTS}) == len(INVARIANTS)
    assert max(map(len, _by_subject())) <= 31, "a row's verdicts are one number, two bits a rule"
    assert [rule.name for rule in INVARIANTS if not (rule.why.endswith(".") and rule.what_to_do.endswith("."))] == []


def test_the_moment_of_a_run_is_no_other_rule() -> None:
    """What was not fresh yesterday and is not today is one violation (`--since last --max-age`)."""
    yesterday, today = (is_fresh(datetime(2026, 11, day, tzinfo=UTC)) for day in (20, 21))

    assert yesterday.holds != today.holds
    assert yesterday.fingerprint == today.fingerprint == results.RULES[today.name].fingerprint
