"""The brokers' DEBUG and TRACE lines into rows of truth: every kind in its wordings, and what a role is good for."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from cluster.truth import parse, truth_rows, write_truth

AT = "[2026-11-21 10:36:42,809]"
MS = 1795257402809
LOG = "[UnifiedLog partition=clicks-0, dir=/d]"
CLICKS = {"topic": "clicks", "partition": 0}

LEADER = (
    f"{AT} INFO [Broker id=1] Leader clicks-0 with topic id Some(7_JD) starts at leader epoch 3 from offset 9 with "
    "partition epoch 5, high watermark 7, ISR [3,1], adding replicas [] and removing replicas [] . Previous leader "
    "Some(2) and previous leader epoch was 2. (state.change.logger)"
)

CASES = {
    "leader HW": (
        (
            "DEBUG [Partition clicks-0 broker=1] High watermark updated from (offset=4, segment=[0:9]) to (offset=7, "
            "segment=[0:20]) (kafka.cluster.Partition)"
        ),
        {"kind": "leader_hw", "from": 4, "to": 7},
    ),
    "leader HW, 3.5": (
        (
            "DEBUG [Partition clicks-0 broker=1] High watermark updated from (offset=4segment=[0:9]) to "
            "(offset=7segment=[0:20]) (kafka.cluster.Partition)"
        ),
        {"kind": "leader_hw", "from": 4, "to": 7},
    ),
    "leader HW, 2.4": (
        (
            "DEBUG [Partition clicks-0 broker=1] High watermark updated from (offset=4 segment=[0:9]) to (offset=7 "
            "segment=[0:20]) (kafka.cluster.Partition)"
        ),
        {"kind": "leader_hw", "from": 4, "to": 7},
    ),
    "leader HW, 2.3": (
        (
            "DEBUG [Partition clicks-0 broker=1] High watermark updated to (offset=7 segment=[0:20]) "
            "(kafka.cluster.Partition)"
        ),
        {"kind": "leader_hw", "to": 7},
    ),
    "remote LEO": (
        (
            "DEBUG [Partition clicks-0 broker=1] Recorded replica 2 log end offset (LEO) position 7 and log start "
            "offset 0. (kafka.cluster.Partition)"
        ),
        {"kind": "remote_leo", "replica": 2, "to": 7},
    ),
    "append": (
        (
            f"TRACE {LOG} Appended message set with last offset: 8, first offset: 6, next offset: 9, and messages: "
            "MemoryRecords(size=77, buffer=x) (org.apache.kafka.storage.internals.log.UnifiedLog)"
        ),
        {"kind": "append", "last": 8, "first": 6, "to": 9},
    ),
    "append, 3.6": (
        (
            f"TRACE {LOG} Appended message set with last offset: 8, first offset: Optional[(offset=6, segment=[0:0])], "
            "next offset: 9, and messages: MemoryRecords(size=77, buffer=x) (kafka.log.UnifiedLog)"
        ),
        {"kind": "append", "last": 8, "first": 6, "to": 9},
    ),
    "append, 2.4": (
        (
            "TRACE [Log partition=clicks-0, dir=/d] Appended message set with last offset: 8, first offset: Some(6), "
            "next offset: 9, and messages: MemoryRecords(size=342, buffer=java.nio.HeapByteBuffer[pos=0]) "
            "(kafka.log.Log)"
        ),
        {"kind": "append", "last": 8, "first": 6, "to": 9},
    ),
    "follower LEO": (
        (
            "TRACE [ReplicaFetcher replicaId=2, leaderId=1, fetcherId=0] Follower has replica log end offset 9 after "
            "appending 77 bytes of messages for partition clicks-0 (kafka.server.ReplicaFetcherThread)"
        ),
        {"kind": "follower_leo", "replica": 2, "leader": 1, "to": 9, "bytes": 77},
    ),
    "follower HW": (
        (
            "TRACE [ReplicaFetcher replicaId=2, leaderId=1, fetcherId=0] Follower received high watermark 8 from the "
            "leader and updated replica high watermark to 7 for partition clicks-0 (kafka.server.ReplicaFetcherThread)"
        ),
        {"kind": "follower_hw", "replica": 2, "leader": 1, "received": 8, "to": 7},
    ),
    "follower HW, 2.4": (
        (
            "TRACE [ReplicaFetcher replicaId=2, leaderId=1, fetcherId=0] Follower set replica high watermark for "
            "partition clicks-0 to 7 (kafka.server.ReplicaFetcherThread)"
        ),
        {"kind": "follower_hw", "replica": 2, "leader": 1, "to": 7},
    ),
    "truncation": (
        f"INFO {LOG} Truncating to offset 5 (kafka.log.UnifiedLog)",
        {"kind": "truncate", "to": 5},
    ),
    "log start": (
        f"INFO {LOG} Incremented log start offset to 40 due to client delete records request (kafka.log.UnifiedLog)",
        {"kind": "log_start", "to": 40, "why": "client delete records request"},
    ),
    "log start, 2.4": (
        "INFO [Log partition=clicks-0, dir=/d] Incrementing log start offset to 40 (kafka.log.Log)",
        {"kind": "log_start", "to": 40},
    ),
    "HW at load": (
        (
            "INFO [Partition clicks-0 broker=1] Log loaded for partition clicks-0 with initial high watermark 6 "
            "(kafka.cluster.Partition)"
        ),
        {"kind": "loaded", "to": 6},
    ),
    "follower": (
        (
            "INFO [Broker id=1] Follower clicks-0 starts at leader epoch 4 from offset 9 with partition epoch 6 and "
            "high watermark 8. Current leader is -1. Previous leader Some(1) and previous leader epoch was 3. "
            "(state.change.logger)"
        ),
        {"kind": "become_follower", "epoch": 4, "leo": 9, "to": 8, "leader": -1},
    ),
    "follower, 2.6": (
        (
            "INFO [Broker id=1] Follower clicks-0 starts at leader epoch 4 from offset 9 with high watermark 8. "
            "Previous leader epoch was 3. (state.change.logger)"
        ),
        {"kind": "become_follower", "epoch": 4, "leo": 9, "to": 8},
    ),
    "leader, 2.4": (
        (
            "INFO [Partition clicks-0 broker=1] clicks-0 starts at leader epoch 3 from offset 9 with high watermark 7. "
            "Previous leader epoch was 2. (kafka.cluster.Partition)"
        ),
        {"kind": "become_leader", "epoch": 3, "leo": 9, "to": 7},
    ),
    "leader, 2.4.0": (
        (
            "INFO [Partition clicks-0 broker=1] clicks-0 starts at Leader Epoch 3 from offset 9. Previous Leader Epoch "
            "was: 2 (kafka.cluster.Partition)"
        ),
        {"kind": "become_leader", "epoch": 3, "leo": 9},
    ),
    "leader, 2.6": (
        (
            "INFO [Broker id=1] Leader clicks-0 starts at leader epoch 3 from offset 9 with high watermark 7 ISR [3,1] "
            "addingReplicas [] removingReplicas []. Previous leader epoch was 2. (state.change.logger)"
        ),
        {"kind": "become_leader", "epoch": 3, "leo": 9, "to": 7, "isr": [3, 1]},
    ),
    "leader": (
        LEADER.removeprefix(f"{AT} "),
        {"kind": "become_leader", "epoch": 3, "leo": 9, "to": 7, "isr": [3, 1]},
    ),
}

NO_STATEMENT = {
    "a HW that stayed": "TRACE [ReplicaFetcher replicaId=2, leaderId=1, fetcherId=0] Follower received high watermark 8"
    " from the leader but did not update replica high watermark for partition clicks-0 (k.R)",
    "a truncation of nothing": f"INFO {LOG} Truncating to 9 has no effect as the largest offset in the log is 8 (k.U)",
    "an internal topic": "DEBUG [Partition __consumer_offsets-0 broker=1] Recorded replica 2 log end offset (LEO) "
    "position 7 and log start offset 0. (kafka.cluster.Partition)",
    "another line": "INFO [BrokerServer id=1] Transition from SHUTDOWN to STARTING (kafka.server.BrokerServer)",
}


@pytest.mark.parametrize(("line", "told"), CASES.values(), ids=CASES)
def test_every_kind_is_read(line: str, told: dict[str, Any]) -> None:
    """The kind, its time, its partition and what is said of it."""
    assert parse(f"{AT} {line}") == {**CLICKS, "ts": MS, **told}


@pytest.mark.parametrize("line", NO_STATEMENT.values(), ids=NO_STATEMENT)
def test_what_changes_nothing_is_no_statement(line: str) -> None:
    """Only what took effect, and only of topics that are compared."""
    assert parse(f"{AT} {line}") is None


def test_a_statement_belongs_to_the_epoch_of_the_role_before_it() -> None:
    """The lines themselves name no epoch: it is that of the broker's last role; before the first it is unknown."""
    loaded, truncated = (f"{AT} {CASES[name][0]}" for name in ("HW at load", "truncation"))

    rows = list(truth_rows(1, [[loaded, LEADER, truncated]]))

    assert [(row["kind"], row["line"], row["epoch"]) for row in rows] == [
        ("loaded", 0, None),
        ("become_leader", 1, 3),
        ("truncate", 2, 3),
    ]


def test_of_two_logs_the_state_change_log_is_first_within_a_millisecond(tmp_path: Path) -> None:
    """Where the role stands in a file of its own it begins before what the broker then does."""
    folder = tmp_path / "trace" / "broker-7"
    folder.mkdir(parents=True)
    (folder / "server.log").write_text(f"{AT} {CASES['truncation'][0]}\n", encoding="utf-8")
    with gzip.open(folder / "state-change.log.gz", "wt", encoding="utf-8") as out:
        out.write(f"{LEADER}\n")

    count = write_truth(tmp_path / "trace", tmp_path / "truth.jsonl.gz")

    with gzip.open(tmp_path / "truth.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    assert count == 2
    assert [(row["kind"], row["broker"], row["epoch"]) for row in rows] == [("become_leader", 7, 3), ("truncate", 7, 3)]
