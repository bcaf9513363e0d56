"""Requests alone: no line tells of a leadership or its ISR. What the timelines then say must still be true."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from replay.profile import Profile
from tests.engine import profile
from tests.literal_lines import append, fetch, line, told_of_brokers
from tests.pairs import outside, paired
from tests.rebuilt import Answers, Logs, asked
from tests.twin.histories import combined, history

if TYPE_CHECKING:
    from tests.pairs import Pair
    from tests.twin.histories import History

SEEDS = range(40)
MOST_REPLICAS = 6
LAGGARD = "laggard"
FENCED = "history-10 epoch 0"
"""Its replica 2 is fenced, and so out of the ISR, while it fetches on: of that the metadata log alone tells."""
Row = dict[str, Any]


def of_laggard(topic: str) -> list[Row]:
    """3 was caught up once, and asks every second, far behind; 2 has everything. At 16 s a line tells that 3 is out."""
    asked = [
        row
        for s in range(1, 16)
        for row in (fetch(topic, s * 1_000, 2, 100, 9 + s), fetch(topic, s * 1_000 + 10, 3, 10 + s, 9 + s))
    ]
    return [
        append(topic, 10, 0, 10), fetch(topic, 20, 2, 10, 0), fetch(topic, 30, 3, 10, 0), append(topic, 100, 10, 100),
        *asked, line(topic, 16_000, change_kind="isr_updated", leader_id=1, isr=[1, 2], partition_epoch=1),
        append(topic, 16_500, 100, 110), fetch(topic, 17_000, 2, 110, 100),
    ]  # fmt: skip


@pytest.fixture(scope="module")
def drawn() -> list[History]:
    """Random histories."""
    return [history(seed) for seed in SEEDS]


@asked
def requests_alone() -> Logs:
    """Of the histories and of a story requests alone."""
    drawn = [history(seed) for seed in SEEDS]
    rules = {each.name: profile(each) for each in drawn} | {LAGGARD: Profile(lag_time_ms=10_000)}
    told = combined(drawn)
    rows = of_laggard(LAGGARD)
    landing = {
        "produce_events": [*told["produce_events"], *[row for row in rows if "base_offset" in row]],
        "fetch_events": [*told["fetch_events"], *[row for row in rows if "fetch_offset" in row]],
        "leader_changes": [row for row in rows if "change_kind" in row],
    } | told_of_brokers([LAGGARD])
    return Logs(landing, {name: it.with_changes(has_untold_isr=True) for name, it in rules.items()}, MOST_REPLICAS)


@pytest.fixture(scope="module")
def leaders(rebuilt: Answers) -> dict[str, list[Row]]:
    """What is rebuilt of them."""
    return {name: told.leader for name, told in rebuilt[requests_alone].items()}


@pytest.fixture(scope="module")
def compared(drawn: list[History], leaders: dict[str, list[Row]]) -> list[Pair]:
    """Of random histories: the twin's row of a request, and the one rebuilt from requests alone."""
    return paired(drawn, leaders)


@pytest.mark.spark
def test_the_true_high_watermark_is_within_the_bounds(compared: list[Pair]) -> None:
    """Whatever the controller did meanwhile; where the bounds meet, it is the number."""
    wrong = [it for it in outside(compared) if not it.startswith(FENCED)]

    assert not wrong, f"{len(wrong)} of {len(compared)}\n" + "\n".join(wrong[:12])


@pytest.mark.spark
def test_the_inferred_isr_says_so_and_is_useful(compared: list[Pair]) -> None:
    """No ISR was told, so each is marked; a quarter of the rows have an exact HW, a quarter the true ISR."""
    exact = sum(made["high_watermark_low"] == made["high_watermark_high"] for _, _, made in compared)
    same = sum(set(made["isr"]) == set(told["isr"]) for _, told, made in compared)

    assert len(compared) > 500
    assert all(made["is_isr_inferred"] for _, _, made in compared)
    assert exact > len(compared) / 4
    assert same > len(compared) / 4


@pytest.mark.spark
def test_a_laggard_may_be_out_once_the_lag_time_has_passed(leaders: dict[str, list[Row]]) -> None:
    """The HW is then up to what the others have; when a line tells the ISR it is exact again."""
    told = {row["event_time"].second: row for row in leaders[LAGGARD]}

    bounds = {second: (row["high_watermark_low"], row["high_watermark_high"]) for second, row in told.items()}
    assert (bounds[10], bounds[11], bounds[16]) == ((19, 20), (20, 100), (100, 100))
    assert [row["exactness"] for row in leaders[LAGGARD] if not row["is_isr_inferred"]] == ["exact"] * 3
