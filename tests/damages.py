"""Damage done to a good history, a kind a row: what is changed, and the rule that is meant to see it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any, NamedTuple

from schemas import tables as T
from tests.checked_rows import at, became_leader, partition_record, stated_start
from tests.good_history import Tables, good_history

Change = Callable[[Tables], None]
LEADER, REPLICA, LINES = T.LEADER_TIMELINE, T.REPLICA_TIMELINE, T.LEADER_CHANGES


class Damage(NamedTuple):
    """A kind of damage."""

    name: str
    rule: str
    do: Change


def rows_of(table: T.Table, **where: Any) -> Callable[[Tables], list[dict[str, Any]]]:
    """The rows that have these values; a damage that meets none would prove nothing."""

    def found(history: Tables) -> list[dict[str, Any]]:
        rows = [row for row in history[table] if all(row.get(name) == value for name, value in where.items())]
        assert rows, f"no row of {table.name} with {where}"
        return rows

    return found


def put(table: T.Table, where: Mapping[str, Any], **values: Any) -> Change:
    """Other values in the last such row."""
    return lambda history: rows_of(table, **where)(history)[-1].update(values)


def swap(table: T.Table, one: Mapping[str, Any], other: Mapping[str, Any], *columns: str) -> Change:
    """Two rows with each other's values."""

    def do(history: Tables) -> None:
        first, second = rows_of(table, **one)(history)[-1], rows_of(table, **other)(history)[-1]
        for column in columns:
            first[column], second[column] = second[column], first[column]

    return do


def drop(table: T.Table, **where: Any) -> Change:
    """Rows that are gone."""

    def do(history: Tables) -> None:
        gone = rows_of(table, **where)(history)
        history[table] = [row for row in history[table] if row not in gone]

    return do


def again(table: T.Table, where: Mapping[str, Any], **values: Any) -> Change:
    """A row twice, the second time with other values."""
    return lambda history: history[table].append({**deepcopy(rows_of(table, **where)(history)[-1]), **values})


def seq(epoch: int, number: int) -> dict[str, int]:
    """An event's place."""
    return {"leader_epoch": epoch, "event_seq": number}


def hw(value: int | None, **more: Any) -> dict[str, Any]:
    """An HW, exact as it seems."""
    return {"high_watermark": value, "high_watermark_low": value, "high_watermark_high": value, **more}


def leo(value: int) -> dict[str, int]:
    """A LEO, exact as it seems."""
    return {"log_end_offset": value, "log_end_offset_low": value, "log_end_offset_high": value}


def all_of(*changes: Change) -> Change:
    """Several changes."""

    def do(history: Tables) -> None:
        for change in changes:
            change(history)

    return do


def cut(from_offset: int, to_offset: int, replica: int = 3, *, is_stated: bool = True) -> Change:
    """A truncation of a follower in epoch 1."""
    row = {
        **became_leader(1, 2), "replica_id": replica, "event_time": at(20.5), "from_offset": from_offset,
        "to_offset": to_offset, "high_watermark_before": 8, "partition_high_watermark_before": 10,
        "method": "leader_epoch", "is_stated": is_stated,
    }  # fmt: skip
    return lambda history: history[T.TRUNCATIONS].append(row)


def started(history: Tables) -> None:
    """The server.log of broker 3 is in the capture: it would tell of a truncation."""
    history[T.BROKER_STATEMENTS].append(stated_start(1, -1, kind="process_started", broker_id=3))


def lagging(history: Tables) -> None:
    """Replica 3 does not fetch for a minute of appends, and stays in the ISR."""
    last = rows_of(LEADER, **seq(1, 6))(history)[0]
    for second in range(1, 61):
        grown = {**leo(11 + second), "remote_log_end_offset": {1: 11 + second, 3: 11}, "event_type": "APPEND"}
        place = {"event_seq": 6 + second, "event_time": at(24 + second), "source_line": 100 + second}
        history[LEADER].append({**last, **grown, **place})


FIRST_OF_2 = seq(1, 1)
SHORTER = all_of(put(LEADER, FIRST_OF_2, **leo(7)), put(LEADER, seq(1, 2), **leo(7)), put(LEADER, seq(1, 3), **leo(7)))
UNCLEAN = all_of(
    put(T.METADATA_CHANGES, {"metadata_offset": 3}, isr=[1, 3]),
    put(T.METADATA_CHANGES, {"leader_epoch": 1}, isr=[2], is_unclean=True),
)
READER = {"replica_id": -1, "fetch_offset": 8}
BATCH = {"broker_id": 3, "base_offset": 5}

# fmt: off
DAMAGES = [
    #      what was done                                      the rule that sees it                                how
    Damage("an HW one too high",                              "HighWatermarkNeverExceedsLogEndOffset",             put(LEADER, seq(1, 6), **hw(12))),
    Damage("an HW that is NULL",                              "HighWatermarkNeverExceedsLogEndOffset",             put(LEADER, seq(1, 6), **hw(None))),
    Damage("an HW that fell by one",                          "HighWatermarkIsMonotoneWithinLeadership",           put(LEADER, seq(0, 7), **hw(4))),
    Damage("two HWs swapped",                                 "HighWatermarkIsMonotoneWithinLeadership",           swap(LEADER, seq(0, 8), seq(0, 9), "high_watermark", "high_watermark_low", "high_watermark_high")),
    Damage("an HW that is NULL amid others",                  "HighWatermarkIsMonotoneWithinLeadership",           put(LEADER, seq(0, 9), **hw(None))),
    Damage("a LEO that fell by one",                          "LogEndOffsetIsMonotoneWithinLeadership",            put(LEADER, seq(0, 9), **leo(7))),
    Damage("two LEOs swapped",                                "LogEndOffsetIsMonotoneWithinLeadership",            swap(LEADER, seq(0, 7), seq(0, 8), *leo(0))),
    Damage("an append moved behind the next fetch",           "LogEndOffsetIsMonotoneWithinLeadership",            swap(LEADER, seq(0, 11), seq(0, 12), "event_seq")),
    Damage("a log start above the HW",                        "LogStartAndStableOffsetNeverExceedHighWatermark",   put(LEADER, seq(0, 6), log_start_offset=6)),
    Damage("an LSO above the HW",                             "LogStartAndStableOffsetNeverExceedHighWatermark",   put(LEADER, seq(0, 6), last_stable_offset=6)),
    Damage("a log start that is NULL",                        "LogStartAndStableOffsetNeverExceedHighWatermark",   put(LEADER, seq(0, 6), log_start_offset=None)),
    Damage("an HW that rose under min ISR",                   "HighWatermarkStandsWhileUnderMinIsr",               put(LEADER, seq(0, 9), is_under_min_isr=True)),
    Damage("a leader out of its ISR",                         "LeaderIsInIsr",                                     put(LEADER, seq(0, 9), isr=[2, 3])),
    Damage("another broker's id for the leader's",            "LeaderIsInIsr",                                     put(LEADER, seq(0, 9), leader_id=4)),
    Damage("a remote LEO one too high",                       "RemoteLeoNeverExceedsLeaderLeo",                    put(LEADER, seq(0, 9), remote_log_end_offset={2: 9, 3: 5})),
    Damage("an ISR member that is behind the risen HW",       "IsrHoldsTheHighWatermarkWhenItRises",               put(LEADER, seq(0, 9), isr=[1, 2, 3])),
    Damage("an HW that rose one too far",                     "IsrHoldsTheHighWatermarkWhenItRises",               put(LEADER, seq(0, 12), **hw(9))),
    Damage("a remote LEO that is gone",                       "IsrHoldsTheHighWatermarkWhenItRises",               put(LEADER, seq(0, 14), remote_log_end_offset={2: 10})),
    Damage("an event twice",                                  "EventSequenceIsUnique",                             again(LEADER, seq(0, 9))),
    Damage("two events of one number",                        "EventSequenceIsUnique",                             put(LEADER, seq(0, 9), event_seq=10)),
    Damage("a leader that began below the HW",                "CleanlyElectedLeaderHoldsTheHighWatermark",         SHORTER),
    Damage("the same after an unclean election",              "CommittedRecordsSurviveElections",                  all_of(SHORTER, UNCLEAN)),
    Damage("a leader that lost committed records",            "NoCommittedRecordIsLost",                           SHORTER),
    Damage("a leader that lost what a producer was promised", "AcknowledgedByAllIsNeverLost",                      SHORTER),
    Damage("a leader that lost what a consumer has read",     "ConsumersReadNothingThatVanishes",                  SHORTER),
    Damage("a leader epoch whose file was deleted",           "EveryLeadershipHasEvents",                          drop(LEADER, leader_epoch=1)),
    Damage("a follower's HW above its LEO",                   "FollowerHighWatermarkNeverExceedsItsLogEndOffset",  put(REPLICA, {"replica_id": 3, **seq(1, 3)}, **hw(11))),
    Damage("a follower's HW that is NULL",                    "FollowerHighWatermarkNeverExceedsItsLogEndOffset",  put(REPLICA, {"replica_id": 3, **seq(1, 3)}, high_watermark=None)),
    Damage("a follower's HW that no leader had reached",      "FollowerHighWatermarkWasReachedByALeader",          put(REPLICA, {"replica_id": 3, **seq(1, 6)}, **leo(12), **hw(12))),
    Damage("a remote LEO above the follower's",               "RemoteLeoNeverExceedsFollowerLeo",                  put(REPLICA, {"replica_id": 2, **seq(0, 13)}, remote_log_end_offset=11)),
    Damage("a follower's LEO one too low",                    "RemoteLeoNeverExceedsFollowerLeo",                  put(REPLICA, {"replica_id": 2, **seq(0, 13)}, **leo(9))),
    Damage("a state of a replica that is gone",               "ReplicaStatesFollowEachOther",                      drop(REPLICA, replica_id=2, **seq(0, 9))),
    Damage("a state of a replica twice",                      "ReplicaStatesFollowEachOther",                      again(REPLICA, {"replica_id": 2, **seq(0, 9)})),
    Damage("two states' times swapped",                       "ReplicaStatesFollowEachOther",                      swap(REPLICA, {"replica_id": 2, **seq(0, 9)}, {"replica_id": 2, **seq(0, 13)}, "valid_from")),
    Damage("a state that never ended",                        "ReplicaStatesFollowEachOther",                      put(REPLICA, {"replica_id": 2, **seq(0, 9)}, valid_to=None)),
    Damage("a second leader of an epoch",                     "OneLeaderPerEpoch",                                 again(LINES, {"change_kind": "become_leader", "leader_epoch": 1}, broker_id=3, leader_id=3)),
    Damage("a follower that follows somebody else",           "LinesNameOneLeaderPerEpoch",                        put(LINES, {"change_kind": "become_follower", "leader_epoch": 1}, leader_id=1)),
    Damage("a stranger in a broker's ISR",                    "IsrMembersAreAssigned",                             put(LINES, {"change_kind": "become_leader", "leader_epoch": 1}, isr=[1, 7])),
    Damage("a stranger in the metadata's ISR",                "IsrIsSubsetOfReplicas",                             put(T.METADATA_CHANGES, {"metadata_offset": 2}, isr=[1, 7])),
    Damage("a partition epoch twice",                         "EpochsNeverGoBackInMetadata",                       put(T.METADATA_CHANGES, {"metadata_offset": 3}, partition_epoch=1)),
    Damage("a leader epoch that went back",                   "EpochsNeverGoBackInMetadata",                       lambda history: history[T.METADATA_CHANGES].append(partition_record(9, [1], [1, 2, 3], leader_epoch=0))),
    Damage("an epoch twice in a checkpoint",                  "EpochsAndStartsIncreaseInCheckpoint",               put(T.EPOCH_STARTS, {"broker_id": 2, "leader_epoch": 1}, leader_epoch=0)),
    Damage("two starts swapped in a checkpoint",              "EpochsAndStartsIncreaseInCheckpoint",               swap(T.EPOCH_STARTS, {"broker_id": 2, "leader_epoch": 0}, {"broker_id": 2, "leader_epoch": 1}, "start_offset")),
    Damage("a start that is NULL",                            "EpochsAndStartsIncreaseInCheckpoint",               put(T.EPOCH_STARTS, {"broker_id": 2, "leader_epoch": 1}, start_offset=None)),
    Damage("a producer's line twice",                         "NoLineLandsTwice",                                  again(T.PRODUCE_EVENTS, {"base_offset": 5})),
    Damage("a follower's line twice",                         "NoLineLandsTwice",                                  again(T.FETCH_EVENTS, {"replica_id": 2, "fetch_offset": 8})),
    Damage("a consumer that was given uncommitted records",   "ConsumersReadBelowTheHighWatermark",                put(T.FETCH_EVENTS, READER, fetch_offset=10)),
    Damage("the same under read_committed",                   "ConsumersReadBelowTheHighWatermark",                put(T.FETCH_EVENTS, READER, isolation_level=1, response_last_stable_offset=8)),
    Damage("a response without its HW",                       "ConsumersReadBelowTheHighWatermark",                put(T.FETCH_EVENTS, READER, response_high_watermark=None)),
    Damage("a diverging fetch that was recorded",             "DivergingFetchMovesNoRemoteLeo",                    put(T.FETCH_EVENTS, {"replica_id": 2, "fetch_offset": 8}, diverging_epoch=0)),
    Damage("a batch with another CRC",                        "LogsOfReplicasMatch",                               put(T.SEGMENT_BATCHES, BATCH, crc=99)),
    Damage("a batch of another epoch",                        "LogsOfReplicasMatch",                               put(T.SEGMENT_BATCHES, BATCH, leader_epoch=3)),
    Damage("a LEO stated at a shrink one higher",             "RebuiltOffsetsEqualStatedAtShrink",                 put(T.BROKER_STATEMENTS, {"kind": "shrinking_log_end_offset"}, offset=6)),
    Damage("an append that is not in the timeline",           "RebuiltOffsetsEqualStatedAtShrink",                 all_of(put(LEADER, seq(0, 4), **leo(4)), put(LEADER, seq(0, 5), **leo(4)), put(LEADER, seq(0, 6), **leo(4)), put(LEADER, seq(0, 7), **leo(4)))),
    Damage("a stated HW one higher",                          "RebuiltHighWatermarkEqualsStated",                  put(T.BROKER_STATEMENTS, {"leader_epoch": 1, "kind": "became_leader_high_watermark"}, offset=9)),
    Damage("a consumer that was told an HW of no event",      "ToldHighWatermarksWereReached",                     put(T.FETCH_EVENTS, READER, response_high_watermark=11)),
    Damage("an HW that the timeline steps over",              "ToldHighWatermarksWereReached",                     all_of(*[put(LEADER, seq(0, n), **hw(0)) for n in (6, 7, 8)])),
    Damage("a cut below the partition's HW",                  "NoReplicaTruncatesCommittedRecords",           cut(10, 9)),
    Damage("a LEO that fell and no line says why",            "OffsetsGoBackOnlyAsTold",                           all_of(cut(11, 10, is_stated=False), started)),
    Damage("an ISR member that lags for a minute",            "IsrMembersKeepUp",                                  lagging),
]
# fmt: on
DROPPED_FETCHES = Damage(
    "dropped fetches", "FetchSessionsHaveNoGaps", drop(T.FETCH_EVENTS, replica_id=2, fetch_offset=5)
)
"""A gap in a session, which is of no partition but of all that it names."""


def damaged(damage: Damage | None) -> Tables:
    """The good history with the damage done to it."""
    history = good_history()
    if damage is not None:
        damage.do(history)
    return history
