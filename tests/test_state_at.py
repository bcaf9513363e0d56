"""`state_at` on literal states: each replica at a moment, whatever the clocks of its leaders say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pytest

from replay.views.catalog import VIEWS
from replay.views.states import leader_states
from schemas import tables as T
from schemas.functions import STATE_AT
from tests.checked_rows import Given, at, became_leader, event, log_deleted, state
from tests.frames import rows

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession

pytestmark = pytest.mark.spark

STATES = (
    state(2, 0, 1, 4, 4, valid_from=at(1), valid_to=at(3)),
    state(2, 0, 5, 6, 4, valid_from=at(5), valid_to=at(5)),
    state(2, 1, 1, 7, 6, valid_from=at(3)),
    state(3, 0, 1, 5, 4, valid_from=at(1), valid_to=at(3)),
    state(3, 1, 1, 8, 6, valid_from=at(3)),
)
"""The next leader's clock is two seconds behind: what replica 2 fetched last from the first one is after its start."""
LED = (event(0, 1, 4, 4, event_time=at(1)), event(1, 1, 8, 6, event_time=at(3)))


AFTER_ONE_WAS_KILLED = (
    state(1, 0, 1, 6, 4, valid_from=at(1), valid_to=at(11), role="LEADER"),
    state(1, 0, 3, 6, 4, valid_from=at(3600), valid_to=at(3600), role="LEADER"),
    state(1, 1, 1, 6, 4, valid_from=at(11), valid_to=at(3600)), state(1, 1, 9, 5, 5, valid_from=at(3600)),
    state(2, 0, 1, 5, 4, valid_from=at(1), valid_to=at(11)), state(2, 1, 1, 5, 4, valid_from=at(11), role="LEADER"),
)  # fmt: skip
"""Leader 1 of epoch 0 dies, 2 leads, and an hour later 1 is started again."""
LED_BY_TWO = (
    event(0, 1, 6, 4), event(0, 3, 6, 4, event_type="RESTART", high_watermark_high=5, event_time=at(3600)),
    event(1, 1, 5, 4),
)  # fmt: skip


def ask(spark: SparkSession, led: Sequence[Given], states: Sequence[Given], second: float, *lines: Given) -> list[Row]:
    """What `state_at` tells of a moment; `lines` are of leader changes, and statements."""
    said = [line for line in lines if "kind" in line]
    tables = (
        (T.LEADER_TIMELINE, led),
        (T.LEADER_CHANGES, [line for line in lines if line not in said]),
        (T.METADATA_CHANGES, ()),
        (T.BROKER_STATEMENTS, said),
    )
    frames = [rows(spark, table, *given) for table, given in tables]
    leader_states(*frames).createOrReplaceTempView("leader_states")
    frames[-1].createOrReplaceTempView(T.BROKER_STATEMENTS.name)
    rows(spark, T.REPLICA_TIMELINE, *states).createOrReplaceTempView(T.REPLICA_TIMELINE.name)
    spark.sql(STATE_AT.sql)
    return spark.sql(f"SELECT * FROM state_at(TIMESTAMP '{at(second).isoformat()}')").collect()  # noqa: S608 - our own


@pytest.mark.parametrize(
    ("second", "found"),
    [(0.5, {}), (2, {2: 4, 3: 5}), (4, {2: 7, 3: 8}), (6, {2: 7, 3: 8})],
)
def test_each_replica_has_one_state(spark: SparkSession, second: float, found: dict[int, int]) -> None:
    """In the order of events, what is known holds until something later has begun."""
    told = ask(spark, LED, STATES, second)

    assert {row["replica_id"]: row["log_end_offset"] for row in told} == found
    assert len(told) == len(found)


@pytest.mark.parametrize(
    ("second", "roles", "leader"),
    [(5, {1: "LEADER", 2: "FOLLOWER"}, (1, 0)), (20, {1: "FOLLOWER", 2: "LEADER"}, (2, 1)),
     (4000, {1: "FOLLOWER", 2: "LEADER"}, (2, 1))],
)  # fmt: skip
def test_a_killed_leader_leads_no_more(
    spark: SparkSession, second: float, roles: dict[int, str], leader: tuple[int, int]
) -> None:
    """Though that it was killed is known when it is started again, the next one leads meanwhile."""
    told = ask(spark, LED_BY_TWO, AFTER_ONE_WAS_KILLED, second)

    assert {row["replica_id"]: row["role"] for row in told} == roles
    assert {(row["leader_id"], row["leader_epoch"]) for row in told} == {leader}


def test_where_nobody_leads_there_is_no_leader(spark: SparkSession) -> None:
    """The last one's state ended with the epoch in which there is none."""
    told = ask(spark, LED, STATES, 40, became_leader(2, 2, leader_id=-1, event_time=at(30)))

    assert {(row["replica_id"], row["leader_id"], row["leader_log_end_offset"]) for row in told} == {
        (2, None, None), (3, None, None),
    }  # fmt: skip


@pytest.mark.parametrize(("second", "found"), [(31, {2, 3}), (41, {3}), (43, set())])
def test_a_replica_whose_log_is_deleted_is_none(spark: SparkSession, second: float, found: set[int]) -> None:
    """Each broker tells of its own; what another deletes, or itself before the state began, ends nothing."""
    own = [log_deleted("ledger", 3, 0.5), log_deleted("ledger", 2, 40), log_deleted("ledger", 3, 42)]
    others = [log_deleted("ledger", 4, 20), log_deleted("other", 3, 30), log_deleted("ledger", 2, 30)]
    others[-1]["partition"] = 7
    told = ask(spark, LED, STATES, second, *own, *others)

    assert {row["replica_id"] for row in told} == found


def test_what_it_reads_is_there_by_name() -> None:
    """It is registered where all that it reads is, by name: a table or a view, each of which its text names."""
    assert {*STATE_AT.of} <= {table.name for table in T.ALL_TABLES} | {view.name for view in VIEWS}
    assert all(name in STATE_AT.sql for name in STATE_AT.of)
