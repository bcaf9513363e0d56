"""Findings of stories: what happens is written down, the engine replays it, and what is found is known by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from pyspark.sql import Row, SparkSession

from tests import cut_in_part, old_tails
from tests.incident_ranges import BELOW, COMMITTED, UNCOMMITTED
from tests.looked_through import findings_of, stories_of
from tests.old_tails import DIVERGED
from tests.rebuilt import Answers, Logs, asked, logs_of

pytestmark = pytest.mark.spark

JUDGED = (COMMITTED, UNCOMMITTED, BELOW, DIVERGED)

STORIES = {
    # 2 is elected with all records; long after, 3 is from outside the ISR, and 1 cuts what it had of 2.
    "cut_in_a_later_epoch": """
        lag 30 s
        1 leads epoch 0, replicas 1 2 3, isr 1 2 3
        append 10
        2 fetches at 10, at once
        3 fetches at 8, dropped
        time +31 s
        2 fetches at 10, at once
        propose isr 1 2
        isr 1 2
        2 fetches at 10, at once    | hw 10
        2 is elected epoch 1        | 2:10
        append 10
        1 fetches at 10, at once
        1 fetches at 20, at once    | hw 20
        1 fetches at 20, at once
        kill 1
        kill 2
        3 is elected epoch 2, unclean | 3:8
        restart 1 hw 20
        1 fetches at 20             | lost 1: 8 to 20
    """,
    # A follower that was the leader before loses its tail in a crash: its leader has it.
    "tail_of_a_former_leader": """
        1 leads epoch 0, replicas 1 2, isr 1 2
        append 10
        2 fetches at 10, at once
        2 fetches at 10, at once
        2 is elected epoch 1
        append 10
        1 fetches at 10, at once
        1 fetches at 20, at once    | hw 20
        1 fetches at 20, at once
        kill 1
        restart 1 hw 10 leo 8       | lost 1: 8 to 20
        1 fetches at 8
        1 fetches at 20
    """,
    "tail_in_the_first_epoch": """
        1 leads epoch 0, replicas 1 2, isr 1 2
        append 10
        2 fetches at 10, at once
        2 fetches at 10, at once    | hw 10
        kill 2
        restart 2 hw 5 leo 8        | lost 2: 8 to 10
        2 fetches at 8
        2 fetches at 10
    """,
    # What it lost was committed in this epoch, and not by a leader before.
    "tail_of_this_epoch": """
        1 leads epoch 0, replicas 1 2, isr 1 2
        append 5
        2 fetches at 5, at once
        2 fetches at 5, at once     | hw 5
        kill 1
        no leader epoch 1
        restart 1 hw 5
        1 is elected epoch 2
        append 5
        2 fetches at 5, at once
        2 fetches at 10, at once    | hw 10
        2 fetches at 10, at once
        kill 2
        restart 2 hw 5 leo 8        | lost 2: 8 to 10
        2 fetches at 8
    """,
    # A leader keeps its epoch and has lost its tail; what is appended then has the same offsets.
    "restart_of_the_leader": """
        1 leads epoch 0, replicas 1 2, isr 1
        append 6, acks all
        append 2, acks all          | hw 8
        time +2 s
        kill 1
        restart 1 hw 3 leo 6        | lost 1: 6 to 8
        append 3, acks all
    """,
    # An idempotent producer asks again: it is answered with the offset of the first batch, and nothing is appended.
    "a_batch_is_repeated": """
        1 leads epoch 0, replicas 1 2, isr 1
        append 4, acks all
        append 0, acks all          | 1:4  hw 4
        append 0, acks all          | 1:4  hw 4
        kill 1
        2 is elected epoch 1, unclean
    """,
    "followers_of_a_restarted_leader": """
        1 leads epoch 0, replicas 1 2, isr 1 2
        append 10
        2 fetches at 10, at once
        2 fetches at 10, at once
        2 is elected epoch 1
        1 fetches at 10, at once
        append 10
        1 fetches at 10, at once
        1 fetches at 20, at once    | hw 20
        time +20 s
        kill 2
        restart 2 hw 8 leo 9        | lost 2: 9 to 20
        1 fetches at 20             | lost 1: 9 to 20
        1 fetches at 9
    """,
    # The leader of epoch 2 is longer than that of epoch 1, and has other records.
    "an_old_tail_comes_back": """
        1 leads epoch 0, replicas 1 2, isr 1
        append 4
        append 6                    | hw 10
        2 fetches at 4, dropped
        kill 1
        2 is elected epoch 1, unclean | 2:4
        append 3                    | hw 7
        kill 2
        restart 1 hw 10
        1 is elected epoch 2, unclean | 1:10
        append 1
        restart 2 hw 4
        2 fetches at 7              | lost 2: 4 to 7
        2 fetches at 4
    """,
    # An append that no line tells of: what the broker cut when it came back does.
    "in_flight": """
        1 leads epoch 0, replicas 1 2, isr 1 2
        append 4
        2 fetches at 4, at once
        2 fetches at 4, at once     | hw 4
        append 2, acks all
        kill 1
        2 is elected epoch 1
        append 3
        restart 1 hw 4
        1 fetches at 6              | lost 1: 4 to 6
        1 fetches at 4
        1 fetches at 7
    """,
    **cut_in_part.STORIES,
    **old_tails.STORIES,
}
FOUND = {
    "cut_in_a_later_epoch": {(COMMITTED, "critical", 2, 3, 8, 20), (BELOW, "critical", 2, 1, 8, 20)},
    "tail_of_a_former_leader": {(BELOW, "warning", 1, 1, 8, 20)},
    "tail_in_the_first_epoch": {(BELOW, "warning", 0, 2, 8, 10)},
    "tail_of_this_epoch": {(BELOW, "warning", 2, 2, 8, 10)},
    "restart_of_the_leader": {(COMMITTED, "critical", 0, 1, 6, 8), (BELOW, "critical", 0, 1, 6, 8)},
    "a_batch_is_repeated": {(COMMITTED, "critical", 1, 2, 0, 4)},
    "followers_of_a_restarted_leader": {
        (COMMITTED, "critical", 1, 2, 9, 20), (BELOW, "critical", 1, 2, 9, 20), (BELOW, "critical", 1, 1, 9, 20),
    },
    "an_old_tail_comes_back": {
        (COMMITTED, "critical", 1, 2, 4, 10), (COMMITTED, "critical", 2, 1, 4, 7), (BELOW, "critical", 2, 2, 4, 7),
        (DIVERGED, "info", 1, 1, 4, 7), (DIVERGED, "info", 2, 2, 4, 7),
    },
    "in_flight": {
        (UNCOMMITTED, "info", 1, 2, 4, 6), (BELOW, "info", 1, 1, 4, 6), (DIVERGED, "info", 1, 1, 4, 6),
    },
    **cut_in_part.FOUND,
    **old_tails.FOUND,
}  # fmt: skip
"""Kind, severity, leader epoch, replica and range of each finding of a kind that is `JUDGED`."""


@asked
def told() -> Logs:
    """Their logs."""
    return logs_of(stories_of(STORIES), 3)


@pytest.fixture(scope="module")
def found(spark: SparkSession, rebuilt: Answers) -> Mapping[str, Sequence[Row]]:
    """Every finding by story."""
    return findings_of(spark, rebuilt, told)


@pytest.mark.parametrize("story", STORIES)
def test_what_was_lost_and_cut(story: str, found: Mapping[str, Sequence[Row]]) -> None:
    """Each range once, as bad as it is: by whose records they were, and whether the leader has them."""
    columns = ("kind", "severity", "leader_epoch", "replica_id", "from_offset", "to_offset")
    told = [tuple(row[name] for name in columns) for row in found[story] if row["kind"] in JUDGED]

    assert sorted(told) == sorted(FOUND[story])


def evidence(found: Mapping[str, Sequence[Row]], story: str, kind: str, epoch: int) -> str:
    """The evidence of the story's one finding of a kind in an epoch."""
    (only,) = [row["evidence"] for row in found[story] if (row["kind"], row["leader_epoch"]) == (kind, epoch)]
    return str(only)


def test_the_evidence_is_of_those_records(found: Mapping[str, Sequence[Row]]) -> None:
    """Not of others that had the same offsets before or after: who cut them, and what producers were told."""
    restarted = evidence(found, "restart_of_the_leader", COMMITTED, 0)
    assert "producers: 2 acknowledged with acks=-1;" in restarted
    assert "producers: 4 acknowledged with acks=-1;" in evidence(found, "a_batch_is_repeated", COMMITTED, 1)
    assert "no replica is seen to cut them" in evidence(found, "an_old_tail_comes_back", COMMITTED, 1)
    assert "cut by replica 2 in epoch 2 ([4, 7) by" in evidence(found, "an_old_tail_comes_back", COMMITTED, 2)
    assert "[4, 7) of them are gone from the leader's log too" in evidence(found, "an_old_tail_comes_back", BELOW, 2)
    assert "still has them: they are fetched again" in evidence(found, "tail_in_the_first_epoch", BELOW, 0)


def test_a_silent_truncation_is_told_once(found: Mapping[str, Sequence[Row]]) -> None:
    """With the first role that shows it, and not with each until the replica has fetched."""
    silent = [row for row in found["a_lost_tail_is_found_once"] if row["kind"] == "SILENT_TRUNCATION"]

    assert [(row["replica_id"], row["from_offset"], row["to_offset"]) for row in silent] == [(2, 5, 8)]
