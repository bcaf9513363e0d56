"""Who was elected, and how, by what metadata says and leaders knew: each topic is a small history of its own."""

from __future__ import annotations

import pytest

from replay.findings.elections import elections, unclean_elections
from replay.profile import Profile
from replay.releases import profile_for
from schemas import tables as T
from tests.checked_rows import event
from tests.incident_histories import changes, led, metadata
from tests.small_histories import Histories, Told, told_once

pytestmark = pytest.mark.spark

UNCLEAN = metadata((0, 1, [1], False), (1, 2, [2], True))
SECOND = event(2, 1, 4, 4, isr=[2], leader_id=2)
HISTORIES: Histories = {
    # Who was in the ISR of leader 9 nobody knows, or who was elected in between.
    "over_silence": led(event(0, 1, 9, 9, isr=[1, 2]), SECOND) | {T.LEADER_CHANGES: changes((1, 3, 9))},
    "over_nobody": led(event(0, 1, 9, 9, isr=[1, 2]), SECOND) | {T.LEADER_CHANGES: changes((1, 3, -1))},
    "with_leaders": UNCLEAN,
    "the_first_in_the_logs": UNCLEAN | led(event(1, 1, 4, 3, isr=[2])),
    "nobody_in_the_logs": UNCLEAN | {T.LEADER_TIMELINE: []},
    "not_in_the_logs": UNCLEAN | led(event(0, 1, 9, 9, isr=[1]), SECOND),
    "the_first_of_all": metadata((1, 2, [2], True)),
    "by_leaders_alone": led(event(0, 1, 9, 9, isr=[1]), event(1, 1, 4, 4, isr=[2], leader_id=2)),
}
LATEST, OF_3_9 = profile_for("4.1.0"), profile_for("3.9.1")
ELECTED = "leader 2 of epoch 1 was elected from outside the ISR"


told = told_once(HISTORIES)


def test_of_what_nothing_was_said_nothing_is_denied(told: Told) -> None:
    """Not even that a member of the ISR which a leader long before knew was elected uncleanly."""
    elected = elections(told.landed, told.led).collect()
    known = {(row["topic"], row["leader_epoch"]): row["is_unclean"] for row in elected}

    assert known == {
        ("over_silence", 2): None, ("over_nobody", 2): False, ("with_leaders", 1): True,
        ("the_first_in_the_logs", 1): True, ("nobody_in_the_logs", 1): True, ("not_in_the_logs", 1): True,
        ("not_in_the_logs", 2): None, ("by_leaders_alone", 1): True,
    }  # fmt: skip


def test_metadata_tells_of_elections_that_no_leader_tells_of(told: Told) -> None:
    """Of the first leader in the logs, and of one that is not in them: what it knew is not told."""
    found = unclean_elections(elections(told.landed, told.led), LATEST).collect()
    found = [row for row in found if row["topic"] != "by_leaders_alone"]
    evidence = {row["topic"]: row["evidence"] for row in found}

    assert evidence == {
        "with_leaders": f"{ELECTED}, which leader 1 knew as [1]; it began at 0, HW 0; metadata says so",
        "the_first_in_the_logs": f"{ELECTED}; it began at 4, HW 3; metadata says so",
        "nobody_in_the_logs": f"{ELECTED}; no line tells what it began with; metadata says so",
        "not_in_the_logs": f"{ELECTED}; no line tells what it began with; metadata says so",
    }
    assert {(row["leader_epoch"], row["replica_id"], row["capture_id"]) for row in found} == {(1, 2, "one")}
    assert all(row["started_at"] for row in found)


@pytest.mark.parametrize(
    ("profile", "severity", "how"),
    [
        (OF_3_9, "critical", "inferred: no line says how it was elected"),
        (
            LATEST,
            "warning",
            "inferred: no line says how it was elected, and it may have been an eligible one (KIP-966)",
        ),
    ],
)
def test_who_may_have_been_eligible_is_no_alarm(told: Told, profile: Profile, severity: str, how: str) -> None:
    """Since 4.0 a replica outside the ISR may have all that was committed; metadata alone says which one has."""
    rows = unclean_elections(elections(told.landed, told.led), profile).where("topic = 'by_leaders_alone'").collect()

    assert [(row["severity"], row["evidence"].rpartition("; ")[2]) for row in rows] == [(severity, how)]
