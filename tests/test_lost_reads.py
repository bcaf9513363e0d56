"""Who had read what later vanished: each consumer is a small history of its own, told by its positions."""

from __future__ import annotations

import pytest

from replay.findings import consumers
from replay.findings.consumers import reads_of_lost_records
from schemas import tables as T
from tests.checked_rows import Given, event
from tests.incident_histories import fetch, led, read
from tests.mutants import Mutant
from tests.small_histories import Findings, Told, by_topic, told_once

pytestmark = pytest.mark.spark

BEGUN_AGAIN = event(0, 10, 2, 2, event_type="BECOME_LEADER")
LEDGERS = {
    # Of [0, 5) the leader of epoch 1 has [0, 2), and appends two records where the others were.
    "elected": led(event(0, 1, 0, 0), event(0, 2, 5, 5), event(1, 1, 2, 2), event(1, 2, 4, 4)),
    # Then 1 leads again, without what 2 had appended.
    "elected_twice": led(
        event(0, 1, 0, 0), event(0, 2, 5, 5), event(1, 1, 2, 2), event(1, 2, 4, 4), event(2, 1, 2, 2, leader_id=1)
    ),
    # The leader restarts without its tail, and keeps its epoch.
    "restarted": led(event(0, 1, 0, 0), event(0, 2, 5, 5), BEGUN_AGAIN, event(0, 12, 4, 4)),
    # The HW was 5 at least, and 8 at most.
    "bounded": led(event(0, 1, 0, 0), event(0, 2, 10, 5, high_watermark_high=8), event(1, 1, 4, 4)),
}
READERS: dict[str, tuple[str, list[Given]]] = {
    "step_by_step": ("elected", [read("", 1, 1), read("", 2, 3), read("", 3, 4, records_size=0)]),
    # It starts again from where it had committed.
    "asked_twice": ("elected", [read("", 1, 1), read("", 2, 1), read("", 3, 3, records_size=0)]),
    "from_within": ("elected", [read("", 1, 3), read("", 2, 4), read("", 3, 5, records_size=0)]),
    "then_more": ("elected", [read("", 1, 1), read("", 2, 3)]),
    # Its next position is past all that it was given: it went there by itself, or what is between is no longer told.
    "past_the_end": ("elected", [read("", 1, 1), read("", 11, 7, leader_epoch=1, error_code=1)]),
    # A response may have had no room for the partition: what it is at later, it read from the next leader.
    "given_nothing": ("elected", [read("", 1, 1, records_size=0), read("", 11, 4, leader_epoch=1, records_size=0)]),
    "went_back": ("elected", [read("", 1, 4), read("", 2, 2, records_size=0)]),
    # It had read them before the log begins, or began at the end.
    "first_seen_at_the_end": ("elected", [read("", 1, 5, records_size=0), read("", 2, 5, records_size=0)]),
    "first_seen_beyond_its_begin": ("elected", [read("", 1, 3), read("", 2, 4, records_size=0)]),
    "went_farther_than_given": ("elected", [read("", 1, 1, records_size=0), read("", 2, 4, records_size=0)]),
    # It is first seen beyond the first of two ranges.
    "read_beyond": ("bounded", [read("", 1, 5, response_high_watermark=8), read("", 2, 7, records_size=0)]),
    "told_no_bound": (
        "elected", [read("", 1, 1, response_high_watermark=-1), read("", 2, 3, response_high_watermark=-1)],
    ),
    "out_of_range": ("elected", [read("", 1, 9, error_code=1, records_size=0)]),
    "of_the_next_leader": ("elected", [read("", 11, 2, leader_epoch=1), read("", 12, 4, leader_epoch=1)]),
    # 1 has not been told that it leads no more, and its clock is ahead.
    "of_who_was_not_told": ("elected", [read("", 15, 1), read("", 16, 3, records_size=0)]),
    "a_follower": ("elected", [fetch(replica_id=0, fetch_offset=4, records_size=9, response_high_watermark=5)]),
    "of_the_first": ("elected_twice", [read("", 1, 0), read("", 2, 5, records_size=0)]),
    "of_the_second": ("elected_twice", [
        read("", 11, 2, leader_epoch=1), read("", 12, 4, leader_epoch=1, records_size=0),
    ]),
    "of_the_third": ("elected_twice", [
        read("", 21, 2, leader_epoch=2), read("", 22, 4, leader_epoch=2, records_size=0),
    ]),
    "before_the_restart": ("restarted", [read("", 3, 1), read("", 4, 3, records_size=0)]),
    "after_the_restart": ("restarted", [read("", 12, 2), read("", 13, 4, records_size=0)]),
    "of_both_classes": ("bounded", [read("", 1, 3, response_high_watermark=8), read("", 2, 7, records_size=0)]),
    "perhaps_of_both": ("bounded", [read("", 1, 4, response_high_watermark=8)]),
}  # fmt: skip
SURE, PERHAPS = "critical", "warning"
FOUND: Findings = {
    "step_by_step": {(SURE, 1, 2, 4)},
    "asked_twice": {(SURE, 1, 2, 3)},
    "from_within": {(SURE, 1, 3, 5)},
    "then_more": {(SURE, 1, 2, 3)},
    "past_the_end": {(PERHAPS, 1, 2, 5)},
    "went_back": {(PERHAPS, 1, 2, 5)},
    "first_seen_at_the_end": {(PERHAPS, 1, 2, 5)},
    "first_seen_beyond_its_begin": {(SURE, 1, 3, 4)},
    "went_farther_than_given": {(PERHAPS, 1, 2, 4)},
    "read_beyond": {(PERHAPS, 1, 4, 5), (SURE, 1, 5, 7)},
    "told_no_bound": {(SURE, 1, 2, 3)},
    "of_who_was_not_told": {(SURE, 1, 2, 3)},
    "of_the_first": {(SURE, 1, 2, 5)},
    "of_the_second": {(SURE, 2, 2, 4)},
    "before_the_restart": {(SURE, 0, 2, 3)},
    "of_both_classes": {(SURE, 1, 4, 5), (SURE, 1, 5, 7)},
    "perhaps_of_both": {(PERHAPS, 1, 4, 5), (PERHAPS, 1, 5, 8)},
}
"""Severity, epoch of the leader that has not the records, and range; nothing of the other readers."""

FINDER, READS = consumers.reads_of_lost_records, consumers._reads
MUTANTS = (
    Mutant(FINDER, '(F.col("epoch") <= F.col(PREVIOUS_EPOCH)) & ', "",
           "what was read of later leaders is taken for what was gone before"),
    Mutant(FINDER, " & ~(is_restart & (F.col(C.EVENT_TIME) >= F.col(C.STARTED_AT)))", "",
           "what was read after the restart is taken for what was there before it"),
    Mutant(FINDER, "is_restart & (F.col(C.EVENT_TIME)", "(F.col(C.EVENT_TIME)",
           "two leaders' clocks are compared"),
    Mutant(FINDER, "F.bool_or(is_sure)", "F.bool_and(is_sure)", "all must be sure"),
    Mutant(FINDER, "F.min(F.when(is_sure", "F.max(F.when(is_sure", "read from its last position"),
    Mutant(FINDER, "F.least(F.max(F.when(is_sure, F.col(_READ_TO))), C.TO_OFFSET)", "F.max(_READ_TO)",
           "more was read than is gone"),
    Mutant(FINDER, "F.least(F.max(_MAY_HAVE_READ_TO), C.TO_OFFSET)", "F.max(_MAY_HAVE_READ_TO)",
           "more may have been read than is gone"),
    Mutant(FINDER, '& ~is_replaced("epoch", C.FROM_OFFSET) ', "",
           "what a leader long before had there is taken for what is gone"),
    Mutant(READS, "F.col(C.REPLICA_ID) < 0", "F.col(C.REPLICA_ID) <= 0", "broker 0 is a consumer"),
    Mutant(READS, "F.coalesce((F.col(C.RECORDS_SIZE) > 0) & (", "F.coalesce((", "who was given nothing has read it"),
    Mutant(READS, "(goes_on_at > asked) & ", "", "who goes back had read nothing"),
    Mutant(READS, " & (goes_on_at <= end)", "", "a position past what was given is of it"),
    Mutant(READS, "F.when(bound < 0, NO_BOUND).otherwise(bound)", "bound", "an untold bound is one"),
    Mutant(READS, 'F.col("known_to").isNull() | ', "", "who is first seen at a position has read nothing below"),
    Mutant(READS, ' | (asked > F.col("known_to"))', "", "who is farther on than it was given has read nothing"),
    Mutant(FINDER, " & (F.col(C.FETCH_OFFSET) < F.col(C.TO_OFFSET))", "", "what is read beyond the range is of it"),
    Mutant(READS, ".where(F.col(C.ERROR_CODE) == 0)", "", "a position out of range was read"),
)  # fmt: skip


told = told_once({
    reader: {**LEDGERS[ledger], T.FETCH_EVENTS: [{**one, "client_id": reader} for one in fetches]}
    for reader, (ledger, fetches) in READERS.items()
})  # fmt: skip
"""The fetches of each reader, its topic, and what is gone of its ledger."""


def found(told: Told) -> Findings:
    """What is found of each reader."""
    columns = ("severity", "leader_epoch", "from_offset", "to_offset")
    return by_topic(reads_of_lost_records(told.landed, told.lost), *columns)


def test_who_read_what_is_gone(told: Told) -> None:
    """As far as positions prove it: of the leaders that had the records, and of no others that used their offsets."""
    assert found(told) == FOUND


def test_what_it_read_for_sure_and_what_perhaps(told: Told) -> None:
    """Of one client both: what its next position says, and what the response after that held."""
    evidence = {row["topic"]: row["evidence"] for row in reads_of_lost_records(told.landed, told.lost).collect()}

    assert "read [2, 3) and perhaps up to 5 before leader 2" in evidence["then_more"]
    assert "no later position tells how many it read" in evidence["past_the_end"]
    assert "no line tells how it came to its position 5" in evidence["first_seen_at_the_end"]


@pytest.mark.long
@pytest.mark.parametrize("mutant", MUTANTS, ids=str)
def test_the_mutant_dies(mutant: Mutant, told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some reader is told something else of."""
    mutant.live(monkeypatch)

    assert found(told) != FOUND
