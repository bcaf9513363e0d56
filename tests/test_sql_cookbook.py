"""Each file of examples/sql answers its question of a history whose answer is known."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from replay.views.catalog import VIEWS
from schemas import tables as T
from schemas.functions import FUNCTIONS
from tests.checked_rows import HERE, appended, at, event, lost
from tests.frames import rows

pytestmark = pytest.mark.spark

COOKBOOK = Path(__file__).parent.parent / "examples" / "sql"


def finding(kind: str, replica_id: int, begin: float, end: float | None, offsets: tuple[int, int]) -> dict[str, Any]:
    """An incident."""
    return {
        **HERE, "incident_id": f"{kind}{replica_id}{begin}", "kind": kind, "severity": "warning", "leader_epoch": 2,
        "replica_id": replica_id, "started_at": at(begin), "ended_at": None if end is None else at(end),
        "from_offset": offsets[0], "to_offset": offsets[1], "evidence": "as told",
    }  # fmt: skip


def judged(run_id: str, day: int) -> dict[str, Any]:
    """A rule in a run."""
    return {"cluster_id": "c", "run_id": run_id, "run_at": at(86_400 * day), "rule": "R", "severity": "critical"}


def violation(run_id: str, name: str) -> dict[str, Any]:
    """A violation of it."""
    keys = {"topic": "ledger", "partition": "0", "event_seq": name}
    return {"cluster_id": "c", "run_id": run_id, "rule": "R", "violation_id": name, "keys": keys}


OF_FINDING = {"kind": "COMMITTED_RECORDS_LOST", "topic": "ledger", "partition": "1"}

GIVEN = lost() | {
    T.LEADER_TIMELINE: [
        *[row for row in lost()[T.LEADER_TIMELINE] if row["event_seq"] != 2],
        event(0, 2, 11, 10, replica_id=2, remote_log_end_offset={2: 7, 3: 8}),
    ],
    T.INCIDENTS: [
        finding("COMMITTED_RECORDS_LOST", 1, 20, None, (10, 11)),
        finding("ISR_SHRUNK", 2, 1, 5, (-1, -1)),
        finding("ISR_SHRUNK", 2, 6, 16.726, (-1, -1)),
        finding("HIGH_WATERMARK_STALLED", 2, 1, 5, (10, 11)),
        finding("CONSUMER_READ_LOST_RECORDS", -1, 20, None, (10, 11)),
        finding("LOG_DIVERGENCE", 1, 20, 25, (10, 11)),
        finding("UNDER_MIN_ISR", -1, 2, 4, (-1, -1)),
    ],
}
GIVEN |= {
    T.LEADER_TIMELINE: [
        *GIVEN[T.LEADER_TIMELINE],
        *(event(0, seq, leo, hw, topic="waits", event_type=kind, isr=[1, 2], maximal_isr=[1, 2], log_start_offset=2,
                last_stable_offset=hw, replica_id=2, remote_log_end_offset={2: remote}, high_watermark_limited_by=[2])
          for seq, kind, leo, hw, remote in ((1, "APPEND", 9, 4, 4), (21, "FETCH", 9, 6, 6), (23, "FETCH", 9, 9, 9))),
        *(event(0, seq, 5, 5, topic="out", event_type=kind, isr=isr, remote_log_end_offset={2: 5})
          for seq, kind, isr in ((1, "BECOME_LEADER", [1, 2]), (2, "ISR_CHANGE", [1]), (6, "ISR_CHANGE", [1, 2]))),
    ],
    T.FETCH_EVENTS: [
        {**HERE, "topic": "waits", "leader_epoch": 0, "broker_id": 1, "event_time": at(second), "replica_id": -1,
         "client_id": name, "fetch_offset": offset, "error_code": error, "isolation_level": 0,
         "response_high_watermark": answer}
        for second, name, offset, error, answer in ((23.5, "jumped", 12, 1, -1), (1.5, "ahead", 7, 0, 4))
    ],
}  # fmt: skip
GIVEN |= {
    T.LEADER_TIMELINE: [*GIVEN[T.LEADER_TIMELINE], event(0, 1, 9, 9, topic="stuck", last_stable_offset=5)],
    T.INCIDENTS: [*GIVEN[T.INCIDENTS], {**finding("UNCOMMITTED_RECORDS_LOST", 1, 20, None, (6, 9)), "topic": "stuck"}],
    T.PRODUCE_EVENTS: [
        *GIVEN[T.PRODUCE_EVENTS],
        {**appended(7, 7), "topic": "stuck", "is_control": True, "transaction_result": "COMMIT", "producer_id": 9},
    ],
    T.CHECK_RESULTS: [judged("yesterday", 1), judged("tonight", 2), judged("tonight", 2) | {"rule": "F"}],
    T.CHECK_VIOLATIONS: [
        *(violation(run, name) for run, name in (("yesterday", "old"), ("tonight", "old"), ("tonight", "new"))),
        violation("tonight", "found") | {"rule": "F", "keys": {"incident_id": "i"}, "observed": OF_FINDING},
    ],
}
ANSWERS: dict[str, dict[str, object]] = {
    "read-committed-stuck": {
        "topic": "stuck",
        "last_stable_offset": 5,
        "marker_offset": 7,
        "transaction_result": "COMMIT",
    },
    "rules-of-truncation": {"method": "high_watermark", "records_cut": 1, "committed_records_cut": 1, "divergences": 1},
    "what-fails-tonight": {"rule": "R", "topic": "ledger", "violations": 2, "new_ones": 1},
    "what-sharing-would-tell": {"what": "topic", "told": "ledger"},
    "state-at": {"topic": "ledger", "leader_id": 1, "replica_id": 1, "role": "LEADER", "leader_high_watermark": 10},
    "what-was-lost": {"kind": "COMMITTED_RECORDS_LOST", "from_offset": 10, "to_offset": 11, "records": 1},
    "who-held-the-high-watermark": {"topic": "waits", "why": "NOT_FETCHING", "waits_for": [2], "lasted_ms": 20000},
    "isr-flapping": {"clustered_by": "cluster", "times_out": 1, "seconds_out_median": 4.0},
    "times-out-of-the-isr": {"replica_id": 2, "times_out": 2, "partitions": 1, "median_seconds_out": 7.363},
    "why-out-of-range": {"client_id": "jumped", "position_is": "BEYOND_LOG_END"},
    "negative-lag": {"client_id": "ahead", "lag": -3, "cause": "the leader knew an old one"},
    "way-back-into-the-isr": {"replica_id": 2, "first_fetch_after": at(2).replace(tzinfo=None)},
    "uncommitted-records-exposed": {"replica_id": 1, "cut_to": 10, "records_exposed": 1},
    "commit-latency": {"topic": "waits", "appends": 1, "p99_ms": 22000.0},
    "record-seconds-with-one-copy": {"topic": "waits", "most_records": 5, "record_seconds": 106.0},
    "consumers-that-read-lost-records": {"from_offset": 10},
    "truncations-below-the-high-watermark": {"replica_id": 1, "from_offset": 11, "to_offset": 10},
    "diverging-logs": {"replica_id": 1, "from_offset": 10},
    "had-the-leader-died": {"leader_id": 1, "could_lose": 5},
    "under-min-isr": {"evidence": "as told"},
    "high-watermark-that-went-back": {"leader_epoch": 1, "before_it": 11, "high_watermark": 10},
    "state-of-a-partition": {"leader_id": 3, "high_watermark": 10},
}


def test_every_file_has_an_answer() -> None:
    """No query is shown that no test runs."""
    assert {path.stem for path in COOKBOOK.glob("*.sql")} == set(ANSWERS)


def test_each_of_the_questions_has_a_file() -> None:
    """U1 to U18, as the first line of a file names them."""
    firsts = [path.read_text(encoding="utf-8").split("\n", 1)[0] for path in COOKBOOK.glob("*.sql")]
    claimed = {name for line in firsts for name in re.findall(r"\bU\d+\b", line)}

    assert claimed == {f"U{number}" for number in range(1, 19)}


@pytest.fixture(scope="module")
def asked(spark: SparkSession) -> SparkSession:
    """A session with all tables and views of the history."""
    tables = {t: rows(spark, t, *GIVEN.get(t, ())) for t in T.ALL_TABLES}
    for table, frame in tables.items():
        frame.createOrReplaceTempView(table.name)
    for view in VIEWS:
        view.make(*[tables[table] for table in view.of]).createOrReplaceTempView(view.name)
    for function in FUNCTIONS:
        spark.sql(function.sql)
    return spark


@pytest.mark.parametrize("name", ANSWERS)
def test_the_first_row_is_the_answer(name: str, asked: SparkSession) -> None:
    """And there is one."""
    first = asked.sql((COOKBOOK / f"{name}.sql").read_text(encoding="utf-8")).first()

    assert first is not None
    assert {key: first[key] for key in ANSWERS[name]} == ANSWERS[name]


def test_a_finding_fails_in_its_partition(asked: SparkSession) -> None:
    """Its key is its id: where it was found stands among what was observed."""
    rows_of = asked.sql((COOKBOOK / "what-fails-tonight.sql").read_text(encoding="utf-8")).where("rule = 'F'").collect()

    assert [(row["cluster_id"], row["topic"], row["partition"], row["new_ones"]) for row in rows_of] == [
        ("c", "ledger", "1", 1)
    ]
