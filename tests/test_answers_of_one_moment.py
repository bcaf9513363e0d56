"""Fetches of one replica in one moment, by its leader's clock: each comes after the answer to the one before it."""

from __future__ import annotations

import pytest

from replay.releases import profile_for
from tests.literal_lines import append, at, begins, begins_with, fetch, told_of_brokers
from tests.rebuilt import Answers, Logs, asked

pytestmark = pytest.mark.spark

AT_ONCE = "at_once"


@asked
def of_one_moment() -> Logs:
    """Three fetches, each answered with records, a twentieth of a millisecond after the last had come; 3 is away."""
    answered = [
        fetch(AT_ONCE, 100, 2, offset, 0)
        | {"session_id": 1, "session_epoch": epoch, "session_unbroken_since": 0, "response_time": at(100.05)}
        for epoch, offset in enumerate((0, 10, 16))
    ]
    last = fetch(AT_ONCE, 200, 2, 20, 0) | {"session_id": 1, "session_epoch": 3, "session_unbroken_since": 0}
    landing = {
        "leader_changes": [begins(AT_ONCE)],
        "broker_statements": [begins_with(AT_ONCE, 0)],
        "produce_events": [append(AT_ONCE, 50, 0, 10), append(AT_ONCE, 60, 10, 16), append(AT_ONCE, 70, 16, 20)],
        "fetch_events": [*answered, last],
    } | told_of_brokers([AT_ONCE])  # fmt: skip
    return Logs(landing, {AT_ONCE: profile_for("4.1.0", "4.1", 10_000)}, 3)


def test_its_log_only_grows(rebuilt: Answers) -> None:
    """It has what each answer brought before it asks for more."""
    replica = [row for row in rebuilt[of_one_moment][AT_ONCE].replica if row["replica_id"] == 2]

    assert [row["log_end_offset"] for row in replica if row["log_end_offset"] >= 0] == sorted(
        row["log_end_offset"] for row in replica if row["log_end_offset"] >= 0
    )
    assert {0, 10, 16, 20} <= {row["log_end_offset"] for row in replica}
