"""The twin itself: its rows are well formed, and what it plays keeps Kafka's promises where Kafka does."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given

from schemas import tables
from tests.strategies import DRAWN, histories
from tests.twin.histories import History, combined, history
from tests.twin.leader import Leader, Registration, Remote, Rules
from tests.twin.log import Log, Record
from tests.twin.notation import read
from tests.twin.picking import Features
from tests.twin.profile import PROFILES, Profile
from tests.twin.rows import SAID_WITH_THE_LEO, Row

TABLES = {table.name: table for table in tables.LANDING_TABLES}
SAFE = Features(restarts=False, unclean=False)
SAFE_PROFILES = tuple(profile for profile in PROFILES if profile.truncation != "high_watermark")


def log_with(*epochs: tuple[int, int]) -> Log:
    """A log of so many records of each epoch."""
    log = Log()
    log.append([Record(epoch, 0) for epoch, count in epochs for _ in range(count)])
    return log


def test_end_offset_of_each_epoch() -> None:
    """design.md 8j, and kafka-semantics 4.3."""
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
    """Case 19."""
    log = log_with((0, 3))
    log.assign_epoch(1, 3)
    log.assign_epoch(2, 3)
    assert log.epochs == [(0, 0), (2, 3)]


def test_truncation_clamps_the_high_watermark() -> None:
    """kafka-semantics 4.4."""
    log = log_with((0, 5), (1, 5))
    log.high_watermark = 8
    log.truncate_to(5)
    assert (log.log_end_offset, log.high_watermark, log.epochs) == (5, 5, [(0, 0)])


@pytest.mark.parametrize(("stated", "high_watermark"), [(1, 2), (4, 4), (9, 6)])
def test_a_follower_keeps_the_stated_high_watermark_in_its_log(stated: int, high_watermark: int) -> None:
    """kafka-semantics 4.2: between log start (2) and LEO (6)."""
    log = log_with((0, 6))
    log.move_log_start(2)
    log.set_follower_high_watermark(stated)
    assert log.high_watermark == high_watermark


def test_last_caught_up_time() -> None:
    """kafka-semantics 5.1: at the LEO, now; at the LEO of the fetch before, the time of that fetch."""
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
    rules = Rules(Profile(), 10_000, 1, {2: Registration(200)})
    leader = Leader(rules, log_with((0, 6)), isr=frozenset({1}), remotes={2: Remote(4, 4, 100, 100, 200)})
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


@DRAWN
@given(histories())
def test_offsets_are_in_order(drawn: History) -> None:
    """0 <= log start <= LSO <= HW <= LEO, at every leader and replica."""
    for row in drawn.expected_leader:
        assert 0 <= row["log_start_offset"] <= row["last_stable_offset"], drawn.text()
        assert row["last_stable_offset"] <= row["high_watermark"] <= row["log_end_offset"], drawn.text()
    for row in drawn.expected_replica:
        assert 0 <= row["log_start_offset"] <= row["high_watermark"] <= row["log_end_offset"], drawn.text()


@DRAWN
@given(histories())
def test_times_increase(drawn: History) -> None:
    """Two events at leaders never have the same time, so that their order is never in doubt."""
    times = [row["event_time"] for row in drawn.expected_leader]
    assert times == sorted(set(times)), drawn.text()


@DRAWN
@given(histories())
def test_a_leader_keeps_the_rules_of_the_high_watermark(drawn: History) -> None:
    """In a leadership the HW never falls, rises only to what the maximal ISR has, and not under min ISR (3.7+)."""
    last: dict[tuple[int, int, int], Row] = {}
    for row in drawn.expected_leader:
        leadership = (row["leader_epoch"], row["leader_id"], row["incarnation"])
        before = last.get(leadership, row)["high_watermark"]
        last[leadership] = row
        assert row["high_watermark"] >= before, drawn.text()
        assert row["leader_id"] in row["isr"], drawn.text()
        assert set(row["isr"]) <= set(row["maximal_isr"]) <= {*row["remote_log_end_offset"], row["leader_id"]}
        if row["high_watermark"] > before:
            waits_for = set(row["maximal_isr"]) - {row["leader_id"]}
            assert all(row["remote_log_end_offset"][r] >= row["high_watermark"] for r in waits_for), drawn.text()
            assert not (drawn.profile.min_isr_gate and row["is_under_min_isr"]), drawn.text()


@DRAWN
@given(histories())
def test_every_event_is_in_a_log(drawn: History) -> None:
    """Each fetch a leader accepted and each append has its line, and each such line its event."""
    fetched = {row["event_time"] for row in drawn.expected_leader if row["event_type"] == "FETCH"}
    lines = [row for row in drawn.landing["fetch_events"] if row["replica_id"] >= 0]
    accepted = [row for row in lines if row["is_parked"] or (row["error_code"] == 0 and row["diverging_epoch"] < 0)]
    assert {row["event_time"] for row in accepted} == fetched, drawn.text()
    appended = {row["event_time"] for row in drawn.expected_leader if row["event_type"] == "APPEND"}
    produced = {row["event_time"] for row in drawn.landing["produce_events"] if row["base_offset"] >= 0}
    assert produced == appended, drawn.text()


def _check_responses(drawn: History) -> int:
    """Check each response's HW against what its leader knew; how many responses there were."""
    told = [line for line in drawn.landing["fetch_events"] if line["response_high_watermark"] >= 0]
    for line in told:
        # Of its process alone: one that is restarted may lead on in the epoch, with a log that was cut and a lower HW.
        # Of its epoch and later: a request that names none is answered though the leader leads in another by then.
        leads = [row for row in drawn.expected_leader if row["leader_id"] == line["broker_id"]]
        process = max(row["incarnation"] for row in leads if row["event_time"] <= line["event_time"])
        epoch = line["leader_epoch"]
        led = [row for row in leads if row["incarnation"] == process and row["leader_epoch"] >= epoch]
        before = [row["high_watermark"] for row in led if row["event_time"] < line["event_time"]]
        until = [row["high_watermark"] for row in led if row["event_time"] <= line["response_time"]]
        high_watermark = line["response_high_watermark"]
        assert max(before, default=-1) <= high_watermark <= max(until, default=-1), drawn.text()
    return len(told)


@DRAWN
@given(histories())
def test_a_response_never_tells_more_than_the_leader_knew(drawn: History) -> None:
    """The HW in a response lies between the leader's just before the read and at the response."""
    _check_responses(drawn)


def test_a_response_of_a_leader_that_came_back_without_its_log() -> None:
    """Killed with HW 1, it leads on in epoch 0 with HW 0: what the process before knew says nothing of its response."""
    steps = (
        "1 leads epoch 0, replicas 1 2, isr 1", "append 1", "kill 1", "restart 1 hw 0 leo 0", "consumer fetches at 0",
    )  # fmt: skip
    drawn = History("came-back", Profile(), 1, True, tuple(read(step) for step in steps))
    assert _check_responses(drawn) > 0
    assert [row["high_watermark"] for row in drawn.expected_leader] == [0, 1, 0]


@DRAWN
@given(histories(profiles=SAFE_PROFILES, features=SAFE))
def test_nothing_committed_is_lost_without_a_cause(drawn: History) -> None:
    """With truncation by epoch, nothing unclean and no log cut by a crash, each leader has all below the HW."""
    highest = 0
    for row in drawn.expected_leader:
        assert row["log_end_offset"] >= highest or row["event_type"] != "BECOME_LEADER", drawn.text()
        highest = max(highest, row["high_watermark"])


@DRAWN
@given(histories(profiles=SAFE_PROFILES, features=SAFE))
def test_logs_agree_below_both_high_watermarks(drawn: History) -> None:
    """Log matching: two replicas hold the same record at every offset below both their HWs."""
    cluster, _ = drawn.played
    logs = [broker.log for broker in cluster.brokers.values()]
    for mine in logs:
        for yours in logs:
            start = max(mine.log_start_offset, yours.log_start_offset)
            end = min(mine.high_watermark, yours.high_watermark)
            assert mine.records[start:end] == yours.records[start:end], drawn.text()
