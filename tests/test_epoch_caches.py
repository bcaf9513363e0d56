"""Each replica's leader epochs at the end, as its log has them: against the twin's own cache."""

from __future__ import annotations

from itertools import pairwise

import pytest
from pyspark.sql import SparkSession

from replay.views.epoch_caches import MADE_OF, leader_epoch_caches
from tests.engine import landed_from
from tests.looked_through import stories_of
from tests.rebuilt import Answers, Logs, asked, logs_of
from tests.twin.log import Log

pytestmark = pytest.mark.spark

Entry = tuple[int, int, int]
"""Leader epoch, start offset, end offset."""

STORIES = {
    # 1 leads epoch 1 from 4 on. Its process restarts and keeps the epoch: it has entered it already.
    "a_leader_restarts_and_keeps_its_epoch": """
        lag 10 s
        1 leads epoch 0, replicas 1 2, isr 1 | 1:0  2:?  hw 0
        append 4                             | 1:4  hw 4
        1 is elected epoch 1                 | 1:4  hw 4
        append 4                             | 1:8  hw 8
        2 fetches at 0, at once              | 1:8  2:0  replica 2: leo 8 hw 8
        2 fetches at 8, at once              | 1:8  2:8
        kill 1                               | no leader
        restart 1 hw 8 leo 8                 | 1:8  2:?  hw 8
        append 2                             | 1:10  hw 10
        2 fetches at 8, at once              | 1:10  2:8  replica 2: leo 10 hw 10
        2 fetches at 10, at once             | 1:10  2:10
    """,
    # Without its tail: all that it had appended in epoch 1 is gone, and it enters that anew.
    "it_lost_all_of_it": """
        1 leads epoch 0, replicas 1 2, isr 1 | 1:0  2:?  hw 0
        append 4                             | 1:4  hw 4
        1 is elected epoch 1                 | 1:4  hw 4
        append 4                             | 1:8  hw 8
        kill 1                               | no leader
        restart 1 hw 3 leo 3                 | 1:3  2:?  hw 3  lost 1: 3 to 8
        append 2                             | 1:5  hw 5
    """,
    # 2 had cut its log as its fetch diverged. It is elected before it fetches again: only its line tells.
    "a_replica_is_elected_after_a_cut": """
        1 leads epoch 0, replicas 1 2 3, isr 1 2 3 | 1:0  2:?  3:?  hw 0
        append 6                             | 1:6
        2 fetches at 0, gets 6               | 1:6  2:0  replica 2: leo 6 hw 0
        2 fetches at 6, at once              | 1:6  2:6
        kill 1                               | no leader
        3 is elected epoch 1                 | 3:0  hw 0
        2 fetches at 6, at once              | diverges 0 at 0, replica 2: leo 0 hw 0
        kill 3                               | no leader
        2 is elected epoch 2                 | 2:0
        append 4                             | 2:4
    """,
    # What 2 fetched is of the leader's new process: its old one had come further.
    "a_leader_goes_on_without_its_tail": """
        1 leads epoch 0, replicas 1 2, isr 1 2 | 1:0  2:?  hw 0
        append 5, acks 0                     | 1:5
        kill 1                               | no leader
        restart 1 hw 0 leo 0                 | 1:0  2:?  hw 0
        2 fetches at 0                       | 1:0  2:0
        append 1                             | 1:1
        2 fetches at 1, at once              | 1:1  2:1  hw 1
        2 fetches at 1, at once              | replica 2: leo 1 hw 1
        2 is elected epoch 1                 | 2:1  hw 1
        append 2                             | 2:3
        1 fetches at 1, at once              | replica 1: leo 3 hw 1
        1 fetches at 3, at once              | 2:3  1:3  hw 3
    """,
    # All of epoch 0 is deleted, and with it its entry.
    "an_epoch_is_deleted": """
        1 leads epoch 0, replicas 1 2, isr 1 2 | 1:0  2:?  hw 0
        append 5                             | 1:5
        2 fetches at 0                       | 1:5  2:0  replica 2: leo 5 hw 0
        2 fetches at 5, at once              | 1:5  2:5  hw 5
        1 is elected epoch 1                 | 1:5  2:5  hw 5
        append 5                             | 1:10
        2 fetches at 5                       | 1:10  replica 2: leo 10 hw 5
        2 fetches at 10, at once             | 1:10  2:10  hw 10
        log start 5                          | log start 5
        append 1                             | 1:11
        2 fetches at 10                      | 1:11  2:10
        2 fetches at 11, at once             | 1:11  2:11  hw 11
    """,
    # The records that 1 deleted 2 had not fetched, and it heard nothing of it: its own log starts at 0.
    "a_log_start_is_a_leaders_own": """
        1 leads epoch 0, replicas 1 2, isr 1 | 1:0  2:?  hw 0
        append 10                            | 1:10  hw 10
        2 fetches at 0, gets 3               | 1:10  2:0  replica 2: leo 3 hw 3
        2 fetches at 3, dropped              | 1:10  2:3
        log start 5                          | log start 5
        kill 1                               | no leader
        2 is elected epoch 1, unclean        | 2:3  log start 0
        append 4                             | 2:7
    """,
    # 1 follows one that has deleted nothing: its own log start stays.
    "a_leader_has_more": """
        1 leads epoch 0, replicas 1 2, isr 1 | 1:0  2:?  hw 0
        append 10                            | 1:10
        2 fetches at 0, gets 8               | 1:10  2:0
        2 fetches at 8, dropped              | 1:10  2:8
        log start 5                          | log start 5
        kill 1                               | no leader
        2 is elected epoch 1, unclean        | 2:8  log start 0
        append 4                             | 2:12
        restart 1 hw 8                       | 2:12
        1 fetches at 10                      | lost 1: 8 to 10
        1 fetches at 8, at once              | 2:12  1:8
        1 fetches at 12, at once             | 2:12  1:12
    """,
    # It hears of it by a response though its fetch came before.
    "a_fetch_that_was_held_tells_the_log_start": """
        1 leads epoch 0, replicas 1 2, isr 1 2 | 1:0  2:?  hw 0
        append 5                             | 1:5
        2 fetches at 0                       | 1:5  2:0  replica 2: leo 5 hw 0
        2 fetches at 5, at once              | 1:5  2:5  hw 5
        2 fetches at 5, parked               | 1:5  2:5
        log start 3                          | log start 3
        response to 2                        | 1:5  2:5
    """,
}


@asked
def told() -> Logs:
    """Their logs."""
    return logs_of(stories_of(STORIES), 3)


def test_epochs_begin_once(spark: SparkSession, rebuilt: Answers) -> None:
    """Of each replica, as `LeaderEpochFileCache` has them: where each epoch begins that is in its log, and ends."""
    tables = {**landed_from(spark, told().landing), **vars(rebuilt.frames(told))}
    found: dict[tuple[str, int], list[Entry]] = {}
    for row in leader_epoch_caches(*[tables[table.name] for table in MADE_OF]).collect():
        entry = (row["leader_epoch"], row["start_offset"], row["end_offset"])
        found.setdefault((row["topic"], row["replica_id"]), []).append(entry)

    expected = {
        (story.name, broker.id): entries_of(broker.log)
        for story in stories_of(STORIES)
        for cluster in story.clusters.values()
        for broker in cluster.brokers.values()
        if broker.log.epochs
    }
    assert {key: sorted(entries) for key, entries in found.items()} == expected


def entries_of(log: Log) -> list[Entry]:
    """Of the twin's log: each epoch, its start, and that of the next one or the LEO."""
    return [(epoch, start, end) for (epoch, start), (_, end) in pairwise([*log.epochs, (-1, log.log_end_offset)])]
