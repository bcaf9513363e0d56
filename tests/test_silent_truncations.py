"""Logs that began shorter than they had been, and no line says so: each topic is a small history of its own."""

from __future__ import annotations

from typing import Any

import pytest

from replay.findings import silent_cuts
from replay.findings.silent_cuts import silent_truncations
from schemas import tables as T
from tests.checked_rows import Given, at, event, state, stated_start
from tests.incident_histories import changes, cut, led
from tests.mutants import Mutant
from tests.small_histories import Findings, Told, by_topic, told_once

pytestmark = pytest.mark.spark


def said(second: int, kind: str, offset: int, epoch: int, broker: int = 3) -> Given:
    """What a line of a replica states."""
    line = {"source_file": f"broker-{broker}/server.log", "source_line": second}
    return stated_start(epoch, offset, kind=kind, broker_id=broker, event_time=at(second), **line)


def follows(second: int, epoch: int, leo: int, hw: int) -> list[Given]:
    """The line in which replica 3 becomes a follower."""
    kinds = {"became_follower_log_end_offset": leo, "became_follower_high_watermark": hw}
    return [said(second, kind, offset, epoch) for kind, offset in kinds.items()]


def asked(replica: int, epoch: int, leo: int) -> Given:
    """A follower that had fetched up to a LEO."""
    return state(replica, epoch, 2, leo, 5, remote_log_end_offset=leo)


def own(*lines: list[Given]) -> dict[T.Table, Any]:
    """A history of the lines of replica 3 alone."""
    return {T.BROKER_STATEMENTS: [one for line in lines for one in line]}


LOADED = [said(5, "loaded_high_watermark", 2, 1)]
DELETED = said(2, "log_deleted", -1, -1)
# Leader 1 came to LEO 10 and HW 8; leader 2 begins with 6.
SHORTER = (event(0, 1, 0, 0), event(0, 2, 10, 8), event(1, 1, 6, 6))
# Leader 2 begins uncleanly with 5; then 3 is elected, which was in its ISR.
AGAIN = (event(0, 1, 0, 0), event(0, 2, 10, 8, isr=[1]), event(1, 1, 5, 5, isr=[2, 3]), event(2, 1, 6, 5, isr=[3]))
SILENCE = led(event(0, 1, 0, 0), event(0, 2, 10, 8), event(2, 1, 6, 6))
HISTORIES: dict[str, dict[T.Table, Any]] = {
    "shorter": own(follows(1, 0, 10, 8), follows(2, 1, 5, 5)),
    "down_and_down": own(follows(1, 0, 10, 8), follows(2, 1, 10, 6), follows(3, 2, 5, 5)),
    "as_long_as_its_hw": own(follows(1, 0, 10, 8), follows(2, 1, 8, 5)),
    "wiped": own(follows(1, 0, 10, 8), follows(2, 1, 0, 0)),
    "grows_again": own(follows(1, 0, 10, 8), follows(2, 1, 5, 5), [said(3, "segment_rolled", 7, 1)]),
    # The roles that follow begin with the same log; or it is shorter again.
    "told_again": own(follows(1, 0, 10, 8), follows(2, 1, 5, 5), follows(3, 2, 5, 5)),
    "shorter_twice": {
        T.BROKER_STATEMENTS: [
            {**one, "topic_id": "x"}
            for one in (*follows(1, 0, 10, 8), *follows(2, 1, 6, 6), *follows(3, 1, 4, 4))
        ],
    },
    "it_says_so": own(follows(1, 0, 10, 8), [said(2, "truncated_to", 5, 1)], follows(3, 1, 5, 5)),
    "it_says_so_later": own(follows(1, 0, 10, 8), follows(2, 1, 10, 6), [said(3, "truncated_to", 5, 1)]),
    "cut_before": own([said(1, "truncated_to", 9, 0)], follows(2, 0, 10, 8), follows(3, 1, 5, 5)),
    "loaded_who_knows_what": own(follows(1, 0, 10, 8), LOADED, follows(9, 1, 8, 8)),
    # A topic that was deleted and made again begins at epoch 0 again; where topics have ids it is another one.
    "made_again": own(follows(1, 0, 10, 8), follows(2, 0, 0, 0)),
    "with_an_id": {
        T.BROKER_STATEMENTS: [{**one, "topic_id": "x"} for one in (*follows(1, 0, 10, 8), *follows(2, 0, 5, 5))],
    },
    "of_the_isr": {**led(*SHORTER, isr=[1, 2])},
    # Its own lines tell of HW 7, its leader's HW was 8.
    "both": {
        **led(*SHORTER, isr=[1, 2]),
        T.BROKER_STATEMENTS: [
            said(1, "became_follower_high_watermark", 7, 0, 2), said(1, "became_follower_log_end_offset", 9, 0, 2),
            said(11, "became_leader_high_watermark", 6, 1, 2), said(11, "became_leader_log_end_offset", 6, 1, 2),
        ],
    },
    "had_asked": {**led(*SHORTER, isr=[1]), T.REPLICA_TIMELINE: [asked(2, 0, 7)]},
    # What it had above the HW was nobody's word; what it has come to since it leads it had not before.
    "had_asked_for_more": {**led(*SHORTER, isr=[1]), T.REPLICA_TIMELINE: [asked(2, 0, 9)]},
    "grew_since": {
        **led(*SHORTER, event(1, 2, 12, 6), isr=[1], topic_id="x"),
        T.REPLICA_TIMELINE: [
            {**one, "topic_id": "x"}
            for one in (asked(2, 0, 6), state(2, 1, 2, 12, 6, role="LEADER", remote_log_end_offset=12))
        ],
    },
    "lagged": {**led(*SHORTER, isr=[1], topic_id="x")},
    "restarted": {**led(*AGAIN[:2], event(0, 5, 6, 6, event_type="BECOME_LEADER"), isr=[1])},
    "restarted_with_an_id": {
        **led(*AGAIN[:2], event(0, 5, 6, 6, event_type="BECOME_LEADER"), isr=[1], topic_id="x"),
    },
    "had_more_of_the_one_before": {
        **led(*AGAIN), T.REPLICA_TIMELINE: [asked(3, 0, 9), asked(3, 1, 5)],
    },
    "cut_to_there": {**led(*SHORTER, isr=[1, 2]), T.TRUNCATIONS: [cut(2, 1, 7, 6, event_time=at(8))]},
    "cut_to_less": {**led(*SHORTER, isr=[1, 2]), T.TRUNCATIONS: [cut(2, 1, 7, 5, event_time=at(8))]},
    "cut_to_more": {**led(*SHORTER, isr=[1, 2]), T.TRUNCATIONS: [cut(2, 1, 9, 7, event_time=at(8))]},
    "cut_later": {**led(*SHORTER, isr=[1, 2]), T.TRUNCATIONS: [cut(2, 1, 9, 6, event_time=at(19))]},
    "another_cut": {**led(*SHORTER, isr=[1, 2]), T.TRUNCATIONS: [cut(3, 1, 9, 6, event_time=at(8))]},
    "lost_as_it_ended": {
        **led(*SHORTER, isr=[1, 2]), T.TRUNCATIONS: [cut(2, 1, 9, 6, event_time=at(8), method="restart")],
    },
    # What was cut before the log was known to be longer had grown again.
    "cut_long_before": {
        **led(event(1, 1, 0, 0), event(1, 2, 10, 8), event(2, 1, 6, 6)),
        T.TRUNCATIONS: [cut(3, 0, 5, 2, event_time=at(3))],
    },
    "cut_in_that_epoch": {
        **led(event(1, 1, 0, 0), event(1, 2, 10, 8), event(2, 1, 6, 6)),
        T.TRUNCATIONS: [cut(3, 1, 5, 2, event_time=at(13))],
    },
    # A reassignment deletes a log, and another one begins it anew.
    "deleted": own(follows(1, 0, 10, 8), [DELETED], follows(3, 1, 0, 0)),
    "deleted_before": own(follows(1, 0, 9, 8), [DELETED], follows(3, 1, 10, 8), follows(4, 2, 5, 5)),
    "deleted_leader": {
        **led(*SHORTER, isr=[1, 2]), T.BROKER_STATEMENTS: [said(8, "log_deleted", -1, -1, 2)],
    },
    "deleted_long_before": {
        **led(event(1, 1, 0, 0), event(1, 2, 10, 8), event(2, 1, 6, 6)), **own(follows(1, 0, 10, 8), [DELETED]),
    },
    # Leader 9 of an epoch left no file: what happened under it nobody knows; before and after it that is no matter.
    "silent_between": {**SILENCE, T.LEADER_CHANGES: changes((1, 3, 9))},
    "silent_before": {
        **led(event(1, 1, 0, 0), event(1, 2, 10, 8), event(2, 1, 6, 6)), T.LEADER_CHANGES: changes((0, 3, 9)),
    },
    "silent_after": {**SILENCE, T.LEADER_CHANGES: changes((3, 3, 9))},
}  # fmt: skip
FOUND: Findings = {
    "shorter": {("warning", 1, 3, 5, 8)},
    "down_and_down": {("warning", 2, 3, 5, 8)},
    "wiped": {("warning", 1, 3, 0, 8)},
    "grows_again": {("warning", 1, 3, 5, 8)},
    "told_again": {("warning", 1, 3, 5, 8)},
    "shorter_twice": {("warning", 1, 3, 4, 8)},
    "restarted_with_an_id": {("critical", 0, 1, 6, 8)},
    "cut_before": {("warning", 1, 3, 5, 8)},
    "with_an_id": {("warning", 0, 3, 5, 8)},
    "of_the_isr": {("critical", 1, 2, 6, 8)},
    "both": {("critical", 1, 2, 6, 8)},
    "had_asked": {("critical", 1, 2, 6, 7)},
    "had_asked_for_more": {("critical", 1, 2, 6, 8)},
    "had_more_of_the_one_before": {("critical", 2, 3, 6, 8)},
    "cut_to_more": {("critical", 1, 2, 6, 8)},
    "cut_later": {("critical", 1, 2, 6, 8)},
    "another_cut": {("critical", 1, 2, 6, 8)},
    "lost_as_it_ended": {("critical", 1, 2, 6, 8)},
    "cut_long_before": {("critical", 2, 3, 6, 8)},
    "deleted_before": {("warning", 2, 3, 5, 8)},
    "deleted_long_before": {("critical", 2, 3, 6, 8)},
    "silent_after": {("critical", 2, 3, 6, 8)},
    "silent_before": {("critical", 2, 3, 6, 8)},
}
"""Severity, epoch, replica and range; nothing of the others."""

FINDER, LEADERS, UNCUT = silent_cuts.silent_truncations, silent_cuts._leaders, silent_cuts._uncut
SHORTER_LOGS = silent_cuts._shorter
MUTANTS = (
    Mutant(SHORTER_LOGS, '(F.col("leo") >= 0) & ', '(F.col("leo") > 0) & ', "a log that was wiped is no log"),
    Mutant(SHORTER_LOGS, '(F.col("leo") >= 0) & ', "", "an unknown LEO is a short log"),
    Mutant(SHORTER_LOGS, '~F.col("is_cut") & ', "", "a cut that is told is silent"),
    Mutant(SHORTER_LOGS, '(F.col("leo") < F', '(F.col("leo") <= F', "who has all that was committed has lost some"),
    Mutant(SHORTER_LOGS, "F.max(reached)", "F.min(reached)", "a HW that went down was never higher"),
    Mutant(SHORTER_LOGS, 'had("cuts", "times")', 'had("cuts")', "it is told with each role"),
    Mutant(SHORTER_LOGS, 'F.greatest(had("cuts", "times"), "then")', 'had("cuts", "times")',
           "what a shorter log came to is not asked for"),
    Mutant(FINDER, '.where(_is_later(F.col(f"{_HAD}.epoch")))', "", "a topic made again is the one before"),
    Mutant(FINDER, 'F.min("leo")', 'F.max("leo")', "it began with what it came to"),
    Mutant(FINDER, 'F.max(f"{_HAD}.hw")', 'F.min(f"{_HAD}.hw")', "its leader's HW is not asked for"),
    Mutant(FINDER, 'F.bool_or("as_leader")', 'F.bool_and("as_leader")', "a leader is taken for a follower"),
    Mutant(silent_cuts._is_later, '(F.col(C.TOPIC_ID) != "") | ', "", "a topic's id is not looked at"),
    Mutant(LEADERS, ' & (F.col("before.hw") > F.col(START_LEO))', "",
           "what it had of a leader before is not asked for"),
    Mutant(LEADERS, 'it["epoch"] < F.col(C.LEADER_EPOCH))', 'it["epoch"] <= F.col(C.LEADER_EPOCH))',
           "what it came to as leader it had before"),
    Mutant(LEADERS, 'F.least(longest["hw"], "highest.hw")', 'longest["hw"]',
           "what it had above the HW was committed"),
    Mutant(LEADERS, "(it < F.col(C.LEADER_EPOCH)) & ", "", "a leader is silent that leads later"),
    Mutant(LEADERS, ' & (it > F.col("before.epoch"))', "", "a leader is silent that led before"),
    Mutant(LEADERS, " & F.coalesce(is_heard, F.lit(True))", "", "nobody is silent"),
    Mutant(LEADERS, ' & _is_later(F.col(f"{_HAD}.epoch"))', "", "a leader of a topic made again has lost its log"),
    Mutant(UNCUT, '(F.col("cut_to") <= F.col("leo")) & ', "", "a cut to more explains a log that is shorter"),
    Mutant(UNCUT, ' & (F.col("cut_at") <= F.col(C.EVENT_TIME))', "", "a later cut explains it"),
    Mutant(UNCUT, " & is_since", "", "a cut of long ago explains it"),
    Mutant(silent_cuts._deletions, "F.lit(True)", "F.lit(False)", "a log that is deleted goes on"),
    Mutant(UNCUT, ".where(F.col(C.METHOD) != Method.RESTART.value)", "", "a tail lost in a crash is told of"),
)  # fmt: skip


told = told_once(HISTORIES)


def found(told: Told) -> Findings:
    """What is found of each history."""
    return by_topic(silent_truncations(told.landed, told.led, told.took_part, told.truncations))


def test_a_log_that_begins_shorter(told: Told) -> None:
    """By its own lines, or by what its leaders had; not where anything tells that it was cut."""
    assert found(told) == FOUND


@pytest.mark.long
@pytest.mark.parametrize("mutant", MUTANTS, ids=str)
def test_the_mutant_dies(mutant: Mutant, told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some history is told otherwise."""
    mutant.live(monkeypatch)

    assert found(told) != FOUND
