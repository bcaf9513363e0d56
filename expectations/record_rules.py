"""Rules of records and requests: what was promised is kept, and nobody is given what is not committed."""

from __future__ import annotations

from expectations.finding_subjects import ACKNOWLEDGED, IS_LOST
from expectations.invariant import Invariant
from expectations.reads import IS_BELOW_BY_THEN, WAS_GIVEN_RECORDS
from expectations.record_subjects import (
    CACHE_ENTRIES,
    FETCHES,
    IS_RECORDED,
    PARTITION_RECORDS,
    PREVIOUS_EPOCH,
    PREVIOUS_PARTITION_EPOCH,
    PREVIOUS_RECORD,
    PREVIOUS_START,
)
from replay.readable import READABLE
from schemas import columns as C
from schemas.kinds import Severity

# fmt: off
RECORD_RULES = (
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
        "EpochsNeverGoBackInMetadata", PARTITION_RECORDS,
        # Two dumps of the metadata log hold the same record.
        scope=f"{PREVIOUS_RECORD} IS NOT NULL AND {C.METADATA_OFFSET} > {PREVIOUS_RECORD}",
        known=f"{C.PARTITION_EPOCH} >= 0 AND {PREVIOUS_PARTITION_EPOCH} >= 0",
        holds=f"{C.LEADER_EPOCH} >= {PREVIOUS_EPOCH} AND {C.PARTITION_EPOCH} > {PREVIOUS_PARTITION_EPOCH}",
        observed=(PREVIOUS_EPOCH, C.LEADER_EPOCH, PREVIOUS_PARTITION_EPOCH, C.PARTITION_EPOCH), severity=Severity.CRITICAL,
        why="Each change of a partition has a new partition epoch, each election a new leader epoch: that fences the old.",
        source="PartitionRegistration.java:256 merge; PartitionChangeBuilder.java:368",
        what_to_do="The metadata log went back: compare the controllers' logs, and look for a quorum that was started anew.",
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
)
# fmt: on
