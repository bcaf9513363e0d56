"""How bad a cut below the partition's HW is: whose records it were, and whether the leader still has them."""

from __future__ import annotations

import pytest

from replay.findings import cuts
from replay.findings.cuts import cuts_below_high_watermark
from schemas import tables as T
from tests.checked_rows import Given, at, event, state
from tests.incident_histories import cut, led
from tests.mutants import Mutant
from tests.small_histories import Findings, Histories, Told, told_once

pytestmark = pytest.mark.spark


def fetched(epoch: int, leo: int, seq: int = 2, replica: int = 3) -> Given:
    """A follower that fetched up to a LEO in an epoch."""
    return state(replica, epoch, seq, leo, leo, remote_log_end_offset=leo)


def cut_of_3(epoch: int, begin: int, end: int, hw: int, second: int) -> Given:
    """Replica 3 cuts; the partition's HW had been `hw`."""
    return cut(3, epoch, begin, end, event_time=at(second), partition_high_watermark_before=hw, is_stated=False)


FIRST = (event(0, 1, 0, 0), event(0, 2, 8, 8))
# Leader 2 has not [6, 8), and comes to LEO and HW 9 with records of its own.
LOST = (*FIRST, event(1, 1, 6, 6), event(1, 2, 9, 9))
RESTARTED = event(0, 5, 6, 6, event_type="BECOME_LEADER")
HISTORIES: Histories = {
    "leader_has_them": led(*FIRST, event(1, 1, 8, 8)) | {
        T.REPLICA_TIMELINE: [fetched(0, 8)], T.TRUNCATIONS: [cut_of_3(1, 8, 5, hw=8, second=12)],
    },
    # Of what it cut the leader has all; of what it never had not.
    "leader_has_as_much": led(*FIRST, event(1, 1, 7, 7)) | {
        T.REPLICA_TIMELINE: [fetched(0, 7)], T.TRUNCATIONS: [cut_of_3(1, 7, 5, hw=8, second=12)],
    },
    "longer_than_the_hw": led(event(0, 1, 0, 0), event(0, 2, 10, 8), event(1, 1, 10, 8)) | {
        T.REPLICA_TIMELINE: [fetched(0, 10)], T.TRUNCATIONS: [cut_of_3(1, 10, 5, hw=8, second=12)],
    },
    "how_long_unknown": led(*FIRST, event(1, 1, 8, 8)) | {
        T.REPLICA_TIMELINE: [fetched(0, 8)], T.TRUNCATIONS: [cut_of_3(1, -1, 5, hw=8, second=12)],
    },
    "nobody_knows_what_the_leader_has": led(*FIRST, event(1, 1, -1, 8)) | {
        T.REPLICA_TIMELINE: [fetched(0, 8)], T.TRUNCATIONS: [cut_of_3(1, 8, 5, hw=8, second=12)],
    },
    "gone": led(*LOST) | {
        T.REPLICA_TIMELINE: [fetched(0, 8)], T.TRUNCATIONS: [cut_of_3(1, 8, 5, hw=8, second=12)],
    },
    "a_part_of_what_is_gone": led(*LOST) | {
        T.REPLICA_TIMELINE: [fetched(0, 8)], T.TRUNCATIONS: [cut_of_3(1, 8, 7, hw=8, second=12)],
    },
    "nobody_knows_who_had_seen_it": led(*LOST) | {T.TRUNCATIONS: [cut_of_3(1, 8, 6, hw=8, second=12)]},
    # It was away while 2 led, and is back under 1 with the log of 2.
    "gone_in_between": led(*LOST, event(2, 1, 9, 9, leader_id=1)) | {
        T.REPLICA_TIMELINE: [fetched(0, 8)], T.TRUNCATIONS: [cut_of_3(2, 8, 6, hw=9, second=22)],
    },
    # It had the records of 2 in place of those, and 1 has them too.
    "gone_before_it_fetched": led(*LOST, event(2, 1, 9, 9, leader_id=1)) | {
        T.REPLICA_TIMELINE: [fetched(0, 8), fetched(1, 9)], T.TRUNCATIONS: [cut_of_3(2, 9, 6, hw=9, second=22)],
    },
    "gone_with_a_restart_before": led(*FIRST, RESTARTED, event(1, 1, 8, 6), event(2, 1, 8, 8, leader_id=1)) | {
        T.REPLICA_TIMELINE: [fetched(0, 8), fetched(1, 8)], T.TRUNCATIONS: [cut_of_3(2, 8, 6, hw=8, second=22)],
    },
    "gone_with_a_restart": led(*FIRST, RESTARTED) | {
        T.REPLICA_TIMELINE: [fetched(0, 8)], T.TRUNCATIONS: [cut_of_3(0, 8, 6, hw=8, second=7)],
    },
    "gone_later": led(*FIRST, event(1, 1, 8, 8), event(2, 1, 6, 6, leader_id=1)) | {
        T.REPLICA_TIMELINE: [fetched(0, 8)], T.TRUNCATIONS: [cut_of_3(1, 8, 6, hw=8, second=12)],
    },
    # It is elected without them; of two cuts by the second.
    "elected_without_them": led(*FIRST, event(1, 1, 8, 8), event(2, 1, 6, 6)) | {
        T.REPLICA_TIMELINE: [fetched(0, 8)], T.TRUNCATIONS: [cut_of_3(1, 8, 6, hw=8, second=12)],
    },
    "cut_again_before_that": led(*FIRST, event(1, 1, 8, 8), event(2, 1, 6, 6)) | {
        T.REPLICA_TIMELINE: [fetched(0, 8)],
        T.TRUNCATIONS: [cut_of_3(1, 8, 6, hw=8, second=12), cut_of_3(1, 8, 6, hw=8, second=14)],
    },
    # 2 lost [6, 8), and 1 after it [3, 6).
    "gone_twice": led(*FIRST, event(1, 1, 6, 6), event(2, 1, 3, 3, leader_id=1)) | {
        T.REPLICA_TIMELINE: [fetched(0, 8)], T.TRUNCATIONS: [cut_of_3(2, 8, 3, hw=8, second=22)],
    },
    # What only the present leader has committed are other records.
    "committed_by_nobody_before": led(event(0, 1, 0, 0), event(0, 2, 8, 5), event(1, 1, 5, 5), event(1, 2, 9, 9)) | {
        T.REPLICA_TIMELINE: [fetched(0, 8)], T.TRUNCATIONS: [cut_of_3(1, 8, 5, hw=9, second=14)],
    },
    "of_the_leader_itself": led(event(0, 1, 0, 0), event(0, 2, 8, 5), event(1, 1, 5, 5), event(1, 2, 9, 9)) | {
        T.REPLICA_TIMELINE: [fetched(1, 9, seq=3)], T.TRUNCATIONS: [cut_of_3(1, 9, 5, hw=9, second=14)],
    },
}  # fmt: skip
BEGAN, HAS, NEVER = "the leader began with", "the leader from which it had", "the records it cut were committed by no"
UNTOLD = "no line tells what the leader began with"
FOUND: Findings = {
    "leader_has_them": {("warning", 5, 8, BEGAN)},
    "leader_has_as_much": {("warning", 5, 7, BEGAN)},
    "longer_than_the_hw": {("warning", 5, 8, BEGAN)},
    "how_long_unknown": {("warning", 5, 8, BEGAN)},
    "nobody_knows_what_the_leader_has": {("warning", 5, 8, UNTOLD)},
    "gone": {("critical", 5, 8, "[6, 8) of them are gone")},
    "a_part_of_what_is_gone": {("critical", 7, 8, "[7, 8) of them are gone")},
    "nobody_knows_who_had_seen_it": {("critical", 6, 8, "[6, 8) of them are gone")},
    "gone_in_between": {("critical", 6, 8, "[6, 8) of them are gone")},
    "gone_before_it_fetched": {("warning", 6, 9, BEGAN)},
    "gone_with_a_restart_before": {("warning", 6, 8, BEGAN)},
    "gone_with_a_restart": {("critical", 6, 8, "[6, 8) of them are gone")},
    "gone_later": {("warning", 6, 8, BEGAN)},
    "elected_without_them": {("critical", 6, 8, "it led epoch 2 before it had fetched [6, 8)")},
    "cut_again_before_that": {
        ("warning", 6, 8, BEGAN),
        ("critical", 6, 8, "it led epoch 2 before it had fetched [6, 8)"),
    },
    "gone_twice": {("critical", 3, 8, "[3, 6) of them are gone")},
    "committed_by_nobody_before": {("info", 5, 8, NEVER)},
    "of_the_leader_itself": {("warning", 5, 9, HAS)},
}
"""Severity, range and verdict."""

COMMITTED_END, PARTS = cuts._with_committed, cuts._with_gone
MUTANTS = (
    Mutant(cuts.cuts_below_high_watermark, 'F.when(F.col("epoch") == F.col(C.LEADER_EPOCH), F.col(START_LEO))',
           "F.when(F.lit(False), F.col(START_LEO))", "what the leader began with is not asked for"),
    Mutant(cuts.cuts_below_high_watermark, 'F.when(F.col("epoch") < F.col(C.LEADER_EPOCH)',
           'F.when(F.col("epoch") <= F.col(C.LEADER_EPOCH)', "what the present leader commits is what was cut"),
    Mutant(COMMITTED_END, "F.when(F.col(C.FROM_OFFSET) >= 0, F.least(F.col(C.FROM_OFFSET), hw))",
           "F.when(F.lit(True), F.least(F.col(C.FROM_OFFSET), hw))", "a log of unknown length ends before it begins"),
    Mutant(COMMITTED_END, "F.least(F.col(C.FROM_OFFSET), hw)", "F.col(C.FROM_OFFSET)",
           "what was cut above the HW counts"),
    Mutant(COMMITTED_END, 'F.when(is_own, F.col("end")).otherwise(of_others)', "of_others",
           "what it had of the leader itself was committed by none"),
    Mutant(PARTS, "F.coalesce(F.col(SEEN_IN), epoch - 1)", "epoch - 1",
           "what was lost while it was away is not asked for"),
    Mutant(PARTS, "F.coalesce(F.col(SEEN_IN), epoch - 1)", "F.col(SEEN_IN)", "who was never seen has lost nothing"),
    Mutant(PARTS, '(it["epoch"] > last) & ', "", "it had again what was lost before it fetched"),
    Mutant(PARTS, ' & (it["epoch"] <= epoch)', "", "what is lost later was lost by then"),
    Mutant(PARTS, '(it["epoch"] == last) & ', "", "a restart long before has lost what it had since"),
    Mutant(PARTS, "is_before | is_own(it)", "is_before", "its own election has lost nothing"),
    Mutant(PARTS, "(it[C.LEADER_ID] == F.col(C.REPLICA_ID)) & ", "", "whoever is elected, it was without what it cut"),
    Mutant(PARTS, " & is_next", "", "what it fetched and cut again was gone with the first cut"),
    Mutant(PARTS, ' & it["is_restart"]', "", "what its leader had lost as it was elected it had of that leader"),
    Mutant(PARTS, "F.greatest(it[C.FROM_OFFSET], C.TO_OFFSET)", "F.col(C.TO_OFFSET)", "all it cut is gone"),
    Mutant(PARTS, "F.greatest(it[C.FROM_OFFSET], C.TO_OFFSET)", "it[C.FROM_OFFSET]", "more is gone than it cut"),
    Mutant(PARTS, "F.least(it[C.TO_OFFSET], _COMMITTED_END)", "it[C.TO_OFFSET]", "it had what is gone beyond its log"),
    Mutant(PARTS, "F.least(it[C.TO_OFFSET], _COMMITTED_END)", "F.col(_COMMITTED_END)", "all above is gone"),
    Mutant(PARTS, 'it["start"] < it["end"]', 'it["start"] <= it["end"]', "nothing is gone, and that is critical"),
)  # fmt: skip


told = told_once(HISTORIES)


def found(told: Told) -> Findings:
    """What is found of each history, with the first words of the verdict."""
    verdicts = {word for of_topic in FOUND.values() for *_, word in of_topic}
    by_topic: Findings = {topic: set() for topic in HISTORIES}
    for row in cuts_below_high_watermark(told.cut, told.led, told.lost).collect():
        words = next((word for word in verdicts if f"; {word}" in row["evidence"]), row["evidence"])
        by_topic[row["topic"]].add((row["severity"], row["from_offset"], row["to_offset"], words))
    return by_topic


def test_how_bad_a_cut_is(told: Told) -> None:
    """Critical where an election since has lost what it cut; else the leader has it, or nobody had committed it."""
    assert found(told) == FOUND


@pytest.mark.long
@pytest.mark.parametrize("mutant", MUTANTS, ids=str)
def test_the_mutant_dies(mutant: Mutant, told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some history is told otherwise."""
    mutant.live(monkeypatch)

    assert found(told) != FOUND
