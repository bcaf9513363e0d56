"""What a stretch of a hot partition is told of transactions says the same of its LSO as all of them do."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

import pytest

from replay.states.lineage import BEYOND
from replay.stretches.handed_out import handed_out

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

LED = "tenure int, leader_epoch int, incarnation int"
IN_LOGS = f"whole_number int, {LED}, first_offset bigint, reach bigint, is_untold boolean"
SEEN = f"partition_number int, {LED}, low bigint, high bigint, whole_number int"


class Transaction(NamedTuple):
    """What of a transaction the LSO depends on."""

    first: int
    reach: int
    is_untold: bool = False


Stretch = tuple[int, int]
"""The least and the greatest HW that it sees."""


def told(
    spark: SparkSession, logs: list[tuple[list[Stretch], list[Transaction]]]
) -> dict[tuple[int, int], set[Transaction]]:
    """By log and stretch, what it is told; every log is a partition, its stretches are numbered from a hundredth on."""
    seen = [
        (100 * log + k, 1, 0, 0, low, high, 100 * log)
        for log, (stretches, _) in enumerate(logs)
        for k, (low, high) in enumerate(stretches)
    ]
    in_logs = [(100 * log, 1, 0, 0, *one) for log, (_, transactions) in enumerate(logs) for one in transactions]
    found = handed_out(spark.createDataFrame(in_logs, IN_LOGS), spark.createDataFrame(seen, SEEN))
    given: dict[tuple[int, int], set[Transaction]] = defaultdict(set)
    for row in found.collect():
        one = Transaction(row["first_offset"], row["reach"], row["is_untold"])
        given[divmod(row["partition_number"], 100)].add(one)
    return given


def firsts(transactions: Iterable[Transaction], hw: int) -> tuple[int, int]:
    """The first offset of the earliest transaction that is open at a HW: of those that are told, and of others."""
    is_open = [one for one in transactions if one.reach >= hw]
    told, untold = (
        min((one.first for one in is_open if one.is_untold == is_so), default=BEYOND) for is_so in (False, True)
    )
    return told, untold


def test_what_ends_later_is_told_as_one(spark: SparkSession) -> None:
    """A stretch that sees the HW rise to 99 hears of whatever ends by then, and of what does not where it begins."""
    stretches = [(0, 99), (100, 199)]
    early, across, late, never = (
        Transaction(10, 40), Transaction(80, 150), Transaction(120, 160), Transaction(130, BEYOND),
    )  # fmt: skip
    given = told(spark, [(stretches, [early, across, late, never])])

    assert given[0, 0] == {early, Transaction(80, BEYOND)}
    assert given[0, 1] == {across, late, never}


def test_every_high_watermark_has_the_same_earliest_transaction(spark: SparkSession) -> None:
    """Drawn logs: of whatever length, of one stretch or many, that overlap or see one HW alone, with open ends."""
    draw = random.Random(7)
    logs = [_drawn(draw) for _ in range(150)]
    given = told(spark, logs)

    asked = 0
    for log, (stretches, transactions) in enumerate(logs):
        for k, (low, high) in enumerate(stretches):
            for hw in {low, high, (low + high) // 2, *(one.reach for one in transactions if low <= one.reach <= high)}:
                asked += 1
                assert firsts(given[log, k], hw) == firsts(transactions, hw), (log, k, hw)
    assert asked > 1_000


def _drawn(draw: random.Random) -> tuple[list[Stretch], list[Transaction]]:
    """One log: its stretches, each from somewhat before where the one before it ends, and its transactions."""
    end = draw.choice((1, 30, 1_000, 10**9))
    cuts = sorted(draw.randrange(end) for _ in range(draw.randrange(6)))
    stretches = [(max(-1, low - draw.randrange(end)), high) for low, high in zip([0, *cuts], [*cuts, end], strict=True)]
    transactions = []
    for _ in range(draw.randrange(25)):
        first = draw.randrange(2 * end)
        reach = BEYOND if draw.random() < 0.2 else first + 1 + draw.randrange(end)
        transactions.append(Transaction(first, reach, draw.random() < 0.1))
    return stretches, transactions
