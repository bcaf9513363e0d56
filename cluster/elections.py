"""Scenarios of the ISR and of elections: followers fall behind, leaders die; and one in which nothing breaks."""

from __future__ import annotations

from dataclasses import replace

from cluster.scenario import CLICKS, ORDERS, UNCLEAN, scenario
from cluster.stage import Stage

GATED = replace(CLICKS, settings={"min.insync.replicas": "2"})


@scenario(consumers=True)
def steady(stage: Stage) -> None:
    """Nothing breaks: producers with acks=all and acks=1, bursts, idle pauses, consumers."""
    stage.rest(stage.seconds)


@scenario()
def frozen_follower(stage: Stage) -> None:
    """A follower freezes past replica.lag.time.max.ms: the ISR shrinks, it catches up and rejoins. Another, briefly."""
    long, brief = stage.admin.followers("orders", 0)
    stage.rest(5)
    with stage.frozen(long):
        stage.await_isr("orders", 0, 2)
        stage.rest(1)
    stage.await_whole()
    stage.rest(2)
    with stage.frozen(brief):
        stage.rest(1.5)
    stage.rest(3)


@scenario()
def leader_killed(stage: Stage) -> None:
    """Twice: followers freeze for a moment, and the leader is killed holding records that nobody else has."""
    for partition in (0, 1):
        stage.rest(5)
        leader = stage.admin.leader("clicks", partition)
        followers = stage.admin.followers("clicks", partition)
        with stage.frozen(*followers):
            stage.rest(1)
            stage.kill(leader)
        stage.await_leader("clicks", partition, other_than=leader)
        stage.rest(3)
        stage.start(leader)
        stage.await_whole()
    stage.rest(3)


@scenario(topics=(ORDERS, GATED))
def under_min_isr(stage: Stage) -> None:
    """The ISR falls below min.insync.replicas, then that rises above the ISR: appends go on, the HW waits (3.7+)."""
    stage.rest(4)
    followers = stage.admin.followers("clicks", 0)
    with stage.frozen(*followers):
        stage.await_isr("clicks", 0, 1)
        stage.rest(1.5)
    stage.await_whole()
    stage.rest(3)
    stage.configure_topic("clicks", {"min.insync.replicas": "3"})
    with stage.frozen(followers[0]):
        stage.await_isr("clicks", 0, 2)
        stage.rest(1.5)
    stage.await_whole()
    stage.configure_topic("clicks", {"min.insync.replicas": "2"})
    stage.rest(4)


@scenario(topics=(ORDERS, UNCLEAN), consumers=True)
def unclean_election(stage: Stage) -> None:
    """Out of the ISR followers are elected when the leader is killed: acknowledged, committed records are gone."""
    stage.rest(5)
    leader = stage.admin.leader("clicks", 0)
    followers = stage.admin.followers("clicks", 0)
    with stage.frozen(*followers):
        stage.await_isr("clicks", 0, 1)
        stage.rest(1.5)
        stage.kill(leader)
    stage.rest(9)
    if stage.admin.leader("clicks", 0) == -1:  # KRaft of 3.6 does not heed the topic's setting
        stage.elect_unclean("clicks", 0)
    stage.await_leader("clicks", 0, other_than=leader)
    stage.rest(3)
    stage.start(leader)
    stage.await_whole()
    stage.rest(3)


@scenario(consumers=True)
def forced_election(stage: Stage) -> None:
    """As unclean_election, but the topic forbids it: there is no leader until an operator forces an election."""
    stage.rest(4)
    leader, followers = stage.admin.leader("clicks", 1), stage.admin.followers("clicks", 1)
    with stage.frozen(*followers):
        stage.await_isr("clicks", 1, 1)
        stage.rest(1)
        stage.kill(leader)
    stage.admin.await_("its leader's end", ("clicks", 1), lambda found: found.leader == -1)
    stage.rest(2)
    stage.elect_unclean("clicks", 1)
    stage.await_leader("clicks", 1)
    stage.rest(3)
    stage.start(leader)
    stage.await_whole()
    stage.rest(2)
