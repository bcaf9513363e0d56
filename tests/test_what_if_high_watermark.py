"""The HW of the same events under other rules: what the twin makes of a story that is told under those rules."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from jobs.keeping import keeping
from replay.assignment import assignments
from replay.profile import Profile
from replay.what_if.high_watermark import differences, would_be
from schemas import columns as C
from tests.engine import disagreement, each_by_its_own, landed_from, profile
from tests.rebuilt import Answers, Logs, asked, logs_of
from tests.story import SCENARIOS, Story, load, tell
from tests.twin.histories import combined

pytestmark = [pytest.mark.spark, pytest.mark.long]

SLOTS = 5
CARRIED = """
1 leads epoch 0, replicas 1 2 3, isr 1 2 3
append 4
2 fetches at 4, at once
3 fetches at 4, at once
kill 3
fence 3
append 4
2 fetches at 4, at once
2 fetches at 8, at once
append 2
2 fetches at 8, parked
2 fetches at 10, at once
kill 1
2 is elected epoch 1
append 1
restart 3 hw 4 leo 4
3 fetches at 4
3 fetches at 11
isr 2 3
append 1
3 fetches at 12, at once
restart 1 hw 8
1 fetches at 10
1 fetches at 12
isr 1 2 3
append 1
"""
"""Twice a follower brings the HW it knows: 2 is told less than its leader has come to, and begins with that."""
LET_GO = """
1 leads epoch 0, replicas 1 2 3, isr 1 2 3
append 4
2 fetches at 4, at once
3 fetches at 4, at once
append 2
2 fetches at 4, at once
2 fetches at 6, at once
isr 1 2, by metadata
time +9988 ms
append 1
append 1
"""
GATED = """
1 leads epoch 0, replicas 1 2 3, isr 1 2
append 4
2 fetches at 4, at once
kill 2
fence 2
append 3
3 fetches at 7
isr 1 3
"""
OMITTED = """
1 leads epoch 0, replicas 1 2 3, isr 1 2
append 4
2 fetches at 0, at once
2 fetches at 4, {how}
2 fetches at 4, {how}
2 is elected epoch 1, isr 1 2
append 1
"""
"""The last answer says nothing new, and leaves the partition out: it would have told 2 of what had been committed."""
OMITTED_LATE = """
1 leads epoch 0, replicas 1 2 3, isr 1
append 4
2 fetches at 0, at once
2 fetches at 4, at once
2 fetches at 4, at once
isr 1 2
2 fetches at 4, at once
2 fetches at 4, at once
2 is elected epoch 1, isr 2
append 1
"""
OMITTED_LET_GO = """
1 leads epoch 0, replicas 1 2 3, isr 1 2 3
append 4
2 fetches at 0, at once
3 fetches at 4, at once
2 fetches at 4, at once
2 fetches at 4, at once
append 2
2 fetches at 4, at once
isr 1 2, by metadata
time +3 s
2 fetches at 6, at once
2 fetches at 6, at once
2 is elected epoch 1, isr 1 2
append 1
"""
ALONE = """
1 leads epoch 0, replicas 1 2 3, isr 1 2
append 1, acks all
2 fetches at 0
2 fetches at 1, parked
kill 1
2 is elected epoch 1
"""
"""No line tells of the fetch of 1: that acks=all was answered does."""


@dataclass(frozen=True)
class Rules:
    """What a story is told under: lines that set its stage."""

    stage: str
    min_isr: int = 1

    def tell(self, name: str, text: str) -> Story:
        """The story under these rules."""
        return tell(name, f"{self.stage}\nmin isr {self.min_isr}\n{text}")


NEW, OLD = "kafka 4.1.0, protocol 4.1", "kafka 3.6.1, protocol 3.6"
OTHERWISE = {
    "a follower carries a lower HW": (CARRIED, Rules(NEW, 1), Rules(NEW, 3)),
    "a follower carries a higher HW": (CARRIED, Rules(NEW, 3), Rules(NEW, 1)),
    "one is waited for longer": (LET_GO, Rules("lag 10 s"), Rules("lag 20 s")),
    "one is let go sooner": (LET_GO, Rules("lag 20 s"), Rules("lag 10 s")),
    "an answer would have told": (OMITTED.format(how="at once"), Rules(NEW, 3), Rules(NEW, 2)),
    "one from purgatory would have": (OMITTED.format(how="parked"), Rules(NEW, 3), Rules(NEW, 2)),
    "it would have told of a rise": (OMITTED_LATE, Rules(NEW, 1), Rules(NEW, 2)),
    "one let go sooner, and an answer": (OMITTED_LET_GO, Rules(f"{NEW}\nlag 30 s"), Rules(f"{NEW}\nlag 2 s")),
    "the gate is shut": (GATED, Rules(OLD, 2), Rules("kafka 3.7.0, protocol 3.6", 2)),
    "the gate is open": (GATED, Rules("kafka 3.7.0, protocol 3.6", 2), Rules(OLD, 2)),
}
"""Of each what is told, how it is told, and how it is told otherwise: twice the same happens."""
TOLD = {name: rules.tell(name, text) for name, (text, rules, _) in OTHERWISE.items()}
TOLD_OTHERWISE = {name: rules.tell(name, text) for name, (text, _, rules) in OTHERWISE.items()}
WITNESSED = {name: Rules(NEW).tell(name, ALONE) for name in ("min isr 2", "min isr 3")}
DRAWN = [load(path) for path in sorted(SCENARIOS.glob("*.txt"))]
STORIES = [*DRAWN, *TOLD.values(), *WITNESSED.values()]


@asked
def happened() -> Logs:
    """The logs of all: those that are drawn are asked what would be under the rules that were."""
    return logs_of(STORIES, SLOTS)


Row = Mapping[str, Any]


@dataclass
class WhatIf:
    """The leader's rows of a cluster as they would be, and those that differ."""

    rows: list[Row]
    differing: list[Row]


@pytest.fixture(scope="module")
def found(spark: SparkSession, rebuilt: Answers) -> Mapping[str, WhatIf]:
    """All of it in one plan, by cluster."""
    spoken = {story.name: profile(story) for story in STORIES}
    otherwise: dict[str, Profile] = spoken | {name: profile(story) for name, story in TOLD_OTHERWISE.items()}
    least = {"min isr 2": 2, "min isr 3": 3} | {name: rules.min_isr for name, (_, _, rules) in OTHERWISE.items()}
    min_isr = F.col(C.MIN_ISR)
    for name, value in least.items():
        min_isr = F.when(F.col(C.CLUSTER_ID) == name, value).otherwise(min_isr)
    made: dict[str, WhatIf] = defaultdict(lambda: WhatIf([], []))
    landed = landed_from(spark, combined(STORIES))
    rules = (each_by_its_own(spoken), each_by_its_own(otherwise))
    with keeping() as keep:
        other = keep(would_be(landed, keep(assignments(landed)), SLOTS, *rules, min_isr, keep))
        for row in other.collect():
            made[row["cluster_id"]].rows.append(row.asDict())
        for row in differences(rebuilt.frames(happened).leader_timeline, other, "otherwise").collect():
            made[row["cluster_id"]].differing.append(row.asDict())
    return made


def test_the_same_rules_make_no_difference(found: Mapping[str, WhatIf]) -> None:
    """In none of the drawn stories, of which some begin anew, lose requests, or have witnesses."""
    assert {story.name: found[story.name].differing for story in DRAWN if found[story.name].differing} == {}


@pytest.mark.parametrize("name", OTHERWISE)
def test_other_rules_do_what_they_do_to_the_twin(name: str, found: Mapping[str, WhatIf]) -> None:
    """Every row, and that some of them differ: what comes of carrying an older HW too."""
    (cluster,) = TOLD_OTHERWISE[name].clusters.values()
    different = disagreement(name, cluster.rows.leader, found[name].rows, but_for=("last_stable_offset",))

    assert different is None, str(different)
    assert found[name].differing


def test_a_witness_bears_witness_where_the_rules_let_the_hw_rise(found: Mapping[str, WhatIf]) -> None:
    """An acknowledgement is of what was: with a min ISR that the ISR did not have there would have been none.

    The next leader is alone: it has its HW, and with more than 1 it stands.
    """
    witnesses = {name: [row for row in found[name].rows if row["event_type"] == "WITNESS"] for name in WITNESSED}

    assert {name: [row["high_watermark"] for row in rows] for name, rows in witnesses.items()} == {
        "min isr 2": [1], "min isr 3": [0],
    }  # fmt: skip
    assert {row["leader_epoch"] for row in found["min isr 2"].differing} == {1}
