"""Mutants of what bounds a HW or a LEO: each must be told from the right one by the small histories about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from replay.order import next_fetches, witnesses
from replay.states import doubts, replica_rows, unheard
from tests import test_untold_settings, test_witnesses
from tests.mutants import Mutant

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.long]
SEEN = (
    "event_type", "replica_id", "event_seq", "exactness", "log_end_offset", "log_end_offset_high",
    "high_watermark_low", "high_watermark_high",
)  # fmt: skip

OF_WITNESSES = (
    Mutant(witnesses._is_unexplained, "(never | too_late)", "never", "whatever rises later explains a success"),
    Mutant(witnesses._is_unexplained, "(never | too_late)", "too_late", "what nothing raises later is explained"),
    Mutant(witnesses._is_unexplained, "(F.col(C.ACKS) == ALL_ACKS) & ", "", "every success is of all"),
    Mutant(
        unheard.with_possible_rise,
        "F.when(in_mask(raised, i), F.col(N.WITNESSED_LEO))",
        "remote",
        "a witness proves all that was asked for",
    ),
    Mutant(unheard.with_possible_rise, " | (raised > 0)", "", "after a witness nothing is missing"),
    Mutant(replica_rows._state, "open_hw | unsure | is_raised", "open_hw | unsure", "what a witness proves is all"),
    Mutant(replica_rows._state, "F.when(is_raised, proven[C.LOG_END_OFFSET])", "leo", "it has no more than is proven"),
    Mutant(
        next_fetches.with_next_fetches,
        "F.when(F.col(N.UNHEARD_OFFSET) < 0, next_leo)",
        "next_leo",
        "the next tells all",
    ),
)
OF_UNTOLD = (
    Mutant(doubts._may_be_under_min_isr, "F.lit(profile.min_isr_gate) & untold", "F.lit(False)", "1 is in force"),
    Mutant(doubts._may_be_under_min_isr, " | (size >= F.col(N.ISR_ENOUGH_FOR_ALL))", "", "acks=all tells nothing"),
    Mutant(
        doubts._may_be_under_min_isr,
        "(size >= F.bit_count(F.col(N.ASSIGNED_MASK))) | ",
        "",
        "an ISR of all replicas may be too small",
    ),
    Mutant(doubts.isr_enough_for_all, "(F.col(C.ACKS) == ALL_ACKS)", "F.lit(True)", "every append is refused"),
    Mutant(doubts._smallest_surely_held, "is_untold & F.lit(profile.eligibility)", "F.lit(False)", "nobody is fenced"),
)


def seen(rebuilt: Any) -> list[tuple[Any, ...]]:
    """What is told of bounds, of all rows."""
    timelines = rebuilt if isinstance(rebuilt, tuple) else (rebuilt,)
    return [
        (topic, *(row.get(name) for name in SEEN))
        for timeline in timelines
        for topic, rows in sorted(timeline.items())
        for row in rows
    ]


def survivors(
    mutants: tuple[Mutant, ...], spark: SparkSession, patch: pytest.MonkeyPatch, rebuilt_of: Callable[..., Any]
) -> list[str]:
    """The mutants that nothing tells from the right one."""
    right, same = seen(rebuilt_of(spark)), []
    for mutant in mutants:
        with patch.context() as changed:
            mutant.live(changed)
            same += [str(mutant)] if seen(rebuilt_of(spark)) == right else []
    return same


def test_the_mutants_of_witnesses_die(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the histories in which a fetch is missing."""
    assert survivors(OF_WITNESSES, spark, monkeypatch, test_witnesses.rebuilt_of) == []


def test_the_mutants_of_what_is_untold_die(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the stories without settings and registrations."""
    assert survivors(OF_UNTOLD, spark, monkeypatch, test_untold_settings.rebuilt_of) == []
