"""Where a log was cut, and why, whichever line of it is missing."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest
from pyspark.sql import SparkSession

from replay.states import truncations
from tests.mutants import Mutant
from tests.rebuilt import Answers, Logs, asked, logs_of
from tests.story import SCENARIOS, Story, load, tell
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
    # 3, which led when 1 came back, left no file, nor is there a metadata log or a line of a role of 1's.
    "no_file_of_its_leader_nor_its_role": """
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
NO_SECOND_REQUEST = "two_rounds_to_find_where_logs_part"
"""The replica's request between two rounds of truncation is missing: two lines tell of the cuts."""


def is_role_of_1(row: Row) -> bool:
    """Whether it is a line that broker 1 wrote when it was told its role, or began to fetch."""
    return row.get("broker_id") == 1 and row.get("kind") not in (None, "loaded_log_end_offset")


LEFT: dict[str, Callable[[Row], bool]] = {
    "no_line_of_its_length": lambda row: row.get("kind") != "loaded_log_end_offset",
    "no_file_of_its_leader_nor_its_role": lambda row: (
        row.get("broker_id") != 3 and "metadata_offset" not in row and not is_role_of_1(row)
    ),
    NO_SECOND_REQUEST: lambda row: (row.get("replica_id"), row.get("fetch_offset")) != (2, 10),
}
"""What is left of the rows of each story."""
CUTS = {
    "no_line_of_its_length": [(1, 8, 6, "restart")],
    "no_file_of_its_leader_nor_its_role": [(1, 10, 8, "restart")],
    NO_SECOND_REQUEST: [(2, 14, 10, "fetch_divergence"), (2, 10, 5, "fetch_divergence")],
}
BY_RESTART = "(F.col(N.IS_RESTART) | F.col(_IS_LOSS))"
MUTANTS = (
    Mutant(truncations.truncations, BY_RESTART, "F.col(_IS_LOSS)", "only a line of its length tells of a restart"),
    Mutant(truncations.truncations, BY_RESTART, "F.col(N.IS_RESTART)", "only in a leadership a replica restarts"),
    Mutant(truncations._from_where_the_last_ended, "F.when(goes_on, last_to)", "F.when(F.lit(False), last_to)",
           "the second round cuts what the first has cut"),
)  # fmt: skip


def stories() -> list[Story]:
    """Each with all its lines."""
    told = [tell(name, text) for name, text in STORIES.items()]
    return [*told, load(SCENARIOS / f"{NO_SECOND_REQUEST}.txt")]


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
    return {name: [tuple(row[c] for c in columns) for row in told[name].truncations] for name in LEFT}  # type: ignore[misc]


def test_a_cut_is_told(rebuilt: Answers) -> None:
    """Restarts by the HW that the process loaded, or the length of the log; a second round by where the first ended."""
    assert [dispute for story in stories() for dispute in story.disputes] == []
    assert cuts(rebuilt[left]) == CUTS


@pytest.mark.long
@pytest.mark.parametrize("mutant", MUTANTS, ids=str)
def test_the_mutant_dies(mutant: Mutant, spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some cut has another method, or begins elsewhere."""
    mutant.live(monkeypatch)

    assert cuts(retold(spark, stories(), left().landing)) != CUTS
