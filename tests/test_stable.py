"""The last stable offset where no dump tells whose transactions are in the log: what responses told, or unknown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import pytest

from replay.releases import profile_for
from tests.rebuilt import Answers, Logs, asked
from tests.story import SCENARIOS, load, tell
from tests.told import Told
from tests.twin.histories import combined, history
from tests.without_producers import before_2_8, without_producers

pytestmark = pytest.mark.spark

STORIES = (
    "an_open_transaction_holds_the_lso", "lso_at_a_new_leader", "lso_is_floored_at_the_log_start",
    "lso_of_a_marker_that_was_lost_later", "lso_of_a_transaction_that_was_lost_later", "lso_of_two_transactions",
    "lso_where_offsets_are_used_again", "a_log_given_up_knows_no_transaction_below",
)  # fmt: skip
COORDINATED = """# A coordinator appends a producer's offsets (0 to 2) and their marker (3): no request tells of either.
1 leads epoch 0, replicas 1 2, isr 1 2  | 1:0  2:?  hw 0  lso 0
append 3, txn 7                         | 1:3  2:?  hw 0
2 fetches at 0                          | 1:3  2:0  hw 0
2 fetches at 3, at once                 | 1:3  2:3  hw 3  lso 0
consumer fetches at 0                   | hw 3  lso 0
commit 7                                | 1:4  2:3  hw 3  lso 0
2 fetches at 3                          | 1:4  2:3  hw 3  lso 0
2 fetches at 4, at once                 | 1:4  2:4  hw 4  lso 4
consumer fetches at 0                   | hw 4  lso 4
"""
STARTED = """# All below 3 is deleted while the HW stands: the LSO, held at 1 until then, is where the log now starts.
1 leads epoch 0, replicas 1 2, isr 1 2  | 1:0  2:?  hw 0  lso 0
append 1                                | 1:1  2:?  hw 0
append 3, txn 7                         | 1:4  2:?  hw 0
2 fetches at 0                          | 1:4  2:0  hw 0
2 fetches at 4, at once                 | 1:4  2:4  hw 4  lso 1
consumer fetches at 0                   | hw 4  lso 1
log start 3                             | hw 4  log start 3  lso 3
consumer fetches at 3                   | hw 4  lso 3
append 1                                | 1:5  2:4  hw 4  lso 3
2 fetches at 4                          | 1:5  2:4  hw 4  lso 3
2 fetches at 5, at once                 | 1:5  2:5  hw 5  lso 3
"""


@cache
def given() -> Logs:
    """Stories of transactions, and histories."""
    told = [*(load(SCENARIOS / f"{name}.txt") for name in STORIES), *map(history, range(700, 720))]
    return Logs(combined(told), {each.name: profile_for("4.1.0") for each in told}, 6)


@asked
def with_producers() -> Logs:
    """What the leaders' logs tell, dumps and all."""
    return given()


@asked
def by_requests_alone() -> Logs:
    """The same without dumps: no request names a producer, and markers are known by the requests for them."""
    return replace(given(), landing=without_producers(given().landing))


@asked
def by_requests_before_2_8() -> Logs:
    """Nor does a request tell whether it is of a transaction."""
    return replace(given(), landing=before_2_8(given().landing))


@asked
def of_a_coordinator() -> Logs:
    """No append of the one partition has a line."""
    story = tell("coordinated", COORDINATED)
    other = load(SCENARIOS / "an_open_transaction_holds_the_lso.txt")
    return Logs(
        {**combined([story, other]), "produce_events": without_producers(other.landing)["produce_events"]},
        {each.name: profile_for("4.1.0") for each in (story, other)}, 2,
    )  # fmt: skip


@asked
def of_deleted_records() -> Logs:
    """A log start that rises above the LSO."""
    story = tell("started", STARTED)
    return Logs(without_producers(story.landing), {story.name: profile_for("4.1.0")}, 2)


def lsos(told: Told) -> list[tuple[int, int]]:
    """HW and LSO after each event."""
    return [(row["high_watermark"], row["last_stable_offset"]) for row in told.leader]


@pytest.mark.parametrize("logs", [by_requests_alone, by_requests_before_2_8], ids=["json", "text"])
def test_what_was_told_is_as_the_log_has_it(logs: object, rebuilt: Answers) -> None:
    """Wherever it is known it is what the transactions in the log say, and it is known nearly everywhere."""
    found = Counter(_compared(rebuilt[with_producers], rebuilt[logs]))

    assert found["other"] == 0
    assert found["held back"] > 200
    assert found["unknown"] < 0.15 * found.total()


def _compared(all_told: object, less_told: object) -> Iterator[str]:
    for name, told in all_told.items():
        for (hw, lso), (other_hw, other) in zip(lsos(told), lsos(less_told[name]), strict=True):
            assert hw == other_hw
            yield "unknown" if other < 0 <= lso else "other" if other != lso else "held back" if lso < hw else "at HW"


def test_without_a_dump_it_is_what_was_told(rebuilt: Answers) -> None:
    """At HW 5 a consumer was told 2; with HW 6 nobody was told anything before the log ends."""
    assert {*lsos(rebuilt[by_requests_alone][STORIES[0]])} == {(0, 0), (5, 2), (6, -1)}


def test_a_coordinator_appends_what_no_request_tells(rebuilt: Answers) -> None:
    """An open transaction is told of, and no append of one is there: the LSO is not taken for the HW."""
    assert {*lsos(rebuilt[of_a_coordinator]["coordinated"])} == {(0, 0), (3, 0), (4, 4)}


def test_what_was_told_may_be_the_log_start(rebuilt: Answers) -> None:
    """With HW 4 it was 1 before records were deleted, and is 3 since; with HW 5, of which nobody heard, unknown."""
    assert [*dict.fromkeys(lsos(rebuilt[of_deleted_records]["started"]))] == [(0, 0), (4, 1), (4, 3), (5, -1)]
