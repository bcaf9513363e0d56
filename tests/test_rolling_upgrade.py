"""While a cluster is upgraded, or set anew, broker by broker, each leadership plays by its own process's rules."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from jobs.keeping import keeping
from jobs.protocol import LAG_TIME, Told, by_broker, protocol_of
from replay.assignment import assignments
from replay.releases import profile_for
from replay.what_if.high_watermark import would_be
from schemas.columns import NO_REPLICA
from schemas.kinds import KAFKA_VERSION
from tests.engine import landed_from, replayed
from tests.story import tell

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

UPGRADE = """# 1 is of 3.6 throughout, whose HW goes on under min ISR; 2 comes back as 3.9, whose HW stands.
kafka 3.6.1, protocol 3.6
min isr 2
1 leads epoch 0, replicas 1 2, isr 1 2 | 1:0  2:?  hw 0
append 4                               | 1:4  2:?  hw 0
2 fetches at 4, at once                | 1:4  2:4  hw 4
kill 2                                 | 1:4  2:4  hw 4
fence 2                                | 1:4  2:4  hw 4  isr 1  under min isr
append 3                               | 1:7  2:4  hw 7
restart 2, kafka 3.9.1                 | 1:7  2:4  hw 7
2 fetches at 4                         | 1:7  2:4  hw 7
2 fetches at 7, at once                | 1:7  2:7  hw 7
isr 1 2                                | 1:7  2:7  hw 7  isr 1 2
kill 1                                 | no leader
2 is elected epoch 1                   | 2:7  1:?  hw 7  isr 2  under min isr
append 2                               | 2:9  1:?  hw 7
restart 1, kafka 3.9.1                 | 2:9  1:?  hw 7
1 fetches at 7                         | 2:9  1:7  hw 7
1 fetches at 9, at once                | 2:9  1:9  hw 7
isr 1 2                                | 2:9  1:9  hw 9  isr 1 2
"""
LAG_TIMES = """# 1 does not wait for 3, of which it has not heard for two seconds; 2 comes back with ten.
lag 2 s
1 leads epoch 0, replicas 1 2 3, isr 1 2 3 | 1:0  2:?  3:?  hw 0
append 4                                   | 1:4  2:?  3:?  hw 0
2 fetches at 4, at once                    | 1:4  2:4  3:?  hw 0
3 fetches at 4, at once                    | 1:4  2:4  3:4  hw 4
append 1                                   | 1:5  2:4  3:4  hw 4
2 fetches at 4                             | 1:5  2:4  3:4  hw 4
2 fetches at 5, at once                    | 1:5  2:5  3:4  hw 4
time +3 s                                  | 1:5  2:5  3:4  hw 4
2 fetches at 5, at once                    | 1:5  2:5  3:4  hw 4
isr 1 2                                    | 1:5  2:5  3:4  hw 5  isr 1 2
append 1                                   | 1:6  2:5  3:4  hw 5
2 fetches at 5                             | 1:6  2:5  3:4  hw 5
2 fetches at 6, at once                    | 1:6  2:6  3:4  hw 6
kill 2                                     | 1:6  2:6  3:4  hw 6
restart 2, lag 10 s                        | 1:6  2:6  3:4  hw 6
"""
HEEDED = """# 3 is of 3.3 still: it takes the lower HW of the answer that tells it to cut its log.
kafka 3.3.2, protocol 3.3
1 leads epoch 0, replicas 1 2 3, isr 1 2 3 | 1:0  2:?  3:?  hw 0
kill 1                                     | no leader
3 is elected epoch 1                       | 3:0  2:?  hw 0
append 4                                   | 3:4  2:?  hw 0
2 fetches at 0                             | 3:4  2:0  hw 0
time +1 s                                  | 3:4  2:0  hw 0
2 fetches at 4, dropped                    | 3:4  2:4  hw 4  isr 2 3
append 3                                   | 3:7  2:4  hw 4
2 is elected epoch 2                       | 2:4  3:?  hw 0
restart 1, kafka 4.1.0                     | 2:4  3:?  hw 0
3 fetches at 7                             | 2:4  3:?  hw 0  diverges 1 at 4  replica 3: leo 4 hw 0  lost 3: 4 to 7
3 fetches at 4, dropped                    | 2:4  3:4  hw 4  replica 3: leo 4 hw 0
"""


def at(second: int) -> datetime:
    """A moment of a day."""
    return datetime(2026, 3, 1, tzinfo=UTC) + timedelta(seconds=second)


@pytest.mark.spark
@pytest.mark.parametrize(
    "text", [UPGRADE, pytest.param(LAG_TIMES, marks=pytest.mark.long)], ids=["upgrade", "lag_times"]
)
def test_each_leader_plays_by_its_own_rules(spark: SparkSession, text: str) -> None:
    """By what brokers tell of themselves the rebuilt rows are those of the twin, in which each has its own."""
    story = tell("each", text)
    assert story.disputes == []
    spoken = protocol_of(landed_from(spark, story.landing))
    assert spoken.by_broker
    with replayed(spark, story.landing, 3, spoken) as timelines:
        rows = timelines.leader_timeline.where("event_type <> 'RESTART'").orderBy("leader_epoch", "event_seq").collect()

    expected = [row for each in story.clusters.values() for row in each.rows.leader]
    told = [row for row in expected if row.get("change_kind") not in ("isr_shrink_proposed", "isr_change_rejected")]
    assert [(row["event_type"], row["log_end_offset"], row["high_watermark"]) for row in rows] == [
        (row["event_type"], row["log_end_offset"], row["high_watermark"]) for row in told
    ]


@pytest.mark.long
@pytest.mark.spark
def test_each_follower_plays_by_its_own_rules(spark: SparkSession) -> None:
    """Since 3.4.1 it cuts its log, and its HW stays as it was: the last that was told would have it at 4."""
    story = tell("heeded", HEEDED)
    assert story.disputes == []
    spoken = protocol_of(landed_from(spark, story.landing))
    with replayed(spark, story.landing, 3, spoken) as timelines:
        states = timelines.replica_timeline.where("replica_id = 3").orderBy("leader_epoch", "event_seq").collect()

    assert not spoken.heeds_divergence
    assert {row["high_watermark"] for row in states if row["leader_epoch"] == 2} == {0, 4}


def test_who_tells_nothing_plays_by_what_was_told_first() -> None:
    """A broker that was never restarted is of the release before the upgrade."""
    spoken = profile_for("3.9.1", "3.6")
    told = [
        Told(10, "3.6.1", KAFKA_VERSION, 2),
        Told(20, "3.9.1", KAFKA_VERSION, 2),
        Told(30, "3.9.1", KAFKA_VERSION, 1),
    ]
    found = by_broker(told, spoken, "3.6")

    assert [(one.broker_id, one.since_us, one.rules.min_isr_gate) for one in found] == [
        (NO_REPLICA, 0, False), (2, 10, False), (1, 30, True), (2, 20, True),
    ]  # fmt: skip


def test_what_no_leader_decides_is_the_clusters() -> None:
    """By which rule logs are cut follows from the protocol, which changes when all have been upgraded."""
    spoken = profile_for("4.0.0", "4.0").with_changes(has_silence=True)
    (_, found) = by_broker([Told(1, "3.6.1", KAFKA_VERSION, 1), Told(2, "4.0.0", KAFKA_VERSION, 1)], spoken, "4.0")[-2:]

    assert found.rules == spoken


@pytest.mark.parametrize(
    "told",
    [
        [Told(0, "3.9.1", KAFKA_VERSION, NO_REPLICA), Told(5, "3.9.2", KAFKA_VERSION, 1)],
        [Told(0, "3.9.1", KAFKA_VERSION, NO_REPLICA), Told(5, "30000", LAG_TIME, 1), Told(9, "30000", LAG_TIME, 2)],
    ],
)
def test_releases_of_the_same_rules_are_one(told: list[Told]) -> None:
    """Nothing more is planned for them."""
    assert by_broker(told, profile_for("3.9.1", "3.9"), "3.9") == ()


@pytest.mark.spark
def test_a_release_holds_from_when_its_process_started(spark: SparkSession) -> None:
    """It is told when the broker is up, and may lead."""
    own = {"cluster_id": "c", "broker_id": 1, "topic": "", "name": KAFKA_VERSION}
    told = [{**own, "value": "3.6.1", "event_time": at(1)}, {**own, "value": "3.9.1", "event_time": at(60)}]
    start = {"cluster_id": "c", "broker_id": 1, "kind": "process_starting", "event_time": at(50)}
    spoken = protocol_of(landed_from(spark, {"settings": told, "broker_statements": [start]}))

    since = {one.rules.min_isr_gate: one.since_us for one in spoken.by_broker}
    assert since[True] == int(at(50).timestamp()) * 1_000_000


@pytest.mark.long
@pytest.mark.spark
def test_under_other_rules_all_leaders_play_by_these(spark: SparkSession) -> None:
    """With the gate of 3.7 from the beginning on the HW would have stood under 1 too, and 2 would know of no more."""
    story = tell("each", UPGRADE)
    landed = landed_from(spark, story.landing)
    spoken = protocol_of(landed)
    with keeping() as keep:
        assigned = keep(assignments(landed))
        found = would_be(landed, assigned, 3, spoken, spoken.with_changes(min_isr_gate=True), keep=keep)
        appended = found.where("event_type = 'APPEND'").orderBy("leader_epoch", "event_seq").collect()

    assert [row["high_watermark"] for row in appended] == [0, 4, 4]
