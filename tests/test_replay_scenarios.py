"""The engine on the drawn stories: the right side of each line, written by hand, is what it rebuilds from the logs."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.story import SCENARIOS, Story, load
from tests.told import Row, Told, cuts_not_made, disputes, retold
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


@pytest.fixture(scope="module")
def told(spark: SparkSession) -> dict[str, Told]:
    """What was rebuilt of each story."""
    stories = [load(path) for path in STORIES]
    landing = combined(stories)
    for table, of_story in contested(stories[0]).items():
        landing[table] = [*landing[table], *of_story]
    return retold(spark, stories, landing)


@pytest.mark.parametrize("path", STORIES, ids=lambda path: path.stem)
def test_the_story_is_rebuilt(path: Path, told: dict[str, Told]) -> None:
    """Each fact on the right of the bar, from the rows on the left."""
    story = load(path)

    assert any(expected.known != Known() for expected in story.expected)
    assert list(disputes(story, told[story.name])) == []
    assert list(cuts_not_made(story, told[story.name])) == []


def test_a_contested_epoch_is_bounded(told: dict[str, Told]) -> None:
    """Two leaders of one epoch: the events are there, and nothing of them is called exact."""
    rows = told[CONTESTED].leader

    assert rows
    assert {row["exactness"] for row in rows if row["leader_epoch"] == min(r["leader_epoch"] for r in rows)} == {
        "bounded"
    }
