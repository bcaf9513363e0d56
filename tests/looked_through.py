"""What is found in stories: all of them are looked through at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from pyspark.sql import Row, SparkSession

from jobs.keeping import keeping
from replay.findings.incidents import incidents
from tests.engine import each_by_its_own, landed_from
from tests.rebuilt import Answers, Ask
from tests.story import Story, tell


def stories_of(texts: Mapping[str, str]) -> list[Story]:
    """As they are told; the twin disputes none of them."""
    stories = [tell(name, text) for name, text in texts.items()]
    assert [dispute for story in stories for dispute in story.disputes] == []
    return stories


def findings_of(spark: SparkSession, rebuilt: Answers, told: Ask) -> Mapping[str, Sequence[Row]]:
    """Every finding by story, in no order."""
    logs, timelines = told(), rebuilt.frames(told)
    by_story: dict[str, list[Row]] = defaultdict(list)
    with keeping() as keep:
        kept = [keep(rows) for rows in vars(timelines).values()]
        landed = landed_from(spark, logs.landing)
        for row in incidents(landed, *kept, each_by_its_own(logs.spoken), keep).collect():
            by_story[row["topic"]].append(row)
    return by_story
