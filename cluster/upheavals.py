"""Faults that change who leads and who holds what, several at once: what an operator's worst night is made of."""

from __future__ import annotations

from cluster.scenario import UNCLEAN
from cluster.stage import Stage


def _move(stage: Stage) -> None:
    """Other replicas, also fewer; the leader may not be among them."""
    of = stage.draw.choice(stage.partitions)
    brokers = list(stage.cluster.brokers)
    stage.reassign({of: stage.draw.sample(brokers, stage.draw.choice((1, 2, 2, 3, 3)))})


def _create_anew(stage: Stage) -> None:
    """Where there is no ZooKeeper, a broker may be frozen meanwhile, and have the old one when it thaws."""
    frozen = [] if stage.cluster.distribution.has_zookeeper else list(stage.cluster.brokers)
    with stage.frozen(*[broker for broker in frozen if stage.draw.random() < 0.3][:1]):
        stage.create_anew(UNCLEAN)
        stage.rest(stage.draw.choice((0.2, 3)))


def _lose_the_controller(stage: Stage) -> None:
    """A broker is frozen meanwhile: it can not be fenced, and no ISR can change."""
    broker = stage.draw.choice(list(stage.cluster.brokers))
    stage.kill_controller()
    with stage.frozen(broker):
        stage.rest(stage.draw.choice((1, 4)))
    stage.start_controller()


def _kill_two(stage: Stage) -> None:
    """They come back in either order: the first may have been the last to lead, or long behind."""
    both = stage.draw.sample(list(stage.cluster.brokers), 2)
    for broker in both:
        stage.kill(broker)
        stage.rest(stage.draw.choice((0, 0.3, 3)))
    stage.draw.shuffle(both)
    for broker in both:
        stage.start(broker)


def _depose_a_frozen_leader(stage: Stage) -> None:
    """Another leads when its session is over; it thaws as a leader that nobody has told."""
    leader = stage.await_leader(*stage.draw.choice(stage.partitions))
    with stage.frozen(leader):
        stage.rest(stage.draw.choice((7, 9)))
    stage.rest(stage.draw.choice((0.2, 2)))


FAULTS = (
    (5, _move),
    (1, _create_anew),
    (2, _lose_the_controller),
    (4, _kill_two),
    (5, _depose_a_frozen_leader),
)
"""How often, against those of `chaos`, and what."""
