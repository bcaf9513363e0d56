"""Limits of some topics, through the real judging: whatever their pattern, and what they tolerate is no news."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import SparkSession

from expectations.earlier import Earlier
from expectations.judging import judge
from expectations.policy import Policy, RulePolicy, TopicLimits
from expectations.results import RULES
from expectations.tally import tally_of
from expectations.verdict import Judgement
from schemas import tables as T
from schemas.kinds import Status
from tests.checked_rows import event, frames, sound

pytestmark = pytest.mark.spark

RULE = RULES["HighWatermarkNeverExceedsLogEndOffset"]


def too_high(topic: str, count: int) -> list[Any]:
    """So many violations in a topic."""
    return [event(0, seq, 5, 6, topic=topic) for seq in range(1, count + 1)]


def judged(
    spark: SparkSession, rows: list[Any], limits: dict[str, int], earlier: dict[str, Earlier] | None = None
) -> Judgement:
    """The judgement of the rule alone."""
    topics = tuple(TopicLimits(topic=topic, max_violations=most) for topic, most in limits.items())
    policy = Policy(rules={RULE.name: RulePolicy(topics=topics)})
    return judge(frames(spark, sound() | {T.LEADER_TIMELINE: rows}), [RULE], policy, earlier)


def test_a_pattern_is_any_text(spark: SparkSession) -> None:
    """Dots, backticks, capitals: Spark and Great Expectations would take each for something else in a column's name."""
    limits = {"led.ger": 1, "Led.ger": 2, "led`ger": 1, "led ger": 1, "led_*": 1}
    rows = [row for topic in ("led.ger", "Led.ger", "led`ger") for row in too_high(topic, 2)]
    found = judged(spark, rows, limits)
    (verdict,) = found.verdicts

    assert (verdict.status, verdict.violations, verdict.suppressed) == (Status.INVALID, 6, 2)
    assert {one.partition.topic: one.status.value for one in found.partitions} == {
        "led.ger": "invalid", "Led.ger": "valid", "led`ger": "invalid",
    }  # fmt: skip
    assert {example.keys["topic"] for example in verdict.examples} == {"led.ger", "led`ger"}
    assert {tally.topics for tally in found.tallies} == {"", "led.ger", "Led.ger", "led`ger"}


def test_names_of_tallies_are_columns_of_their_own() -> None:
    """What is no plain word is replaced, and told from others by a digest; plain patterns stay as they are."""
    patterns = ("clicks-*", "a.b", "A.b", "a`b", "a_b", "[ab]?", "é")
    names = [tally_of(RULE, TopicLimits(topic=pattern)) for pattern in patterns]

    assert names[0] == f"{RULE.name} [clicks-*]"
    assert names[1].startswith(f"{RULE.name} [a_b ")
    assert len({name.lower() for name in names}) == len(patterns)
    assert [name for name in names if set(name) & set(".`")] == []


def test_what_is_tolerated_is_no_news(spark: SparkSession) -> None:
    """More of it pages nobody, and does not hide what is new elsewhere."""
    limits = {"clicks*": 9}
    before = judged(spark, too_high("orders", 3), limits).verdicts[0]
    kept = frozenset(example.violation_id for example in before.examples)
    known, news = (
        judged(
            spark, [*too_high("clicks", 5), *too_high("orders", count)], limits,
            {RULE.name: Earlier(RULE.fingerprint, 3, kept)},
        ).verdicts[0]
        for count in (3, 4)
    )  # fmt: skip

    assert (known.violations, known.suppressed, known.new_violations) == (8, 5, 0)
    assert (news.violations, news.suppressed, news.new_violations) == (9, 5, 1)
    assert [one.is_new for one in news.examples] == [False, False, False, True]


def test_what_a_row_of_no_topic_tolerates_sets_nothing_else_aside(spark: SparkSession) -> None:
    """Its violation counts towards the rule's own limit, those of topics towards theirs."""
    topics = (TopicLimits(topic="orders", max_violations=1),)
    policy = Policy(rules={RULE.name: RulePolicy(max_violations=1, topics=topics)})
    rows = [event(0, 1, 5, 6, topic=""), *too_high("orders", 2)]
    (verdict,) = judge(frames(spark, sound() | {T.LEADER_TIMELINE: rows}), [RULE], policy).verdicts

    assert (verdict.status, verdict.suppressed) == (Status.INVALID, 1)
    assert [example.keys["topic"] for example in verdict.examples] == ["orders", "orders"]
