"""The declarations of scenarios, and every script played on a stage without a cluster."""

from __future__ import annotations

from typing import NoReturn

import pytest

import cluster.chaos
import cluster.elections
import cluster.operations
import cluster.upkeep  # noqa: F401 - declares them
from cluster.errors import ToolFailedError
from cluster.scenario import CLICKS, SCENARIOS, Scenario
from tests.rehearsal import Office, rehearse


@pytest.mark.parametrize("has_zookeeper", [False, True])
@pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=SCENARIOS)
def test_a_script_leaves_every_broker_up(scenario: Scenario, has_zookeeper: bool) -> None:
    """No act on a broker that is in no state for it, and in the end a whole cluster."""
    _, actors = rehearse(scenario, has_zookeeper=has_zookeeper)

    assert {actor.state for actor in actors.values()} == {"up"}
    assert all(actor.has_disk for actor in actors.values())


@pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=SCENARIOS)
def test_a_declaration_fits_three_brokers(scenario: Scenario) -> None:
    """It says what happens in a sentence, and its leaders are there."""
    assert scenario.says.endswith((".", ")."))
    assert {leader for topic in scenario.topics for leader in topic.leaders} <= {1, 2, 3}


def test_replicas_are_the_leader_and_its_neighbours() -> None:
    """With five brokers they go on where three would begin again."""
    assert [CLICKS.replicas(1, brokers) for brokers in (3, 5)] == [[3, 1, 2], [3, 4, 5]]


def test_an_upgrade_is_broker_by_broker() -> None:
    """Each is down alone, and comes back as what the cluster is upgraded to."""
    told, actors = rehearse(SCENARIOS["rolling_restart"])
    acts = [act.split("  ")[-1].strip() for act in told]

    assert {actor.distribution.version for actor in actors.values()} == {"3.9.1"}
    assert [act for act in acts if act.startswith(("shut down", "start"))] == [
        f"{act} broker {broker}" for broker in (1, 2, 3) for act in ("shut down", "start")
    ]


@pytest.mark.parametrize("name", ["chaos", "upheaval"])
def test_random_faults_are_what_their_seed_draws(name: str) -> None:
    """The same seed, the same faults; another, others."""
    drawn = SCENARIOS[name]

    assert rehearse(drawn, 7)[0] == rehearse(drawn, 7)[0]
    assert rehearse(drawn, 7)[0] != rehearse(drawn, 8)[0]


def test_a_fault_that_a_tool_refuses_is_no_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another reassignment is under way, a broker is not there: that is noted, and the night goes on."""

    def refuse(*_: object) -> NoReturn:
        raise ToolFailedError("Kafka's ReassignPartitionsCommand failed: there is one in progress")

    monkeypatch.setattr(Office, "reassign", refuse)
    told, actors = rehearse(SCENARIOS["upheaval"], 7)

    assert [act for act in told if "refused: Kafka's ReassignPartitionsCommand failed" in act]
    assert {actor.state for actor in actors.values()} == {"up"}


def test_every_fault_is_drawn_some_day() -> None:
    """Of twenty nights, each act of an upheaval is in some."""
    told = "\n".join(act for seed in range(20) for act in rehearse(SCENARIOS["upheaval"], seed)[0])
    acts = (
        "freeze",
        "kill -9 broker",
        "kill -9 the controller",
        "shut down",
        "reassign",
        "create topic",
        "DeleteRecords",
    )

    assert [act for act in acts if act not in told] == []
