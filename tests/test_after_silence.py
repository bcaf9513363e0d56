"""A request log that goes on after a hole: whom the leader waits for by fetches that are lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from pyspark.sql import functions as F

from replay import names as N
from replay.event_types import event
from replay.states.after_silence import with_heard_again
from schemas.kinds import EventType
from tests.engine import profile
from tests.pairs import outside, paired
from tests.rebuilt import Answers, Logs, asked
from tests.test_replay_histories import MOST_REPLICAS
from tests.test_silent_in_pieces import without_requests
from tests.told import Told
from tests.twin.histories import combined, history

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

BEGUN, TORN = [history(701)], [history(724), history(751)]
"""Histories whose log begins late, and whose log has a hole."""


def test_a_leader_is_heard_again_with_the_first_answer_after_the_last_silence(spark: SparkSession) -> None:
    """Not when the request came: one that waited was not the first to be answered. What is no request tells nothing."""
    kinds = {"asked": event(EventType.FETCH), "changed": event(EventType.ISR_CHANGE), "silent": event(N.SILENCE)}
    told = [
        ("asked", 1, 2, None), ("silent", 3, 3, None), ("changed", 4, 4, None), ("asked", 5, 9, 9), ("asked", 6, 7, 7),
        ("asked", 10, 11, 7), ("silent", 12, 12, 7), ("asked", 20, 21, 21),
    ]  # fmt: skip
    made = spark.createDataFrame(told, "kind string, at bigint, answered bigint, expected bigint")
    kind = F.lit(None)
    for name, number in kinds.items():
        kind = F.when(F.col("kind") == name, number).otherwise(kind)
    events = made.withColumns(
        {
            **dict.fromkeys(N.LEADERSHIP, F.lit(0)), N.ORDER_NS: F.col("at"), N.STREAM_RANK: F.lit(0),
            N.STREAM_POS: F.lit(0), N.EVENT: kind, N.EVENT_US: F.col("at") * 1000,
            N.RESPONSE_US: F.col("answered") * 1000,
        }
    )  # fmt: skip

    heard = with_heard_again(events).select("expected", N.HEARD_AGAIN_MS)
    assert [tuple(row) for row in heard.where(f"not expected <=> {N.HEARD_AGAIN_MS}").collect()] == []
    assert heard.where(f"{N.HEARD_AGAIN_MS} is not null").count() == 5


@asked
def lost() -> Logs:
    """The logs of histories, a cluster each, of which requests are lost: of one the first, of others a hole."""
    late, torn = without_requests(combined(BEGUN), 0.4), without_requests(combined(TORN), 0.65, since=0.35)
    both = {table: [*late.get(table, ()), *torn.get(table, ())] for table in late | torn}
    spoken = {each.name: profile(each).with_changes(has_silence=True) for each in (*BEGUN, *TORN)}
    return Logs(both, spoken, MOST_REPLICAS)


@pytest.fixture(scope="module")
def after(rebuilt: Answers) -> Mapping[str, Told]:
    """What is rebuilt of them."""
    return rebuilt[lost]


def test_a_replica_outside_the_isr_may_hold_the_hw_by_a_fetch_that_is_lost(after: Mapping[str, Told]) -> None:
    """A history whose replica 4 was caught up before its log goes on: 19 is the HW, and 25 without it."""
    pairs = paired(BEGUN, {name: told.leader for name, told in after.items()})

    held = [made for _, told, made in pairs if told["high_watermark"] == 19 and made["leader_epoch"] == 0]
    assert {(row["high_watermark_high"], row["exactness"]) for row in held} >= {(25, "bounded")}
    assert outside(pairs) == []


def test_a_log_that_was_shorter_before_an_epoch_in_silence_was_not_cut(after: Mapping[str, Told]) -> None:
    """What a follower had before it is not what it has when the next leader begins."""
    cuts = [row for told in after.values() for row in told.truncations]
    made = {(r["topic"], r["leader_epoch"], r["replica_id"], r["to_offset"]) for r in cuts}

    assert not made & {("history-724", 6, 3, 25), ("history-751", 7, 3, 30)}
    true = {(h.name, r["leader_epoch"], r["replica_id"], r["to_offset"]) for h in TORN for r in h.expected_truncations}
    assert {("history-724", 6, 3, 0), ("history-751", 5, 2, 13), ("history-751", 9, 5, 52)} <= made & true
