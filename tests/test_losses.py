"""What the log of a later leader does not hold: each topic is a small history of its own."""

from __future__ import annotations

import pytest

from replay.findings import leaders_logs, losses, lost_ranges
from replay.findings.silent_epochs import silent_epochs
from schemas import tables as T
from tests.checked_rows import Given, at, became_leader, event, state
from tests.incident_histories import changes, cut, led
from tests.incident_ranges import COMMITTED, UNCOMMITTED, UNKNOWN
from tests.mutants import Mutant
from tests.small_histories import Findings, Histories, Told, by_topic, told_once

pytestmark = pytest.mark.spark


def fetched(replica: int, epoch: int, leo: int) -> Given:
    """A follower that fetched up to a LEO in an epoch."""
    return state(replica, epoch, 2, leo, 5, remote_log_end_offset=leo)


# Leader 1 came to LEO 10, HW 8.
FIRST = (event(0, 1, 0, 0), event(0, 2, 10, 8))
WHOLE = (*FIRST, event(1, 1, 10, 8))
SECOND = (event(1, 1, 8, 8), event(1, 2, 12, 12))
HISTORIES: Histories = {
    # Nothing tells how epoch 2 began; of the two before the second had all.
    "begin_unknown": led(*WHOLE, event(2, 1, -1, 8)),
    "nothing_committed": led(event(0, 1, 0, 0), event(0, 2, 10, 0), event(1, 1, 4, 0)),
    "retention": led(event(0, 1, 0, 0), event(0, 2, 10, 8, log_start_offset=6), event(1, 1, 4, 4)),
    # 1 was away for two epochs, the first of which began below its LEO.
    "away_for_two_epochs": led(
        *FIRST, *SECOND, event(2, 1, 12, 12), event(2, 2, 14, 14), event(3, 1, 10, 8, leader_id=1)
    ) | {T.REPLICA_TIMELINE: [state(1, 0, 2, 10, 8, role="LEADER")]},
    # 3 was last heard of with less than it has: it has fetched since, of whom no line tells.
    "grown_since_it_was_heard_of": led(*FIRST, *SECOND, event(2, 1, 11, 8))
    | {T.REPLICA_TIMELINE: [fetched(3, 0, 6)]},
    # 2 had 10, had cut to 8 when it was elected, and restarts later with 9 of 12.
    "restarted_after_a_cut": led(*FIRST, *SECOND, event(1, 5, 9, 9, event_type="BECOME_LEADER"))
    | {T.REPLICA_TIMELINE: [fetched(2, 0, 10)]},
    # What the former leader cuts when it is back, it had when it was deposed.
    "in_flight": led(*WHOLE) | {T.TRUNCATIONS: [cut(1, 1, 12, 10, event_time=at(15))]},
    "in_flight_who_knows_how_much": led(*WHOLE) | {T.TRUNCATIONS: [cut(1, 1, -1, 10, event_time=at(15))]},
    "cut_to_less_from_who_knows_where": led(*WHOLE) | {T.TRUNCATIONS: [cut(1, 1, -1, 9, event_time=at(15))]},
    "cut_of_what_came_after": led(*WHOLE) | {T.TRUNCATIONS: [cut(1, 1, 12, 11, event_time=at(15))]},
    "cut_before": led(*WHOLE) | {T.TRUNCATIONS: [cut(1, 0, 15, 10, event_time=at(1))]},
    "of_another": led(*WHOLE) | {T.TRUNCATIONS: [cut(3, 1, 12, 10, event_time=at(15))]},
    "lost_as_it_ended": led(*WHOLE) | {T.TRUNCATIONS: [cut(1, 1, 12, 10, event_time=at(15), method="restart")]},
    # In between nobody led: nothing can have been committed there. Broker 0 is somebody.
    "nobody_in_between": led(event(0, 1, 0, 0), event(0, 2, 10, 5), event(2, 1, 4, 4))
    | {T.LEADER_CHANGES: changes((0, 1, 1), (1, 1, -1), (2, 3, 3))},
    "broker_0_in_between": led(event(0, 1, 0, 0), event(0, 2, 10, 5), event(2, 1, 4, 4))
    | {T.LEADER_CHANGES: changes((0, 1, 1), (1, 1, 0), (2, 3, 3))},
    # The lines of 9 begin later, or are there by then: it was elected, and never came to lead.
    "heard_of_later": led(event(0, 1, 0, 0), event(0, 2, 10, 5), event(2, 1, 4, 4))
    | {T.LEADER_CHANGES: [*changes((0, 1, 1), (1, 3, 9)), became_leader(2, 9, leader_id=3, event_time=at(30))]},
    "heard_by_then": led(event(0, 1, 0, 0), event(0, 2, 10, 5), event(2, 1, 4, 4))
    | {T.LEADER_CHANGES: [*changes((0, 1, 1), (1, 3, 8)), became_leader(0, 8, leader_id=1, event_time=at(14))]},
    # Past the LEO that its line states something was appended that no line tells of: it had not begun with it.
    "appended_before_the_first_line": led(*FIRST, event(1, 1, 8, 8, log_end_offset_high=50)),
    "begun_in_silence": led(
        *FIRST, event(1, 1, 8, 8, log_end_offset_high=50, last_stable_offset=-1, exactness="bounded")
    ),
    "silent_before": led(event(1, 1, 0, 0), event(1, 2, 10, 5), event(2, 1, 4, 4))
    | {T.LEADER_CHANGES: changes((0, 2, 9), (1, 2, 2), (2, 3, 3))},
    "silent_later": led(event(0, 1, 0, 0), event(0, 2, 10, 5), event(1, 1, 4, 4))
    | {T.LEADER_CHANGES: changes((0, 1, 1), (1, 2, 2), (2, 2, 9))},
}  # fmt: skip
FOUND: Findings = {
    "nothing_committed": {(UNCOMMITTED, 1, 4, 10)},
    "retention": {(COMMITTED, 1, 6, 8), (UNCOMMITTED, 1, 8, 10)},
    "away_for_two_epochs": {(UNCOMMITTED, 1, 8, 10), (COMMITTED, 3, 8, 14)},
    "grown_since_it_was_heard_of": {(UNCOMMITTED, 1, 8, 10), (COMMITTED, 2, 11, 12)},
    "restarted_after_a_cut": {(UNCOMMITTED, 1, 8, 10), (COMMITTED, 1, 9, 12)},
    "in_flight": {(UNCOMMITTED, 1, 10, 12)},
    "in_flight_who_knows_how_much": {(UNCOMMITTED, 1, 10, 11)},
    "nobody_in_between": {(COMMITTED, 2, 4, 5), (UNCOMMITTED, 2, 5, 10)},
    "broker_0_in_between": {(COMMITTED, 2, 4, 5), (UNKNOWN, 2, 5, 10)},
    "heard_of_later": {(COMMITTED, 2, 4, 5), (UNKNOWN, 2, 5, 10)},
    "heard_by_then": {(COMMITTED, 2, 4, 5), (UNCOMMITTED, 2, 5, 10)},
    "appended_before_the_first_line": {(UNCOMMITTED, 1, 8, 10)},
    "silent_before": {(COMMITTED, 2, 4, 5), (UNCOMMITTED, 2, 5, 10)},
    "silent_later": {(COMMITTED, 1, 4, 5), (UNCOMMITTED, 1, 5, 10)},
}
"""Class, epoch of the leader that has not the records, and range; nothing of the others."""

PREVIOUS, BEGUN, END = lost_ranges._with_previous, leaders_logs._begun, lost_ranges._with_end
MUTANTS = (
    Mutant(PREVIOUS, "F.when(F.col(C.HIGH_WATERMARK) < 0", "F.when(F.col(C.HIGH_WATERMARK) <= 0",
           "a HW of 0 is none"),
    Mutant(BEGUN, "F.array_min(F.transform(differ", "F.array_max(F.transform(differ",
           "the last epoch in which they differ counts"),
    Mutant(BEGUN, "F.concat(F.array_except(log, theirs), F.array_except(theirs, log))", "F.array_except(log, theirs)",
           "what the predecessor alone had parts nothing"),
    Mutant(BEGUN, "F.when(it[NUMBER] > 1, it[C.LEADER_EPOCH]).when(is_old", "F.when(is_old",
           "a leader that restarts was away"),
    Mutant(BEGUN, 'followed["leo"] >= start', 'followed["leo"].isNotNull()', "who was away has never fetched since"),
    Mutant(END, " & (it[C.TO_OFFSET] <= F.col(SPLIT_AT))", "", "what it cut beyond had been lost"),
    Mutant(END, '(it["epoch"] >= F.col(C.LEADER_EPOCH))\n', "F.lit(True)\n", "what it cut long before had been lost"),
    Mutant(END, ' & (F.col(f"cut.{C.TO_OFFSET}") == F.col(SPLIT_AT))', "", "a cut to less has removed one more"),
    Mutant(END, "F.col(SPLIT_AT) + 1", "F.col(SPLIT_AT)", "a cut of unknown length has removed nothing"),
    Mutant(END, 'F.greatest(SPLIT_AT, "previous_log_start")', "F.col(SPLIT_AT)", "retention has lost records"),
    Mutant(END, "truncations.where(F.col(C.METHOD) != Method.RESTART.value)", "truncations",
           "what a process lost as it ended its successor had"),
    Mutant(silent_epochs, "(F.col(C.LEADER_ID) >= 0) & ", "", "nobody is a silent leader"),
    Mutant(silent_epochs, "(F.col(C.LEADER_ID) >= 0)", "(F.col(C.LEADER_ID) > 0)", "broker 0 is nobody"),
    Mutant(losses._with_reason, "(it[C.LEADER_EPOCH] < F.col(C.LEADER_EPOCH)) & ", "",
           "who is silent later was by then"),
    Mutant(losses._with_reason, " & (it[C.LEADER_EPOCH] > F.col(PREVIOUS_EPOCH))", "",
           "who was silent before was since"),
)  # fmt: skip


told = told_once(HISTORIES)


def found(told: Told) -> Findings:
    """What is gone in each history."""
    gone = losses.losses(told.landed, told.led, told.took_part, told.cut)
    return by_topic(gone, "kind", "leader_epoch", "from_offset", "to_offset")


def test_what_is_gone(told: Told) -> None:
    """From where the logs part to the end of what was there, by what was committed of it."""
    assert found(told) == FOUND


@pytest.mark.long
@pytest.mark.parametrize("mutant", MUTANTS, ids=str)
def test_the_mutant_dies(mutant: Mutant, told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some history is told otherwise."""
    mutant.live(monkeypatch)

    assert found(told) != FOUND
