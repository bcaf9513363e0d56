"""The twin itself: its rows are well formed; which promises it keeps is in `test_twin_promises`."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given

from schemas import tables
from tests.strategies import DRAWN, histories
from tests.twin.histories import History, combined, history
from tests.twin.leader import Leader, Registration, Remote, Rules
from tests.twin.log import Log, Record
from tests.twin.profile import PROFILES, Profile
from tests.twin.rows import SAID_WITH_THE_LEO, Row

TABLES = {table.name: table for table in tables.LANDING_TABLES}


def log_with(*epochs: tuple[int, int]) -> Log:
    """A log of so many records of each epoch."""
    log = Log()
    log.append([Record(epoch, 0) for epoch, count in epochs for _ in range(count)])
    return log


def test_end_offset_of_each_epoch() -> None:
    """A follower's epoch cache beside its leader's: where they part (KIP-279)."""
    log = log_with((0, 100), (1, 150), (2, 10))
    assert log.epochs == [(0, 0), (1, 100), (2, 250)]
    assert [log.end_offset_for(epoch) for epoch in (0, 1, 2)] == [(0, 100), (1, 250), (2, 260)]
    assert log.end_offset_for(-1) == log.end_offset_for(3) == (-1, -1)


def test_end_offset_of_an_epoch_that_never_was() -> None:
    """The next lower epoch answers; below all of them, the asked one ends where the first begins."""
    log = log_with((2, 5), (5, 5))
    assert log.end_offset_for(4) == (2, 5)
    assert log.end_offset_for(1) == (1, 0)


def test_an_empty_epoch_vanishes_when_the_next_starts_there() -> None:
    """Its leader wrote nothing: the cache has one entry per start offset (LEFC:103)."""
    log = log_with((0, 3))
    log.assign_epoch(1, 3)
    log.assign_epoch(2, 3)
    assert log.epochs == [(0, 0), (2, 3)]


def test_truncation_clamps_the_high_watermark() -> None:
    """UL:2278: it begins again at its leader's log start."""
    log = log_with((0, 5), (1, 5))
    log.high_watermark = 8
    log.truncate_to(5)
    assert (log.log_end_offset, log.high_watermark, log.epochs) == (5, 5, [(0, 0)])


@pytest.mark.parametrize(("stated", "high_watermark"), [(1, 2), (4, 4), (9, 6)])
def test_a_follower_keeps_the_stated_high_watermark_in_its_log(stated: int, high_watermark: int) -> None:
    """UL:540: between log start (2) and LEO (6)."""
    log = log_with((0, 6))
    log.move_log_start(2)
    log.set_follower_high_watermark(stated)
    assert log.high_watermark == high_watermark


def test_last_caught_up_time() -> None:
    """R:84: at the LEO, now; at the LEO of the fetch before, the time of that fetch."""
    remote = Remote()
    remote.fetched(0, 10, 100, -1)
    assert remote.last_caught_up_time < 0
    remote.fetched(10, 15, 200, -1)
    assert remote.last_caught_up_time == 100
    remote.fetched(12, 15, 300, -1)
    assert remote.last_caught_up_time == 100
    remote.fetched(15, 15, 400, -1)
    assert remote.last_caught_up_time == 400


@pytest.mark.parametrize(("now", "high_watermark"), [(10_100, 4), (10_101, 6)])
def test_the_lag_time_is_inclusive(now: int, high_watermark: int) -> None:
    """A replica outside the ISR holds the HW at exactly the lag time, and not a millisecond longer."""
    rules, remotes = Rules(Profile(), 10_000, 1), {2: Remote(4, 4, 100, 100, 200)}
    own = (rules.profile, rules.lag_ms, log_with((0, 6)), {2: Registration(200)})
    leader = Leader(rules, *own, isr=frozenset({1}), remotes=remotes)
    leader.log.high_watermark = 4
    leader.try_raise_high_watermark(now)
    assert leader.log.high_watermark == high_watermark


def test_seeds_are_stable_and_their_histories_differ() -> None:
    """A seed is a history, and another is another."""
    assert history(1).commands == history(1).commands
    assert history(1).commands != history(2).commands


def test_every_kind_of_trouble_is_common() -> None:
    """Among the histories that Spark will replay, each kind of event and of truncation occurs often."""
    some = [history(seed) for seed in range(60)]
    kinds = [row["change_kind"] for each in some for row in each.expected_leader]
    methods = [row["method"] for each in some for row in each.expected_truncations]
    events = [row["event_type"] for each in some for row in each.expected_leader]
    assert {kind: kinds.count(kind) >= 10 for kind in KINDS} == dict.fromkeys(KINDS, True)
    assert {kind: events.count(kind) >= 10 for kind in EVENTS} == dict.fromkeys(EVENTS, True)
    assert {method: methods.count(method) >= 2 for method in METHODS} == dict.fromkeys(METHODS, True)
    assert {each.profile for each in some} == set(PROFILES)


KINDS = ("become_leader", "isr_updated", "leader_metadata", "isr_shrink_proposed", "isr_change_rejected")
EVENTS = ("APPEND", "FETCH", "BECOME_LEADER", "ISR_CHANGE", "LOG_START")
METHODS = ("high_watermark", "leader_epoch", "fetch_divergence", "out_of_range", "restart")


def test_a_history_is_prefix_closed() -> None:
    """The first steps of a history are a history, with the same events."""
    whole = history(11)
    for steps in (1, 7, 20):
        part = whole.prefix(steps).expected_leader
        assert _known(part) == _known(whole.expected_leader)[: len(part)]


def _known(rows: Iterable[Row]) -> list[Row]:
    """The rows, but for whether a line tells of them: that is decided when the line is written, later."""
    return [{name: value for name, value in row.items() if name != "is_logged"} for row in rows]


def test_histories_combine_into_one_capture() -> None:
    """No two rows of a table have the same place in a file, but for the HW that a line states after a LEO."""
    landing = combined([history(seed, length=30) for seed in range(5)])
    for table, rows in landing.items():
        lines = [row for row in rows if row.get("kind") not in SAID_WITH_THE_LEO]
        places = {(row["source_file"], row["source_line"]) for row in lines}
        assert len(places) == len(lines) > 0, table
        assert {(row["source_file"], row["source_line"]) for row in rows} == places, table


@DRAWN
@given(histories())
def test_rows_have_the_columns_of_their_table(drawn: History) -> None:
    """What lands is what an adapter would land."""
    for table, rows in drawn.landing.items():
        for row in rows:
            assert set(row) == {str(column) for column in TABLES[table].columns}
