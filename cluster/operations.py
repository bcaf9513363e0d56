"""Scenarios of what operators do: move, restart and throttle brokers, delete records, change disks."""

from __future__ import annotations

from dataclasses import replace

from cluster.scenario import CLICKS, ORDERS, scenario
from cluster.stage import Stage
from cluster.topic import Topic

AUDIT = Topic("audit", leaders=(1, 2), replication_factor=2, acks="1", settings={"min.insync.replicas": "1"})
SHORT_LIVED = replace(
    CLICKS,
    settings={
        "min.insync.replicas": "1",
        "segment.ms": "2500",
        "retention.ms": "6000",
        "file.delete.delay.ms": "1000",
    },
)
EXACTING = replace(CLICKS, settings={"min.insync.replicas": "3"})
BIT_BY_BIT = {"replica.fetch.max.bytes": "1000"}
SLOW_COPY = {"replica.alter.log.dirs.io.max.bytes.per.second": "2000"}
OFTEN = {"log.retention.check.interval.ms": "1000", "log.initial.task.delay.ms": "1000"}


@scenario(topics=(ORDERS, AUDIT), transactions=True, consumers=True)
def reassignment(stage: Stage) -> None:
    """Partitions move to other brokers, under transactions and read_committed consumers; records are deleted."""
    stage.rest(6)
    stage.reassign({("audit", 0): (2, 3), ("audit", 1): (3, 1)})
    stage.rest(4)
    stage.delete_records("audit", 0, -1)
    stage.rest(2)
    stage.reassign({("audit", 0): (3, 1), ("orders", 0): (3, 2, 1), ("orders", 1): (2, 1)})
    stage.rest(3)
    stage.elect_preferred()
    stage.rest(3)
    stage.reassign({("audit", 1): (1, 2, 3), ("orders", 1): (2, 3, 1)})
    stage.delete_records("orders", 1, 40)
    stage.await_whole()
    stage.rest(4)


@scenario(consumers=True)
def preferred_election(stage: Stage) -> None:
    """A broker shuts down in order and hands its leaderships over; it comes back, and is elected again."""
    for broker in (1, 2):
        stage.rest(4)
        stage.stop(broker)
        stage.rest(4)
        stage.start(broker)
        stage.await_whole()
        stage.elect_preferred()
    stage.rest(4)


@scenario(topics=(ORDERS, EXACTING), consumers=True)
def rolling_restart(stage: Stage) -> None:
    """Brokers are restarted one by one, with --upgrade-to as another release; one topic wants each replica in sync."""
    for broker in sorted(stage.cluster.brokers):
        stage.rest(4)
        stage.upgrade(broker)
        stage.rest(3)
        stage.await_whole()
        stage.elect_preferred()
    with stage.frozen(stage.admin.followers("clicks", 0)[-1]):
        stage.rest(5)
    stage.await_whole()
    stage.rest(4)


@scenario(topics=(ORDERS, SHORT_LIVED), settings=OFTEN, consumers=True)
def delete_records(stage: Stage) -> None:
    """DeleteRecords to an offset, to the high watermark, with a follower frozen; retention that deletes segments."""
    stage.rest(6)
    stage.delete_records("orders", 0, 50)
    stage.rest(5)
    with stage.frozen(stage.admin.followers("orders", 1)[0]):
        stage.delete_records("orders", 1, 30)
        stage.rest(1.5)
    stage.delete_records("orders", 2, -1)
    stage.rest(5)
    stage.delete_records("clicks", 1, -1)
    stage.rest(6)


@scenario(transactions=True, consumers=True)
def restarts(stage: Stage) -> None:
    """Every broker in turn is shut down in order and comes back; then two are killed with -9 and come back at once."""
    for broker in stage.cluster.brokers:
        stage.rest(3)
        stage.stop(broker)
        stage.rest(1)
        stage.start(broker)
        stage.await_whole()
    for broker in (1, 3):
        stage.rest(3)
        stage.kill(broker)
        stage.start(broker)  # before the controller has missed it: it may come back as the leader it was
        stage.await_whole()
    stage.rest(3)


@scenario(settings=BIT_BY_BIT)
def throttled_follower(stage: Stage) -> None:
    """A follower runs in short beats, frozen and thawed; later it catches up under a quota that hardly lets it."""
    slow = stage.admin.followers("orders", 0)[0]
    for _ in range(8):
        stage.rest(stage.draw.uniform(0.3, 1.5))
        with stage.frozen(slow):
            stage.rest(stage.draw.uniform(0.3, 2.2))
    limits = {"leader.replication.throttled.replicas": "*", "follower.replication.throttled.replicas": "*"}
    for topic in stage.topics:
        stage.configure_topic(topic.name, dict(limits))
    stage.configure_broker(slow, {"follower.replication.throttled.rate": "500"})
    with stage.frozen(slow):
        stage.await_isr("orders", 0, 2)  # the quota spares who has no lag
    stage.rest(12)
    stage.configure_broker(slow, {"follower.replication.throttled.rate": None})
    stage.await_whole()
    stage.rest(3)


@scenario(disks=2, consumers=True)
def two_disks(stage: Stage) -> None:
    """Replicas move to the other disk of their broker; one broker is killed, and finds a copy half made."""
    stage.rest(6)
    for of in stage.partitions:
        stage.change_disks(*of)
        stage.rest(1.5)
    follower = stage.admin.followers("orders", 0)[0]
    stage.configure_broker(follower, dict(SLOW_COPY))
    stage.change_disks("orders", 0)
    stage.rest(2)
    stage.kill(follower)
    stage.rest(1)
    stage.start(follower)
    stage.await_whole()
    stage.configure_broker(follower, dict.fromkeys(SLOW_COPY))
    stage.elect_preferred()
    stage.rest(6)
