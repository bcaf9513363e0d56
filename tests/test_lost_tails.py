"""A log that a crash left shorter was cut by the restart, whichever line of it is missing."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest
from pyspark.sql import SparkSession

from replay.states import truncations
from tests.mutants import Mutant
from tests.rebuilt import Answers, Logs, asked, logs_of
from tests.story import Story, tell
from tests.told import Told, retold
from tests.twin.histories import combined
from tests.twin.rows import Row

pytestmark = pytest.mark.spark

STORIES = {
    # How long the log is that it loads no line tells; with how much it leads on, that of its role does.
    "no_line_of_its_length": """
        1 leads epoch 0, replicas 1 2, isr 1
        append 6, acks all
        append 2, acks all          | hw 8
        time +2 s
        kill 1
        restart 1 hw 3 leo 6        | lost 1: 6 to 8
        append 3, acks all
    """,
    # 3, which led when 1 came back, left no file, nor is there a metadata log: 1 has a role in no leadership.
    "no_file_of_its_leader": """
        1 leads epoch 0, replicas 1 2 3, isr 1 2 3
        append 10
        2 fetches at 10, at once
        3 fetches at 10, at once
        2 fetches at 10, at once    | hw 10
        time +2 s
        kill 1
        3 is elected epoch 1
        restart 1 hw 5 leo 8        | lost 1: 8 to 10
        3 is elected epoch 2
        2 is elected epoch 3
        1 fetches at 8
        1 fetches at 10
    """,
}
LEFT: dict[str, Callable[[Row], bool]] = {
    "no_line_of_its_length": lambda row: row.get("kind") != "loaded_log_end_offset",
    "no_file_of_its_leader": lambda row: row.get("broker_id") != 3 and "metadata_offset" not in row,
}
"""What is left of the rows of each story."""
CUTS = {"no_line_of_its_length": [(1, 8, 6, "restart")], "no_file_of_its_leader": [(1, 10, 8, "restart")]}
BY_RESTART = "(F.col(N.IS_RESTART) | F.col(_IS_LOSS))"
MUTANTS = (
    Mutant(truncations.truncations, BY_RESTART, "F.col(_IS_LOSS)", "only a line of its length tells of a restart"),
    Mutant(truncations.truncations, BY_RESTART, "F.col(N.IS_RESTART)", "only in a leadership a replica restarts"),
)


def stories() -> list[Story]:
    """Each with all its lines."""
    return [tell(name, text) for name, text in STORIES.items()]


@asked
def left() -> Logs:
    """What is left of them."""
    landing = {
        table: [row for row in rows if LEFT[row["cluster_id"]](row)] for table, rows in combined(stories()).items()
    }
    return logs_of(stories(), 3, landing)


def cuts(told: Mapping[str, Told]) -> dict[str, list[tuple[int, int, int, str]]]:
    """The truncations that are rebuilt: replica, LEO before and after, method."""
    columns = ("replica_id", "from_offset", "to_offset", "method")
    return {name: [tuple(row[c] for c in columns) for row in told[name].truncations] for name in STORIES}  # type: ignore[misc]


def test_a_restart_is_told(rebuilt: Answers) -> None:
    """By the HW that the process loaded, or by the length of what it loaded since it was last known longer."""
    assert [dispute for story in stories() for dispute in story.disputes] == []
    assert cuts(rebuilt[left]) == CUTS


@pytest.mark.long
@pytest.mark.parametrize("mutant", MUTANTS, ids=str)
def test_the_mutant_dies(mutant: Mutant, spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some cut has another method."""
    mutant.live(monkeypatch)

    assert cuts(retold(spark, stories(), left().landing)) != CUTS
