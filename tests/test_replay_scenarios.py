"""The engine on the drawn stories: the right side of each line, written by hand, is what it rebuilds from the logs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from replay.events.leaderships import leaderships, roles_with_loads
from replay.events.tenures import tenure_facts
from schemas.tables import BROKER_STATEMENTS
from tests.engine import landed_from, profile
from tests.rebuilt import Answers, Logs, asked, logs_of
from tests.story import SCENARIOS, Story, load
from tests.told import Row, Told, cuts_not_made, disputes
from tests.twin.histories import combined
from tests.twin.words import Known

pytestmark = pytest.mark.spark

CONTESTED = "two leaders of an epoch"
STORIES = sorted(SCENARIOS.glob("*.txt"))


def contested(story: Story) -> dict[str, list[Row]]:
    """The rows of a story in which another broker says that it leads the same epoch."""
    landing = {table: [{**row, "cluster_id": CONTESTED} for row in rows] for table, rows in story.landing.items()}
    first = next(row for row in landing["leader_changes"] if row["change_kind"] == "become_leader")
    other = next(replica for replica in first["replicas"] if replica != first["leader_id"])
    landing["leader_changes"].append({**first, "broker_id": other, "leader_id": other})
    return landing


@asked
def drawn() -> Logs:
    """The logs of all stories, and of one with two leaders of an epoch."""
    stories = [load(path) for path in STORIES]
    landing = combined(stories)
    for table, of_story in contested(stories[0]).items():
        landing[table] = [*landing[table], *of_story]
    logs = logs_of(stories, 5, landing)
    return Logs(landing, {**logs.spoken, CONTESTED: profile(stories[0])}, logs.slots)


@pytest.fixture(scope="module")
def told(rebuilt: Answers) -> Mapping[str, Told]:
    """What was rebuilt of each story."""
    return rebuilt[drawn]


@pytest.mark.parametrize("path", STORIES, ids=lambda path: path.stem)
def test_the_story_is_rebuilt(path: Path, told: Mapping[str, Told]) -> None:
    """Each fact on the right of the bar, from the rows on the left."""
    story = load(path)

    assert any(expected.known != Known() for expected in story.expected)
    assert list(disputes(story, told[story.name])) == []
    assert list(cuts_not_made(story, told[story.name])) == []


def test_what_a_plan_can_do_without_is_seen_before_it_is_made(spark: SparkSession) -> None:
    """Who was never told of a leader in between; who led twice in a row; where no line states the LEO at the begin."""
    told = landed_from(spark, combined([load(path) for path in STORIES]))
    untold = told | {BROKER_STATEMENTS.name: told[BROKER_STATEMENTS.name].where("false")}
    facts, unstated = (tenure_facts(leaderships(roles_with_loads(landed))).collect() for landed in (told, untold))
    long = {row["cluster_id"] for row in facts if row["has_long_tenures"]}

    assert {row["cluster_id"] for row in facts if row["has_returns"]} == {"a_leader_that_was_not_told_leads_on"}
    assert {"same_leader_in_a_new_epoch_remembers", "a_leader_that_was_not_told_leads_on"} < long
    assert len(long) < len(facts) / 2
    assert not any(row["has_unstated_starts"] for row in facts)
    assert all(row["has_unstated_starts"] for row in unstated)


def test_a_contested_epoch_is_bounded(told: Mapping[str, Told]) -> None:
    """Two leaders of one epoch: the events are there, and nothing of them is called exact."""
    rows = told[CONTESTED].leader

    assert rows
    assert {row["exactness"] for row in rows if row["leader_epoch"] == min(r["leader_epoch"] for r in rows)} == {
        "bounded"
    }


def states(rebuilt: Told, replica: int, epoch: int) -> list[tuple[int, int, str]]:
    """LEO, HW and exactness of a replica in an epoch, in order."""
    rows = [row for row in rebuilt.replica if (row["replica_id"], row["leader_epoch"]) == (replica, epoch)]
    return [
        (r["log_end_offset"], r["high_watermark"], r["exactness"]) for r in sorted(rows, key=lambda r: r["event_seq"])
    ]


def test_the_line_of_its_election_tells_what_a_replica_had_taken(told: Mapping[str, Told]) -> None:
    """It never fetches again, yet its last response is known to have come: nothing is bounded."""
    assert states(told["its_own_line_tells_what_it_took"], replica=3, epoch=0)[-1] == (15, 10, "exact")


def test_what_nothing_tells_stays_bounded_until_something_does(told: Mapping[str, Told]) -> None:
    """A replica that is gone after its last response: what happens to others later says nothing of it."""
    later = states(told["nothing_tells_whether_it_came"], replica=3, epoch=0)

    assert [exactness for _, _, exactness in later[-2:]] == ["bounded", "bounded"]


def test_the_line_of_a_shrinking_isr_bounds_the_leo(told: Mapping[str, Told]) -> None:
    """From the last append that is logged on: up to the LEO it states."""
    rows = told["a_witness_in_a_line_of_an_append_that_is_in_no_log"].leader
    appended = next(row for row in rows if row["event_type"] == "APPEND")

    assert (appended["log_end_offset"], appended["log_end_offset_high"]) == (8, 13)


BOUNDED = {"a_witness_lowers_nobody"}
"""Of these stories no line tells how far a follower had come, and the leader's rows say so."""


def test_what_a_story_tells_is_not_in_doubt(told: Mapping[str, Told]) -> None:
    """No row is called bounded where the logs have it all."""
    in_doubt = {path.stem for path in STORIES if any(row["exactness"] == "bounded" for row in told[path.stem].leader)}

    assert in_doubt == BOUNDED


def test_a_leader_has_what_its_rows_say(told: Mapping[str, Told]) -> None:
    """In `replica_timeline` too: each LEO and HW of each leader. And no offset of a replica is NULL: unknown is -1."""
    offsets = ("log_end_offset", "remote_log_end_offset", "high_watermark")
    names = [name for offset in offsets for name in (offset, f"{offset}_low", f"{offset}_high")]
    for path in STORIES:
        leaders, replicas = told[path.stem].leader, told[path.stem].replica
        led = {(r["leader_epoch"], r["leader_id"], r["log_end_offset"], r["high_watermark"]) for r in leaders}
        had = {(r["leader_epoch"], r["replica_id"], r["log_end_offset"], r["high_watermark"]) for r in replicas}

        assert led <= had
        assert [row for row in replicas for name in names if row.get(name, 0) is None] == []


def test_what_a_replica_has_is_its_own(told: Mapping[str, Told]) -> None:
    """What it loaded ends what its last response left open; another's response leaves nothing open of it."""
    assert states(told["i_truncation_by_epoch_heals"], replica=2, epoch=0)[-2:] == [(2, 0, "bounded"), (1, 1, "exact")]
    assert states(told["two_rounds_of_offsets_for_leader_epoch"], replica=1, epoch=1) == [(10, 10, "exact")]
    of_2 = states(told["a_restarted_replica_has_what_it_loaded"], replica=2, epoch=0)
    assert of_2[-1] == (4, 3, "exact")


def test_a_dropped_replica_begins_anew(told: Mapping[str, Told]) -> None:
    """Its log is deleted with it: assigned again, nothing is known of it."""
    assert states(told["a_dropped_replica_is_forgotten"], replica=3, epoch=1)[0] == (-1, -1, "bounded")
