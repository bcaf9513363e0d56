"""Random faults, drawn from a seed: the scenarios for a nightly run."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from confluent_kafka import KafkaException

from cluster import upheavals
from cluster.errors import InVainError, NotOfferedError, ToolFailedError
from cluster.scenario import ORDERS, UNCLEAN, scenario
from cluster.stage import Stage

Weighted = Sequence[tuple[int, Callable[[Stage], None]]]
"""How often, against the others, and what."""


@scenario(seconds=120, topics=(ORDERS, UNCLEAN), transactions=True, consumers=True)
def chaos(stage: Stage) -> None:
    """Faults drawn from the seed, one after the other, until the time is up."""
    _break_at_random(stage, FAULTS)


@scenario(seconds=120, topics=(ORDERS, UNCLEAN), transactions=True, consumers=True)
def upheaval(stage: Stage) -> None:
    """As chaos, and worse: two brokers killed, frozen leaders deposed, partitions moved, topics anew, no controller."""
    _break_at_random(stage, (*FAULTS, *upheavals.FAULTS))


def _break_at_random(stage: Stage, faults: Weighted) -> None:
    """Draw faults by their weights until the time is up; in the end all is well again."""
    weights, acts = zip(*faults, strict=True)
    while stage.elapsed < stage.seconds:
        stage.rest(stage.draw.uniform(0.5, 4))
        try:
            stage.draw.choices(acts, weights)[0](stage)
        # An election not needed, no leader at the moment, replicas that do not come or may not, brokers too old for it:
        # that, too, is chaos.
        except (KafkaException, InVainError, NotOfferedError, ToolFailedError) as error:
            stage.note(f"refused: {error}")
    stage.await_whole()
    stage.rest(3)


def _freeze_one(stage: Stage) -> None:
    with stage.frozen(stage.draw.choice(list(stage.cluster.brokers))):
        stage.rest(stage.draw.choice((0.3, 1, 2, 4, 5, 8)))


def _freeze_followers(stage: Stage) -> None:
    with stage.frozen(*stage.admin.followers(*stage.draw.choice(stage.partitions))):
        stage.rest(stage.draw.choice((0.5, 1.5, 5)))


def _kill_leader(stage: Stage) -> None:
    """Its followers may be frozen before, for so long that it holds records alone, or so long that it is the ISR."""
    topic, partition = stage.draw.choice(stage.partitions)
    leader = stage.await_leader(topic, partition)
    followers = stage.admin.followers(topic, partition)
    with stage.frozen(*followers):
        stage.rest(stage.draw.choice((0.1, 0.8, 5)))
        stage.kill(leader)
    stage.rest(stage.draw.choice((0, 2, 9)))
    stage.start(leader)
    stage.rest(stage.draw.uniform(0, 3))


def _kill_one(stage: Stage) -> None:
    broker = stage.draw.choice(list(stage.cluster.brokers))
    stage.kill(broker)
    stage.rest(stage.draw.choice((0, 1, 7)))
    stage.start(broker)


def _restart_one(stage: Stage) -> None:
    broker = stage.draw.choice(list(stage.cluster.brokers))
    stage.stop(broker)
    stage.rest(stage.draw.choice((0, 2)))
    stage.start(broker)


def _elect_preferred(stage: Stage) -> None:
    stage.elect_preferred()


def _delete_records(stage: Stage) -> None:
    topic, partition = stage.draw.choice(stage.partitions)
    stage.await_leader(topic, partition)
    stage.delete_records(topic, partition, -1)


def _change_min_isr(stage: Stage) -> None:
    stage.configure_topic(stage.draw.choice(stage.topics).name, {"min.insync.replicas": stage.draw.choice("123")})


FAULTS: Weighted = (
    (4, _freeze_one),
    (2, _freeze_followers),
    (3, _kill_leader),
    (2, _kill_one),
    (1, _restart_one),
    (2, _elect_preferred),
    (1, _delete_records),
    (1, _change_min_isr),
)
