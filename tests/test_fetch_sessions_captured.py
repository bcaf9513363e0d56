"""What real fetch sessions leave unsaid, beside a dictionary a session."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from schemas.tables import FETCH_EVENTS
from tests.captured import Tables

pytestmark = [pytest.mark.spark, pytest.mark.captured]


@pytest.mark.parametrize("name", ["failover", "hw_truncation", "epoch_truncation"])
def test_a_real_capture_equals_a_replay_one_request_at_a_time(
    landed_capture: Callable[[str], Tables], captures: Path, name: str
) -> None:
    """Every partition's every fetch, by a dictionary a session, has its row, or lies in a run whose last one has."""
    rows = landed_capture(name)[FETCH_EVENTS.name].collect()
    id_of = {row.topic: row.topic_id for row in rows}
    expected = set()
    for broker_id in (1, 2, 3):
        with gzip.open(captures / name / "capture" / f"broker-{broker_id}" / "kafka-request.log.gz", "rt") as log:
            told = _one_at_a_time(log.read().splitlines())
        expected |= {(broker_id, line, id_of.get(topic, topic), *fetch) for line, topic, *fetch in told}
    found = [
        (row.broker_id, row.source_line, row.topic_id, row.partition, row.fetch_offset, row.is_implied) for row in rows
    ]
    assert len(found) == len(set(found))
    assert set(found) == expected


def _one_at_a_time(texts: list[str]) -> Iterator[tuple[int, str, int, int, bool]]:
    """Line, topic, partition, fetch offset and whether it is implied, of every fetch that must have a row."""
    runs: dict[tuple[Any, ...], tuple[int, str, int, int, bool]] = {}
    sessions: dict[int, dict[tuple[str, int], int]] = {}
    for number, text in enumerate(texts, 1):
        found = re.search(r"Completed request:(\{.*\})", text)
        assert found
        entry = json.loads(found[1])
        request, response = entry["request"], entry["response"]
        if entry["requestHeader"]["requestApiKeyName"] != "FETCH" or response.get("errorCode"):
            continue
        epoch = request.get("sessionEpoch", -1)
        session_id = request["sessionId"] if epoch > 0 else response.get("sessionId", 0)
        session = sessions.setdefault(session_id, {}) if session_id else {}
        listed = {(_topic(t), p["partition"]): p["fetchOffset"] for t in request["topics"] for p in t["partitions"]}
        answered = {(_topic(t), p) for t in response["responses"] for p in _partitions(t)}
        session.update(listed)
        for topic in request.get("forgottenTopicsData", []):
            for partition in topic["partitions"]:
                session.pop((_topic(topic), partition), None)
                if last_implied := runs.pop((session_id, _topic(topic), partition), None):
                    yield last_implied
        for key, offset in session.items():
            fetch = (number, *key, offset, key not in listed)
            if key in listed or key in answered:
                if last_implied := runs.pop((session_id, *key), None):
                    yield last_implied
                yield fetch
            else:
                runs[session_id, *key] = fetch
    yield from runs.values()


def _topic(topic: dict[str, Any]) -> str:
    return str(topic.get("topic") or topic["topicId"])


def _partitions(topic: dict[str, Any]) -> list[int]:
    answers = topic.get("partitions") or topic["partitionResponses"]
    return [answer.get("partitionIndex", answer.get("partition")) for answer in answers]
