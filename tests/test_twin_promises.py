"""What the twin plays keeps Kafka's promises where Kafka does."""

from __future__ import annotations

from hypothesis import given

from tests.strategies import DRAWN, histories
from tests.twin.histories import History
from tests.twin.notation import read
from tests.twin.picking import Features
from tests.twin.profile import PROFILES, Profile
from tests.twin.rows import Row

SAFE = Features(restarts=False, unclean=False)
SAFE_PROFILES = tuple(profile for profile in PROFILES if profile.truncation != "high_watermark")


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
