"""Rules of records and requests: what was promised is kept, and nobody is given what is not committed."""

from __future__ import annotations

from datetime import datetime

from expectations.capture_subjects import CLOCKS, LANDED_LINES, LAST_EVENT, LAST_EVENTS, TIMES
from expectations.finding_subjects import ACKNOWLEDGED, IS_LOST
from expectations.invariant import Invariant
from expectations.reads import IS_BELOW_BY_THEN, WAS_GIVEN_RECORDS
from expectations.record_subjects import (
    CACHE_ENTRIES,
    FETCHES,
    IS_RECORDED,
    PARTITION_RECORDS,
    PREVIOUS_EPOCH,
    PREVIOUS_START,
)
from expectations.timeline_subjects import (
    BEGINS_LEADERSHIP,
    LEADER_EVENTS,
    PREVIOUS_EXACTNESS,
    PREVIOUS_HW,
    SMALLEST_MEMBER_LEO,
)
from replay.clocks.ahead import TOGETHER_US
from replay.clocks.bounds import AT_LEAST_US
from replay.readable import READABLE
from schemas import columns as C
from schemas.kinds import EventType, Exactness, Severity

# fmt: off
RECORD_RULES = (
    Invariant(
        "IsrHoldsTheHighWatermarkWhenItRises", LEADER_EVENTS,
        scope=f"NOT {BEGINS_LEADERSHIP} AND {C.HIGH_WATERMARK} > {PREVIOUS_HW} AND {C.EVENT_TYPE} <> '{EventType.WITNESS}'",
        # A HW that a response alone proves was rebuilt from no remote LEO: what it waited for no line tells.
        known=f"{SMALLEST_MEMBER_LEO} IS NOT NULL AND {C.EXACTNESS} = '{Exactness.EXACT}' AND NOT ({PREVIOUS_EXACTNESS} = '{Exactness.BOUNDED}')",
        holds=f"{SMALLEST_MEMBER_LEO} >= {C.HIGH_WATERMARK}",
        observed=(C.HIGH_WATERMARK, C.ISR, C.REMOTE_LEO_MAP), severity=Severity.CRITICAL,
        # Not at every moment: a member that lost its tail in a crash is below the HW until it has fetched again.
        why="A record is committed when every in-sync replica has it, so that any of them may be elected.",
        source="P:1152 maybeIncrementLeaderHW; WeakIsr of KafkaReplication.tla",
        what_to_do="Look at the member whose remote LEO is the smallest: its fetch is missing, or the ISR was another.",
    ),
    Invariant(
        "IsrIsSubsetOfReplicas", PARTITION_RECORDS,
        known=f"{C.ISR} IS NOT NULL AND {C.REPLICAS} IS NOT NULL",
        holds=f"size(array_except({C.ISR}, array_union({C.REPLICAS}, array_union(coalesce({C.ADDING_REPLICAS}, {C.NOBODY}), coalesce({C.REMOVING_REPLICAS}, {C.NOBODY}))))) = 0",
        observed=(C.ISR, C.REPLICAS), severity=Severity.CRITICAL,
        why="Only an assigned replica can be in sync.",
        source="PartitionRegistration.java:207; ReplicationControlManager.java validateAlterPartitionData",
        what_to_do="A member that is no replica holds no copy: look at the reassignment around the named record.",
    ),
    Invariant(
        "EpochsAndStartsIncreaseInCheckpoint", CACHE_ENTRIES,
        scope=f"{PREVIOUS_EPOCH} IS NOT NULL",
        holds=f"{C.LEADER_EPOCH} > {PREVIOUS_EPOCH} AND {C.START_OFFSET} > {PREVIOUS_START}",
        observed=(PREVIOUS_EPOCH, C.LEADER_EPOCH, PREVIOUS_START, C.START_OFFSET), severity=Severity.CRITICAL,
        # Within one replica's cache; across elections a later epoch may begin lower.
        why="A replica's cache maps offsets to epochs: an entry that is not above the one before it would map two ways.",
        source="LEFC:103 assign",
        what_to_do="The checkpoint is damaged: truncation by epoch of this replica cannot be trusted.",
    ),
    Invariant(
        "AcknowledgedByAllIsNeverLost", ACKNOWLEDGED,
        holds=f"NOT {IS_LOST}",
        observed=(C.LEADER_EPOCH, C.BASE_OFFSET, C.LAST_OFFSET, C.CLIENT_ID), severity=Severity.CRITICAL,
        why="acks=all was answered with success: the record had reached every in-sync replica.",
        source="P:1089 checkEnoughReplicasReachOffset; CommittedMessagesNeverLost",
        what_to_do="Tell the producer named here: what it was promised is gone. Usual cause: an unclean election.",
    ),
    Invariant(
        "ConsumersReadBelowTheHighWatermark", FETCHES,
        scope=WAS_GIVEN_RECORDS,
        known=f"{READABLE} >= 0",
        # The HW that is told is looked up before that up to which is read: it may rise in between.
        holds=f"{C.FETCH_OFFSET} < {READABLE} OR {IS_BELOW_BY_THEN}",
        observed=(C.CLIENT_ID, C.FETCH_OFFSET, C.RESPONSE_HIGH_WATERMARK, C.RESPONSE_LAST_STABLE_OFFSET), severity=Severity.CRITICAL,
        why="A consumer is given committed records alone, and under read_committed none of an open transaction.",
        source="FetchIsolation.java; P:1503, 1514 readRecords",
        what_to_do="The consumer may have acted on records that can still vanish.",
    ),
    Invariant(
        "DivergingFetchMovesNoRemoteLeo", FETCHES,
        scope=f"{C.REPLICA_ID} >= 0 AND {C.DIVERGING_EPOCH} >= 0 AND NOT {C.IS_PARKED}",
        holds=f"NOT {IS_RECORDED}",
        observed=(C.REPLICA_ID, C.FETCH_OFFSET, C.DIVERGING_EPOCH), severity=Severity.CRITICAL,
        why="A follower whose log diverges has not these records; its offset says nothing of the leader's log.",
        source="P:1331 fetchRecords; KAFKA-13141",
        what_to_do="Kafka 2.8.0 does that, and commits what the follower does not have (KAFKA-13141): go on to 2.8.1. "
        "Of any other version it is a defect of tidegauge: report it, with the line.",
    ),
    Invariant(
        "ClocksOfBrokersAgree", CLOCKS,
        holds=f"{AT_LEAST_US} <= {TOGETHER_US}",
        observed=(AT_LEAST_US,), severity=Severity.WARNING,
        # A tenth of a second: requests and lines take as long.
        why="What came first by the protocol came first by the clocks too, if they are one.",
        source="KIP-320 CurrentLeaderEpoch; ReplicaManager makeFollowers",
        what_to_do="Compare the two brokers' time (ntpq, chronyc) and the time zone of their logs. The replay reckons with clocks "
        "that differ by the same all the time; of one that was set meanwhile it does not.",
    ),
    Invariant(
        "NoLineLandsTwice", LANDED_LINES,
        holds=f"{TIMES} = 1",
        observed=(TIMES,), severity=Severity.CRITICAL,
        why="A line is one append of a partition: landed twice, it would count twice; a producer's retry is a line of its own.",
        source="design, idempotent",
        what_to_do="Somebody else wrote to `produce_events`, or a delivery landed twice: ingest into a new warehouse.",
    ),
)
# fmt: on


def is_fresh(since: datetime) -> Invariant:
    """Return the rule of --max-age: the last event is not older than `since`."""
    return Invariant(
        "EventsAreFresh", LAST_EVENTS,
        holds=f"{LAST_EVENT} >= TIMESTAMP '{since:%Y-%m-%d %H:%M:%S}Z'",
        demands=f"{LAST_EVENT} >= now - max_age",
        observed=(LAST_EVENT,), severity=Severity.CRITICAL,
        why="A check of last week's events says nothing of tonight.",
        source="option --max-age",
        what_to_do="The delivery of logs has stopped, or the ingest has: look at `source_files`.",
    )  # fmt: skip
