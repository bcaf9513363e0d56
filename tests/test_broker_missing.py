"""A broker whose logs are not in the capture, and no metadata log: what the others' lines tell of the time it led."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rebuilt import Answers, Logs, asked, logs_of
from tests.story import tell
from tests.twin.histories import combined

pytestmark = pytest.mark.spark

GONE = 2
STORY = """# Replica 2 leads epoch 1, takes seven records more, and commits four of them; then 1 leads again.
kafka 3.9.1
1 leads epoch 0, replicas 1 2 3, isr 1 2 3 | 1:0  2:?  3:?  hw 0
append 3                                   | 1:3  2:?  3:?  hw 0
2 fetches at 0                             | 1:3  2:0  3:?  hw 0
3 fetches at 0                             | 1:3  2:0  3:0  hw 0
2 fetches at 3, at once                    | 1:3  2:3  3:0  hw 0
3 fetches at 3, at once                    | 1:3  2:3  3:3  hw 3
2 fetches at 3, at once                    | 1:3  2:3  3:3  hw 3
2 is elected epoch 1                       | 2:3  1:?  3:?  hw 3
append 4                                   | 2:7  1:?  3:?  hw 3
1 fetches at 3                             | 2:7  1:3  3:?  hw 3
3 fetches at 3                             | 2:7  1:3  3:3  hw 3
1 fetches at 7, at once                    | 2:7  1:7  3:3  hw 3
3 fetches at 7, at once                    | 2:7  1:7  3:7  hw 7
1 is elected epoch 2                       | 1:7  2:?  3:?
append 1                                   | 1:8  2:?  3:?
2 fetches at 7                             | 1:8  2:7  3:?
3 fetches at 7                             | 1:8  2:7  3:7
"""


@asked
def without_its_logs() -> Logs:
    """Nothing that replica 2 wrote, and no record of a controller."""
    landing = dict(combined([tell("gone", STORY)]))
    for table in ("produce_events", "fetch_events", "leader_changes", "broker_statements", "segment_batches"):
        landing[table] = [row for row in landing.get(table, ()) if row["broker_id"] != GONE]
    landing["metadata_changes"] = []
    logs = logs_of([tell("gone", STORY)], 3, landing)
    return Logs(landing, {"gone": logs.spoken["gone"].with_changes(has_silence=True)}, 3)


def leader_rows(rebuilt: Answers, epoch: int) -> list[dict[str, Any]]:
    """The leader's rows of an epoch."""
    return [row for row in rebuilt[without_its_logs]["gone"].leader if row["leader_epoch"] == epoch]


def test_the_story_is_one() -> None:
    """And others' lines are left."""
    assert tell("gone", STORY).disputes == []
    assert {row["broker_id"] for row in without_its_logs().landing["leader_changes"]} == {1, 3}


def test_it_led_and_what_it_had_is_bounded(rebuilt: Answers) -> None:
    """Followers' lines name it; no line tells its LEO, its HW nor the ISR."""
    begin = leader_rows(rebuilt, 1)[0]

    assert (begin["event_type"], begin["leader_id"], begin["exactness"]) == ("BECOME_LEADER", GONE, "bounded")
    assert begin["high_watermark_low"] <= 3
    assert begin["high_watermark_high"] >= 7
    assert begin["log_end_offset_high"] >= 7
    # Beside logs that need it, an ISR that no line tells is inferred, and marked.
    assert [row["isr"] for row in leader_rows(rebuilt, 1) if not row["is_isr_inferred"]] in ([None, None], [])


def test_no_replica_goes_on_with_what_it_had(rebuilt: Answers) -> None:
    """What it was in between nobody knows, but for what its own lines state; nothing was cut."""
    told = rebuilt[without_its_logs]["gone"]
    states = [row for row in told.replica if row["leader_epoch"] == 1]
    first_of_next = next(row for row in told.replica if (row["leader_epoch"], row["replica_id"]) == (2, GONE))

    assert {row["replica_id"] for row in states} == {1, GONE, 3}
    lasting = [row for row in states if row["valid_from"] != row["valid_to"] and row["exactness"] != "stated"]
    assert lasting
    assert [row for row in lasting if row["log_end_offset_high"] < 7] == []
    assert (first_of_next["log_end_offset_low"], first_of_next["exactness"]) != (3, "exact")
    assert told.truncations == []


def test_the_next_leader_is_told_again(rebuilt: Answers) -> None:
    """By its own line and its requests."""
    begin, *_, last = leader_rows(rebuilt, 2)

    assert (begin["leader_id"], begin["log_end_offset"]) == (1, 7)
    assert (last["log_end_offset"], last["remote_log_end_offset"], last["exactness"]) == (8, {2: 7, 3: 7}, "exact")
