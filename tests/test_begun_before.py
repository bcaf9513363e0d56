"""Leaderships that began before the logs of roles do: what requests prove of them is there, and within its bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from replay.events.shown import untold_isrs
from tests.engine import landed_from, profile
from tests.pairs import outside, paired
from tests.pieces import Landing, at_share
from tests.rebuilt import Answers, Logs, asked
from tests.test_replay_histories import MOST_REPLICAS
from tests.twin.histories import History, combined, history

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyspark.sql import SparkSession

    from tests.pairs import Pair

pytestmark = pytest.mark.spark
SEEDS = range(800, 830)
LATER = 0.5
"""Share of each history's time from which on brokers' lines of roles, ISRs and offsets are left."""
FENCED = "history-817 epoch 0"
"""Its replica 3 is fenced, and so out of the ISR, while it fetches on: of that the metadata log alone tells."""
Row = dict[str, Any]


def drawn() -> list[History]:
    """Histories whose fetches name their leader epoch."""
    return [it for seed in SEEDS if profile(it := history(seed)).fetches_state_epoch]


def begun_before(landing: Landing, *gone: str) -> dict[str, list[Row]]:
    """The rows without what brokers' own lines tell early, and without some tables."""
    begins = at_share(landing, LATER)

    def is_left(row: Row) -> bool:
        return row["event_time"] is None or row["event_time"] >= begins[row["cluster_id"]]

    early = {table: [*filter(is_left, landing[table])] for table in ("leader_changes", "broker_statements")}
    return {**landing, **early} | {table: [] for table in gone}


def logs_of(landing: Landing) -> Logs:
    """These rows, of each history by its own rules."""
    rules = {each.name: profile(each).with_changes(has_untold_isr=True) for each in drawn()}
    return Logs(landing, rules, MOST_REPLICAS)


@asked
def with_metadata() -> Logs:
    """The metadata log has the ISRs."""
    return logs_of(begun_before(combined(drawn())))


@asked
def without_metadata() -> Logs:
    """Nothing tells the ISR, but for the lines of its changes."""
    return logs_of(begun_before(combined(drawn()), "metadata_changes"))


def compared(rebuilt: Answers, logs: Any) -> list[Pair]:
    """Of epochs that requests alone show: the twin's row of each request, and the one that is rebuilt."""
    leaders = {name: told.leader for name, told in rebuilt[logs].items()}
    shown = {
        (name, row["leader_epoch"])
        for name, rows in leaders.items()
        for row in rows
        if row["event_type"] == "BECOME_LEADER" and row["is_isr_inferred"]
    }
    return [pair for pair in paired(drawn(), leaders) if (pair[0], pair[1]["leader_epoch"]) in shown]


def requests(rows: Iterable[Row]) -> set[tuple[Any, ...]]:
    """Fetches of leader epochs that only requests show."""
    return {(row["leader_epoch"], row["replica_id"]) for row in rows if row["event_type"] == "FETCH"}


@pytest.mark.parametrize("logs", [with_metadata, without_metadata])
def test_what_requests_show_is_there_and_bounded_truly(rebuilt: Answers, logs: Any) -> None:
    """Each epoch with accepted fetches has its rows; the true HW is within the bounds of each."""
    told = rebuilt[logs]
    for each in drawn():
        fetched = [row for row in each.expected_leader if row["is_logged"]]
        assert requests(fetched) <= requests(told[each.name].leader), each.name
    pairs = compared(rebuilt, logs)
    wrong = [it for it in outside(pairs) if not it.startswith(FENCED)]

    assert len(pairs) > 500
    assert not wrong, f"{len(wrong)} of {len(pairs)}\n" + "\n".join(wrong[:12])


def test_that_it_is_needed_is_seen_before_the_plan_is_made(spark: SparkSession) -> None:
    """Of an epoch whose ISR a line tells, and not its begin; of whole logs nothing is."""
    whole = combined(drawn())
    early = landed_from(spark, begun_before(whole, "metadata_changes"))
    changes, epoch = early["leader_changes"], ["cluster_id", "leader_epoch"]
    begun = changes.where("change_kind = 'become_leader'").select(*epoch)
    told = changes.where("isr IS NOT NULL").join(begun, epoch, "left_anti")
    found = untold_isrs(early).join(told.select(*epoch), epoch, "left_semi")

    assert found.count() > 0
    assert untold_isrs(landed_from(spark, whole)).isEmpty()
