"""Scenarios of topics, disks, racks and controllers, and of what compaction leaves of a log."""

from __future__ import annotations

from dataclasses import replace

from cluster.scenario import CLICKS, ORDERS, scenario
from cluster.stage import Stage

LATEST = replace(
    CLICKS,
    name="latest",
    keys=40,
    settings={
        "min.insync.replicas": "1",
        "cleanup.policy": "compact",
        "segment.ms": "2000",
        "min.cleanable.dirty.ratio": "0.01",
        "delete.retention.ms": "0",
        "file.delete.delay.ms": "1000",
    },
)
CLEANED_OFTEN = {"log.cleaner.backoff.ms": "500", "log.initial.task.delay.ms": "1000"}
BY_RACK = {"replica.selector.class": "org.apache.kafka.common.replica.RackAwareReplicaSelector"}


@scenario(topics=(ORDERS, LATEST), settings=CLEANED_OFTEN, transactions=True, consumers=True)
def compaction(stage: Stage) -> None:
    """A compacted topic: dumps have gaps. Its leader is killed while followers are frozen, and comes back."""
    stage.rest(12)
    leader = stage.admin.leader("latest", 0)
    with stage.frozen(*stage.admin.followers("latest", 0)):
        stage.rest(1)
        stage.kill(leader)
    stage.await_leader("latest", 0, other_than=leader)
    stage.rest(6)
    stage.start(leader)
    stage.await_whole()
    stage.elect_preferred()
    stage.rest(8)


@scenario(consumers=True)
def topics_change(stage: Stage) -> None:
    """A topic is deleted and created anew under load, and another one gets more partitions."""
    stage.rest(6)
    stage.create_anew(CLICKS)
    stage.rest(5)
    stage.add_partitions(ORDERS, 2, 1)
    stage.rest(3)
    # A controller beside ZooKeeper deletes no topic while a replica of it does not answer, and may be the one frozen.
    frozen = () if stage.cluster.distribution.has_zookeeper else stage.admin.followers("clicks", 0)[:1]
    with stage.frozen(*frozen):
        stage.create_anew(CLICKS)
        stage.rest(4)
    stage.await_whole()
    stage.rest(5)


@scenario(disks=2, consumers=True)
def disk_lost(stage: Stage) -> None:
    """A broker loses one of two disks and goes on with the other; later it gets the disk back, as it was."""
    stage.rest(6)
    broker = stage.admin.leader("clicks", 0)
    stage.lose_disk(broker)
    stage.rest(14)
    stage.give_disk_back(broker)
    stage.await_whole()
    stage.elect_preferred()
    stage.rest(5)


@scenario(settings=BY_RACK, transactions=True, consumers=True)
def follower_reads(stage: Stage) -> None:
    """Consumers read from the replica in their rack, followers too; one of those freezes, another is killed."""
    stage.rest(8)
    with stage.frozen(1):
        stage.rest(5)
    stage.await_whole()
    stage.rest(3)
    stage.kill(2)
    stage.rest(7)
    stage.start(2)
    stage.await_whole()
    stage.rest(5)


@scenario(consumers=True)
def controller_away(stage: Stage) -> None:
    """The controller is killed: ISRs can not change while it is away, whoever freezes; then it comes back."""
    stage.rest(5)
    slow = stage.admin.followers("orders", 0)[0]
    stage.kill_controller()
    with stage.frozen(slow):
        stage.rest(5)
    stage.rest(2)
    stage.start_controller()
    stage.await_whole()
    stage.rest(3)
    with stage.frozen(slow):
        stage.rest(3.5)
        stage.kill_controller()
        stage.rest(1)
    stage.rest(2)
    stage.start_controller()
    stage.await_whole()
    stage.rest(3)
