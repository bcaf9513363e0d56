"""The engine against real brokers: their own DEBUG and TRACE words beside what is rebuilt from their other logs."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Any

import pytest

from jobs.keeping import keeping
from jobs.replay_inputs import made_whole, profile_of, slots_of
from replay.assignment import assignments
from replay.timelines import reconstruct
from replay.views.epoch_caches import MADE_OF, leader_epoch_caches
from schemas.tables import LANDING_TABLES, LEADER_TIMELINE, REPLICA_TIMELINE, TRUNCATIONS
from tests.bounds import at_once
from tests.captured import Tables, union
from tests.conftest import CAPTURES
from tests.engine import each_by_its_own
from tests.frames import of_several_rows
from tests.truth import cuts, follower_hws, log_ends, rebuilt_steps, remote_leos, starts, stated_steps, truth_of

pytestmark = [pytest.mark.spark, pytest.mark.captured]

EXACT = ("steady", "isr_shrink", "hw_truncation", "epoch_truncation")
CAPTURED = (*EXACT, "failover")
Rebuilt = dict[str, dict[str, list[dict[str, Any]]]]


@pytest.fixture(scope="module")
def everything(landed_capture: Callable[[str], Tables]) -> Rebuilt:
    """The timelines of all captures by capture, each under the protocol it spoke."""
    rows: Rebuilt = defaultdict(lambda: defaultdict(list))
    with keeping() as keep:
        each = {capture: made_whole(landed_capture(capture), keep) for capture in CAPTURED}
        profile = each_by_its_own({name: profile_of(landed, assignments(landed)) for name, landed in each.items()})
        landed = union(each.values())
        assigned = keep(assignments(landed))
        timelines = reconstruct(landed, assigned, slots_of(assigned), profile, keep)
        found = {
            "leader_timeline": keep(timelines.leader_timeline),
            "replica_timeline": keep(timelines.replica_timeline),
            "truncations": timelines.truncations,
            "epoch_starts": landed["epoch_starts"],
        }
        every = landed | found
        found["leader_epoch_caches"] = leader_epoch_caches(*[every[table.name] for table in MADE_OF])
        for name, frame in found.items():
            for row in frame.where("NOT startswith(topic, '__')").collect():
                rows[row["cluster_id"]][name].append(row.asDict())
    return rows


@pytest.fixture(params=CAPTURED)
def capture(request: pytest.FixtureRequest) -> str:
    """The name of a bundled capture."""
    return str(request.param)


@pytest.fixture
def timelines(everything: Rebuilt, capture: str) -> dict[str, list[dict[str, Any]]]:
    """The rows of its timelines."""
    return everything[capture]


@pytest.fixture
def truth(capture: str) -> list[dict[str, Any]]:
    """What its brokers said."""
    return truth_of(CAPTURES / capture)


def test_a_row_is_what_its_table_says_it_is(
    timelines: dict[str, list[dict[str, Any]]], capture: str, landed_capture: Callable[[str], Tables]
) -> None:
    """No two have the same grain: one row a line, an event, a state, a cut."""
    landed = landed_capture(capture)
    made = (LEADER_TIMELINE, REPLICA_TIMELINE, TRUNCATIONS)
    grains = {
        table: Counter(tuple(row[column] for column in table.grain) for row in timelines[table.name]) for table in made
    }

    assert [(table.name, of) for table, rows in grains.items() for of, count in rows.items() if count > 1] == []
    assert of_several_rows({table: landed[table.name] for table in LANDING_TABLES if table.name in landed}) == []


def test_each_step_of_the_high_watermark_is_found_in_order(
    timelines: dict[str, list[dict[str, Any]]], truth: list[dict[str, Any]], capture: str
) -> None:
    """All of them and no other; in `failover`, killed brokers took lines with them, and the timeline says `bounded`."""
    stated, found = stated_steps(truth), rebuilt_steps(timelines["leader_timeline"], starts(truth))
    only_hws = {key: [hw for _, hw in steps] for key, steps in stated.items()}
    mine = {key: [hw for _, hw in steps] for key, steps in found.items() if key in stated}

    if capture in EXACT:
        assert mine == only_hws
        return
    wanted = {(key, hw) for key, hws in only_hws.items() for hw in hws}
    made = {(key, hw) for key, hws in mine.items() for hw in hws}
    assert len(wanted - made) <= len(wanted) * 0.005
    assert len(made - wanted) <= len(wanted) * 0.001
    bounded = {
        (r["topic"], r["partition"], r["leader_epoch"])
        for r in timelines["leader_timeline"]
        if r["exactness"] == "bounded"
    }
    assert len({(key, hw) for key, hw in wanted - made if key not in bounded}) <= len(wanted) * 0.001


def test_steps_are_in_time(timelines: dict[str, list[dict[str, Any]]], truth: list[dict[str, Any]]) -> None:
    """99 of 100 within ten milliseconds of the broker's own line."""
    found = {
        (key, hw): at
        for key, steps in rebuilt_steps(timelines["leader_timeline"], starts(truth)).items()
        for at, hw in steps
    }
    errors = sorted(
        abs(found[key, hw] - at) for key, steps in stated_steps(truth).items() for at, hw in steps if (key, hw) in found
    )

    assert errors[int(len(errors) * 0.99) - 1] <= 10


def test_remote_leos_are_those_of_the_leaders(
    timelines: dict[str, list[dict[str, Any]]], truth: list[dict[str, Any]], capture: str
) -> None:
    """Every one. In `epoch_truncation` the leader was killed between its HW's line and that of the fetch it rose by."""
    agreement = remote_leos(truth, timelines["leader_timeline"])

    assert agreement.stated > 30
    assert agreement.found == agreement.stated
    assert agreement.extra == (1 if capture == "epoch_truncation" else 0)


def test_followers_are_where_they_said_they_were(
    timelines: dict[str, list[dict[str, Any]]], truth: list[dict[str, Any]]
) -> None:
    """Their HWs after each response, and nothing else."""
    agreement = follower_hws(truth, timelines["replica_timeline"])

    assert agreement.found >= agreement.stated * 0.999
    assert agreement.extra <= agreement.stated * 0.001


def test_logs_end_where_their_brokers_said_they_did(
    timelines: dict[str, list[dict[str, Any]]], truth: list[dict[str, Any]]
) -> None:
    """After every append of every replica, and nowhere else."""
    agreement = log_ends(truth, timelines["replica_timeline"])

    assert agreement.stated >= 45
    assert (agreement.found, agreement.extra) == (agreement.stated, 0)


def test_a_replica_has_one_state_at_a_moment(timelines: dict[str, list[dict[str, Any]]]) -> None:
    """Also one that was killed, of which its own log tells long after the next leader's begin."""
    assert list(at_once(timelines["replica_timeline"])) == []


def test_truncations_are_those_of_the_brokers(
    timelines: dict[str, list[dict[str, Any]]], truth: list[dict[str, Any]]
) -> None:
    """Each cut, to the offset."""
    made = {
        (r["topic"], r["partition"], r["replica_id"], r["to_offset"])
        for r in timelines["truncations"]
        if r["from_offset"] < 0 or r["to_offset"] < r["from_offset"]
    }

    assert made == cuts(truth)


def test_leader_epoch_caches_are_those_of_the_checkpoints(
    timelines: dict[str, list[dict[str, Any]]], capture: str
) -> None:
    """The entries of each replica's leader-epoch-checkpoint when its broker had stopped, which no replay reads.

    `hw_truncation` spoke 0.10.2: its batches carry no epoch, and its brokers kept no cache.
    """
    stated, made = (
        {(r["topic"], r["partition"], r[replica], r["leader_epoch"], r["start_offset"]) for r in timelines[name]}
        for name, replica in (("epoch_starts", "broker_id"), ("leader_epoch_caches", "replica_id"))
    )

    if capture == "hw_truncation":
        assert stated == set()
        return
    assert stated
    assert made == stated
