"""Stories of which server.log and state-change.log tell alone: what is not told is not made up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from pyspark.sql import Row, SparkSession
from pyspark.sql import functions as F

from expectations.stated_subjects import HIGHEST, LOWEST, stated_shrinks
from schemas import columns as C
from schemas import tables as T
from tests.engine import landed_from
from tests.looked_through import findings_of, stories_of
from tests.rebuilt import Answers, Logs, asked, logs_of
from tests.twin.histories import combined

pytestmark = pytest.mark.spark

STORIES = {
    # 2 leaves the ISR as its broker is fenced, with all that 1 had: it follows in epoch 1 from 5 on, and loads 10.
    "grew_and_was_fenced": """
        lag 10 s
        1 leads epoch 0, replicas 1 2, isr 1 2
        append 5
        2 fetches at 0, at once
        2 fetches at 5, at once
        2 fetches at 5, at once
        1 is elected epoch 1
        append 5
        2 fetches at 5, at once
        2 fetches at 10, at once
        2 fetches at 10, at once
        kill 2
        fence 2
        restart 2 hw 10 leo 10
        kill 1
        2 is elected epoch 2, unclean
        append 1
    """,
    # The same but that it had 7 when it was killed.
    "grew_less": """
        lag 10 s
        1 leads epoch 0, replicas 1 2, isr 1 2
        append 5
        2 fetches at 0, at once
        2 fetches at 5, at once
        2 fetches at 5, at once
        1 is elected epoch 1
        append 5
        2 fetches at 5, gets 2
        kill 2
        fence 2
        restart 2 hw 5 leo 7
        append 1
        1 is elected epoch 2, isr 1
        kill 1
        2 is elected epoch 3, unclean
        append 1
    """,
    "a_transaction_is_open": """
        1 leads epoch 0, replicas 1 2, isr 1
        append 3, txn 1
        1 is elected epoch 1
    """,
    "shrinks": """
        lag 10 s
        1 leads epoch 0, replicas 1 2, isr 1 2
        append 5
        2 fetches at 0
        2 fetches at 5
        append 1
        time +30 s
        isr 1
        append 1
    """,
}


@asked
def told() -> Logs:
    """Their lines without requests."""
    stories = stories_of(STORIES)
    logs = logs_of(stories, 2, combined(stories) | {T.PRODUCE_EVENTS.name: [], T.FETCH_EVENTS.name: []})
    silent = {
        name: rules.with_changes(has_silence=True, has_silence_within=True, has_untold_isr=True)
        for name, rules in logs.spoken.items()
    }
    return Logs(logs.landing, silent, logs.slots)


@pytest.fixture(scope="module")
def found(spark: SparkSession, rebuilt: Answers) -> Mapping[str, Sequence[Row]]:
    """Every finding by story."""
    return findings_of(spark, rebuilt, told)


def lost(found: Sequence[Row]) -> list[tuple[str, int, int]]:
    """The ranges that are gone, and what is said of them."""
    return sorted((row["kind"], row["from_offset"], row["to_offset"]) for row in found if "LOST" in row["kind"])


def test_a_follower_whose_own_log_grew_has_fetched(found: Mapping[str, Sequence[Row]]) -> None:
    """Also if the ISR does not tell: it left it, and its fetches are in no log. What it has is not lost."""
    assert lost(found["grew_and_was_fenced"]) == []
    assert not [row for row in found["grew_and_was_fenced"] if row["kind"] == "LOG_DIVERGENCE"]


def test_what_it_had_not_fetched_is_gone(found: Mapping[str, Sequence[Row]]) -> None:
    """From where its own log ends."""
    assert [(begin, end) for _, begin, end in lost(found["grew_less"])] == [(7, 11)]


def test_nothing_tells_of_transactions(rebuilt: Answers) -> None:
    """The LSO of a leader that begins with records is unknown; of an empty log it is its end."""
    begins = [row for row in rebuilt[told]["a_transaction_is_open"].leader if row["event_type"] == "BECOME_LEADER"]

    assert [(row["high_watermark"], row["last_stable_offset"]) for row in begins] == [(0, 0), (3, -1)]


def test_a_remote_leo_that_nothing_tells_is_beside_no_line(spark: SparkSession, rebuilt: Answers) -> None:
    """Of a line "Shrinking ISR": -1 is no value that it could contradict."""
    logs, timelines = told(), rebuilt.frames(told)
    landed = landed_from(spark, logs.landing)
    stated = stated_shrinks({**landed, T.LEADER_TIMELINE.name: timelines.leader_timeline})
    remote = stated.where((F.col(C.TOPIC) == "shrinks") & (F.col(C.KIND) == "shrinking_remote_log_end_offset"))

    assert [(row["offset"], row[LOWEST], row[HIGHEST]) for row in remote.collect()] == [(5, None, None)]
