"""Numbers that are missing in a fetch session."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from replay.findings.finding import with_id
from replay.findings.session_gaps import session_gaps
from schemas.tables import FETCH_EVENTS
from tests.checked_rows import HERE, Given, at
from tests.frames import rows
from tests.sessions import with_unbroken

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

MISSING = (2, 63, 64, 65, 127, 128, 198)


def session(number: int, *missing: int) -> list[Given]:
    """A follower's requests 1 to 199 of one partition, but for those that are missing."""
    return [
        {
            **HERE, "broker_id": 1, "replica_id": 2, "session_id": number, "session_epoch": epoch, "is_implied": False,
            "error_code": 0, "response_high_watermark": epoch, "event_time": at(epoch),
        }
        for epoch in range(1, 200)
        if epoch not in missing
    ]  # fmt: skip


def test_a_missing_number_is_a_gap_wherever_it_is(spark: SparkSession) -> None:
    """One missing is one gap, in that session alone; in one that has all of them there is none."""
    given = [row for number in MISSING for row in session(number, number)]
    found = session_gaps(rows(spark, FETCH_EVENTS, *with_unbroken([*given, *session(500)]))).collect()

    expected = {f"session {n} of replica 2 at broker 1: request {n + 1} follows {n - 1}" for n in MISSING}
    assert {row["evidence"].removeprefix("fetch ") for row in found} == expected
    assert len(found) == len(MISSING)


def test_what_came_with_another_delivery_is_no_gap(spark: SparkSession) -> None:
    """Requests 51 and after landed first, unbroken since 51; those before came later, but for 30."""
    late = [row | {"session_unbroken_since": 1 if row["session_epoch"] < 30 else 31} for row in session(1, 30)[:49]]
    first = [row | {"session_unbroken_since": 51} for row in session(1)[50:]]
    (found,) = session_gaps(rows(spark, FETCH_EVENTS, *first, *late)).collect()

    assert found["evidence"] == "fetch session 1 of replica 2 at broker 1: request 31 follows 29"
    assert [found[when].second for when in ("started_at", "ended_at")] == [at(29).second, at(31).second]


def test_gaps_of_two_sessions_at_once_are_two_incidents(spark: SparkSession) -> None:
    """Of no partition, and from the same millisecond on: the sessions are told apart."""
    fetches = rows(spark, FETCH_EVENTS, *with_unbroken([*session(1, 50), *session(2, 50)]))
    ids = {row["incident_id"] for row in with_id(session_gaps(fetches)).collect()}

    assert len(ids) == 2
