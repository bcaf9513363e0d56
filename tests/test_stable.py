"""The last stable offset where no dump tells whose transactions are in the log."""

from __future__ import annotations

import pytest

from replay.profile import profile_for
from tests.rebuilt import Answers, Logs, asked
from tests.story import SCENARIOS, load
from tests.twin.histories import combined

pytestmark = pytest.mark.spark


@asked
def without_a_dump() -> Logs:
    """A transaction as its leader's requests alone tell of it: a request names no producer, and no marker is one."""
    story = load(SCENARIOS / "an_open_transaction_holds_the_lso.txt")
    landing = combined([story])
    requests = [{**row, "producer_id": -1} for row in landing["produce_events"] if not row["is_control"]]
    return Logs({**landing, "produce_events": requests}, {story.name: profile_for("4.1.0")}, 2)


def test_without_a_dump_it_is_unknown_past_the_first_transaction(rebuilt: Answers) -> None:
    """At HW 5 nobody knows whether a transaction is open."""
    (told,) = rebuilt[without_a_dump].values()
    found = {(row["high_watermark"], row["last_stable_offset"]) for row in told.leader}

    assert found == {(0, 0), (5, -1), (6, -1)}
