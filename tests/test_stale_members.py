"""Members of the ISR that ought to have left: one stretch goes on for as long as nothing takes its member out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from jobs.keeping import keeping
from replay.findings.stale_members import stale_isr_members
from replay.profile import Profile
from schemas import tables as T
from tests.checked_rows import Given, event
from tests.frames import rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession

LAG = Profile(lag_time_ms=10_000)


def history(topic: str, seconds: int, isr: Callable[[int], list[int]], maximal: Callable[[int], Any]) -> list[Given]:
    """A leader that appends each second; member 2 was at its LEO in the first second, and fetched nothing since."""
    return [
        event(
            0, n, 4 + n, 5, topic=topic, event_type="BECOME_LEADER" if n == 1 else "APPEND", isr=isr(n),
            maximal_isr=maximal(n), remote_log_end_offset={2: 5, 3: 4 + n},
        )
        for n in range(1, seconds + 1)
    ]  # fmt: skip


@pytest.mark.spark
def test_a_time_out_of_the_isr_is_none_in_it(spark: SparkSession) -> None:
    """It leaves in time, again and again (KAFKA-19996), or cannot while a change is in flight; a real one is found."""

    def in_turns(n: int) -> list[int]:
        return [1, 2] if n <= 13 or 18 <= n <= 20 or 25 <= n <= 27 else [1]

    told = [
        *history("rejoins", 34, in_turns, in_turns),
        *history("in_flight", 33, lambda _: [1, 2], lambda n: [1, 2, 3] if 4 <= n <= 30 else [1, 2]),
        *history("stale", 33, lambda _: [1, 2], lambda _: [1, 2]),
    ]
    with keeping() as keep:
        found = stale_isr_members(rows(spark, T.LEADER_TIMELINE, *told), LAG, keep).collect()

    assert [(row["topic"], row["replica_id"]) for row in found] == [("stale", 2)]
