"""What a leader's line leaves out is taken from the controller's request, where that one made it the leader."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from replay.events.leaderships import leaderships, roles_with_loads
from replay.events.requested import requests_of_controllers, with_requested
from schemas import tables as T
from tests.frames import rows
from tests.twin.rows import at

pytestmark = pytest.mark.spark

HERE = {"cluster_id": "c", "topic": "orders", "topic_id": "", "partition": 0, "leader_epoch": 3}
BEGIN = {**HERE, "change_kind": "become_leader", "broker_id": 1, "leader_id": 1, "partition_epoch": -1}
REQUEST = {**HERE, "change_kind": "assigned", "broker_id": 1, "leader_id": 1, "replicas": [1, 2, 3]}
UPDATE = {**HERE, "change_kind": "isr_updated", "broker_id": 1, "leader_id": 1}


def begun(spark: SparkSession, *changes: dict[str, Any]) -> list[tuple[Any, Any]]:
    """ISR and assignment with which each leadership begins, by leader epoch."""
    landed: dict[str, DataFrame] = {T.LEADER_CHANGES.name: rows(spark, T.LEADER_CHANGES, *changes)}
    made = with_requested(landed[T.LEADER_CHANGES.name], requests_of_controllers(landed))
    assert made.columns == landed[T.LEADER_CHANGES.name].columns
    assert made.count() == len(changes)
    begins = made.where("change_kind = 'become_leader'").orderBy("leader_epoch")
    return [(row["isr"], row["replicas"]) for row in begins.collect()]


def test_the_oldest_request_of_the_epoch_tells(spark: SparkSession) -> None:
    """Whichever replica got it; what is sent again later has newer ISRs, and a leader ignores it."""
    to_follower = {**REQUEST, "broker_id": 2, "partition_epoch": 7, "isr": [1, 2]}
    sent_again = {**REQUEST, "partition_epoch": 9, "isr": [1]}
    assert begun(spark, BEGIN, sent_again, to_follower) == [([1, 2], [1, 2, 3])]


def test_of_an_update_that_is_older_the_request_tells_nothing(spark: SparkSession) -> None:
    """The request that began the epoch has not landed then; an update that is newer is another matter."""
    request = {**REQUEST, "partition_epoch": 8, "isr": [1, 2]}
    assert begun(spark, BEGIN, {**UPDATE, "partition_epoch": 8, "isr": [1]}, request) == [(None, None)]
    assert begun(spark, BEGIN, {**UPDATE, "partition_epoch": 9, "isr": [1]}, request) == [([1, 2], [1, 2, 3])]


def test_an_update_without_a_number_is_older_or_newer_by_the_time(spark: SparkSession) -> None:
    """Up to 2.3 the line of a change of the ISR names no partition epoch."""
    asked, earlier, later = (datetime(2026, 1, 1, 0, 0, second, tzinfo=UTC) for second in (5, 4, 6))
    request = {**REQUEST, "partition_epoch": 0, "isr": [1, 2], "event_time": asked}
    unnumbered = {**UPDATE, "partition_epoch": -1, "isr": [1]}
    assert begun(spark, BEGIN, {**unnumbered, "event_time": earlier}, request) == [(None, None)]
    assert begun(spark, BEGIN, {**unnumbered, "event_time": later}, request) == [([1, 2], [1, 2, 3])]


def test_what_a_line_tells_stands(spark: SparkSession) -> None:
    """From 2.6 on the line has the ISR; the assignment it has from 3.3 on alone."""
    request = {**REQUEST, "partition_epoch": 7, "isr": [1, 2]}
    assert begun(spark, {**BEGIN, "isr": [1, 3]}, request) == [([1, 3], [1, 2, 3])]


def test_another_epoch_partition_or_leader_has_another_request(spark: SparkSession) -> None:
    """Nothing is taken from these; no request at all changes nothing."""
    request = {**REQUEST, "partition_epoch": 7, "isr": [1, 2]}
    others = [{**request, "leader_epoch": 4}, {**request, "partition": 1}, {**request, "leader_id": 2, "broker_id": 2}]
    for changes in [[BEGIN, other] for other in others] + [[BEGIN]]:
        assert begun(spark, *changes) == [(None, None)]


def test_only_the_begin_of_a_leadership_takes_it(spark: SparkSession) -> None:
    """A proposal of the same epoch keeps what it tells, which is no assignment."""
    landed = {T.LEADER_CHANGES.name: rows(
        spark, T.LEADER_CHANGES, {**UPDATE, "change_kind": "isr_shrink_proposed", "partition_epoch": -1, "isr": [1]},
        {**REQUEST, "partition_epoch": 7, "isr": [1, 2]},
    )}  # fmt: skip
    made = with_requested(landed[T.LEADER_CHANGES.name], requests_of_controllers(landed))
    proposal = made.where("change_kind = 'isr_shrink_proposed'").collect()[0]
    assert (proposal["isr"], proposal["replicas"]) == ([1], None)


def leads_anew(spark: SparkSession, *changes: dict[str, Any]) -> list[bool]:
    """Of each leadership, by epoch, whether its process did not lead just before."""
    landed = {
        T.LEADER_CHANGES.name: rows(spark, T.LEADER_CHANGES, *changes),
        T.BROKER_STATEMENTS.name: rows(spark, T.BROKER_STATEMENTS),
    }
    begun = leaderships(roles_with_loads(landed)).orderBy("leader_epoch")
    return [row["is_new_leader"] for row in begun.collect()]


def test_who_was_told_to_follow_leads_anew(spark: SparkSession) -> None:
    """No line of 2.4 and 2.5 says that a broker follows; of the same leader's epochs in a row none does either."""
    led = {**BEGIN, "leader_epoch": 2, "event_time": at(0)}
    again = {**BEGIN, "leader_epoch": 4, "event_time": at(9)}
    told = {**REQUEST, "event_time": at(8), "leader_id": 2, "isr": [2]}
    assert leads_anew(spark, led, told, again) == [True, True]
    assert leads_anew(spark, led, {**told, "leader_id": 1}, again) == [True, False]
    assert leads_anew(spark, led, {**told, "broker_id": 3}, again) == [True, False]


@pytest.mark.parametrize("epoch", [1, 2, 4, 5])
def test_what_it_was_told_of_another_time_counts_not(spark: SparkSession, epoch: int) -> None:
    """Before it led, or after it led again, sent late or again."""
    led = {**BEGIN, "leader_epoch": 2, "event_time": at(0)}
    again = {**BEGIN, "leader_epoch": 4, "event_time": at(9)}
    told = {**REQUEST, "event_time": at(8), "leader_epoch": epoch, "leader_id": 2, "isr": [2]}
    assert leads_anew(spark, led, told, again) == [True, False]
