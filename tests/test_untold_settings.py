"""What no line of a capture tells of a broker's settings and registrations: the HW is then bounded, and not guessed."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pytest

from schemas.tables import BROKER_REGISTRATIONS, SETTINGS
from tests.engine import by_topic, each_by_its_own, replayed
from tests.pairs import outside, paired
from tests.rebuilt import Answers, Ask, Logs, asked, logs_of
from tests.story import tell
from tests.twin.faults import SetMinIsr
from tests.twin.histories import History, combined, history

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tests.twin.rows import Row

pytestmark = pytest.mark.spark
SEEDS = range(40)
MOST_REPLICAS = 6
UNTOLD = (SETTINGS.name, BROKER_REGISTRATIONS.name)

ALONE = """
lag 10 s
min isr {min_isr}
1 leads epoch 0, replicas 1 2, isr 1 2 | 1:0  2:?  hw 0
append 4                               | 1:4  2:?  hw 0
2 fetches at 4, at once                | 1:4  2:4  hw 4
append 2                               | 1:6  2:4  hw 4
time +11 s                             | 1:6  2:4  hw 4
isr 1, by metadata                     | 1:6  2:4  isr 1
append 1{acks}                         | 1:7  2:4
"""
"""Case 13: the leader is alone in its ISR. Under min.insync.replicas 2 the HW stands at 4, else it is the LEO."""

AWAY = """
1 leads epoch 0, replicas 1 2 3, isr 1 2 3 | 1:0  2:?  3:?  hw 0
append 4                                   | 1:4  2:?  3:?  hw 0
2 fetches at 4                             | 1:4  2:4  3:?  hw 0
3 fetches at 4                             | 1:4  2:4  3:4  hw 4
append 2                                   | 1:6  2:4  3:4  hw 4
2 fetches at 6                             | 1:6  2:6  3:4  hw 4
{away:42} | 1:6  2:6  3:4  isr 1 2
append 1                                   | 1:7  2:6  3:4
2 fetches at 7                             | 1:7  2:7  3:4  hw {hw}
append 1                                   | 1:8  2:7  3:4  hw {hw}
2 fetches at 8                             | 1:8  2:8  3:4
"""
"""Case 10: 3 was caught up a moment ago and the controller took it out. The HW waits for it if it may join."""

STORIES = {
    "alone": ALONE.format(min_isr=2, acks=""),
    "alone_and_enough": ALONE.format(min_isr=1, acks=", acks all"),
    "away": AWAY.format(away="isr 1 2, by metadata", hw=4),
    "fenced": AWAY.format(away="fence 3", hw=7),
}


def without(landing: Mapping[str, Sequence[Row]], untold: Collection[str]) -> Mapping[str, Sequence[Row]]:
    """What is left of the landing rows where nothing tells of that."""
    return {name: rows for name, rows in landing.items() if name not in untold}


@asked
def stories() -> Logs:
    """The stories, of which no line tells a setting or a registration."""
    told = [tell(name, text) for name, text in STORIES.items()]
    return logs_of(told, 3, without(combined(told), UNTOLD))


def rebuilt_of(spark: SparkSession) -> Mapping[str, list[Row]]:
    """The leaders' rows of the stories, replayed alone."""
    logs = stories()
    with replayed(spark, logs.landing, logs.slots, each_by_its_own(logs.spoken)) as timelines:
        return by_topic(timelines.leader_timeline)


@pytest.fixture(scope="module")
def leaders(rebuilt: Answers) -> Mapping[str, list[Row]]:
    """The leaders' rows of the stories."""
    return {name: told.leader for name, told in rebuilt[stories].items()}


def last(rows: list[Row], of: str) -> tuple[Any, ...]:
    """Bounds and exactness after the last event of a type."""
    row = [row for row in rows if row["event_type"] == of][-1]
    return row["high_watermark_low"], row["high_watermark_high"], row["exactness"]


def test_an_isr_that_may_be_too_small_bounds_the_high_watermark(leaders: Mapping[str, list[Row]]) -> None:
    """From what it was to the LEO of the leader that is alone."""
    assert last(leaders["alone"], "ISR_CHANGE") == (4, 6, "bounded")
    assert last(leaders["alone"], "APPEND") == (4, 7, "bounded")
    assert {row["is_under_min_isr"] for row in leaders["alone"]} == {None}


def test_an_append_with_acks_all_tells_that_the_isr_is_large_enough(leaders: Mapping[str, list[Row]]) -> None:
    """Its leader refuses such appends under min.insync.replicas."""
    assert last(leaders["alone_and_enough"], "ISR_CHANGE") == (4, 6, "bounded")
    assert last(leaders["alone_and_enough"], "APPEND") == (7, 7, "exact")


def test_who_may_be_fenced_holds_the_high_watermark_or_not(leaders: Mapping[str, list[Row]]) -> None:
    """Between what 3 has and what 2 has; a response tells later that it was not waited for."""
    assert last(leaders["away"], "ISR_CHANGE") == (4, 6, "bounded")
    assert last(leaders["fenced"], "ISR_CHANGE") == (4, 6, "bounded")
    assert last(leaders["away"], "FETCH") == (4, 8, "bounded")
    assert last(leaders["fenced"], "FETCH") == (7, 8, "bounded")


def drawn() -> list[History]:
    """Random histories in which min.insync.replicas stays what it was."""
    return [each for each in map(history, SEEDS) if not any(isinstance(one, SetMinIsr) for one in each.commands)]


@asked
def without_settings() -> Logs:
    """They, without the one."""
    return logs_of(drawn(), MOST_REPLICAS, without(combined(drawn()), [SETTINGS.name]))


@asked
def without_registrations() -> Logs:
    """They, without the other."""
    return logs_of(drawn(), MOST_REPLICAS, without(combined(drawn()), [BROKER_REGISTRATIONS.name]))


@asked
def without_both() -> Logs:
    """They, without either."""
    return logs_of(drawn(), MOST_REPLICAS, without(combined(drawn()), UNTOLD))


@pytest.mark.parametrize(
    "logs", [without_settings, without_registrations, without_both], ids=lambda logs: logs.__name__
)
def test_the_true_high_watermark_is_within_the_bounds(rebuilt: Answers, logs: Ask) -> None:
    """Of random histories of which that is not told."""
    pairs = paired(drawn(), {name: told.leader for name, told in rebuilt[logs].items()})
    wrong = outside(pairs)

    assert not wrong, f"{len(wrong)} of {len(pairs)}\n" + "\n".join(wrong[:12])
    assert sum(made["exactness"] == "bounded" for _, _, made in pairs) < len(pairs) / 3
