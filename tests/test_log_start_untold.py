"""The log start moves and no line tells, as in a log that was cut: the next response does."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from replay import rules
from replay.names import RESPONSE
from schemas import columns as C
from schemas.kinds import StatementKind
from tests.rebuilt import Answers, Logs, asked, logs_of
from tests.story import tell
from tests.told import retold
from tests.twin.histories import combined

pytestmark = pytest.mark.spark

STORY = tell(
    "a_response_tells_the_log_start",
    """
    1 leads epoch 0, replicas 1 2, isr 1 2 | log start 0
    append 9                               | 1:9
    2 fetches at 9, at once                | hw 9
    log start 6                            | log start 6
    2 fetches at 9, at once                | log start 6
    append 1                               | log start 6
    """,
)
MOVED = StatementKind.LOG_START_MOVED.value


@asked
def untold() -> Logs:
    """Without the line that tells of it."""
    left = {table: [row for row in rows if row.get(C.KIND) != MOVED] for table, rows in combined([STORY]).items()}
    return logs_of([STORY], 3, left)


def starts(leader: list[dict[str, object]]) -> list[object]:
    """The log start after each of the leader's events."""
    return [row[C.LOG_START_OFFSET] for row in leader]


def test_a_response_tells_that_the_log_start_moved(rebuilt: Answers) -> None:
    """From the first event after it on; until then it is where it was last known to be."""
    assert starts(rebuilt[untold][STORY.name].leader) == [0, 0, 0, 0, 6]


@pytest.mark.long
def test_the_mutant_dies(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without that rule it stays where it was."""
    told = [rule for rule in rules.RULES if (rule.event, rule.variable) == (RESPONSE, C.LOG_START_OFFSET)]
    monkeypatch.setattr(rules, "RULES", tuple(rule for rule in rules.RULES if rule not in told))

    rebuilt = retold(spark, [STORY], untold().landing, of=("leader",))
    assert len(told) == 1
    assert starts(rebuilt[STORY.name].leader)[-1] != 6
