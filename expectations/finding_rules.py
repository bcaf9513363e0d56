"""Rules of findings: what the engine looks for in whole histories and must not find (`replay/findings/incidents.py`)."""

from __future__ import annotations

from expectations.finding_subjects import FETCH_FINDINGS, FINDINGS, IS_TOLD
from expectations.invariant import Invariant
from schemas import columns as C
from schemas.kinds import IncidentKind as Kind
from schemas.kinds import Severity

_FOUND = (C.KIND, C.TOPIC, C.PARTITION, C.FROM_OFFSET, C.TO_OFFSET, C.EVIDENCE)
_LOST = f"({C.KIND} LIKE '%RECORDS_LOST%')"

# fmt: off
FINDING_RULES = (
    Invariant(
        "NoCommittedRecordIsLost", FINDINGS,
        scope=_LOST,
        known=f"{C.KIND} <> '{Kind.RECORDS_LOST_UNKNOWN_IF_COMMITTED}'",
        holds=f"{C.KIND} <> '{Kind.COMMITTED_RECORDS_LOST}'",
        observed=_FOUND, severity=Severity.CRITICAL,
        why="What was below the HW could be read; it must stay, whatever the acks and whoever is elected.",
        source="LeaderCompletenessProperty of kip_966_properties.tla; KIP-101",
        what_to_do="The finding names the range, the election and the replicas; `examples/sql/what-was-lost.sql` lists all.",
    ),
    Invariant(
        "LogsOfReplicasMatch", FINDINGS,
        scope=f"{C.KIND} = '{Kind.LOG_DIVERGENCE}'",
        holds=f"{C.SEVERITY} <> '{Severity.CRITICAL}'",
        observed=_FOUND, severity=Severity.CRITICAL,
        # A replica that has yet to truncate differs from its leader, and may.
        why="Replicas that fetch from one leader have the same records at the same offsets.",
        source="LogMatchingProperty of kip_966_properties.tla; KIP-101",
        what_to_do="The replica named fetches on over other records: delete its copy and let it fetch anew.",
    ),
    Invariant(
        "ConsumersReadNothingThatVanishes", FINDINGS,
        # A warning is of what a consumer may have read, and no position tells.
        known=f"{C.KIND} <> '{Kind.CONSUMER_READ_LOST_RECORDS}' OR {C.SEVERITY} = '{Severity.CRITICAL}'",
        holds=f"{C.KIND} <> '{Kind.CONSUMER_READ_LOST_RECORDS}'",
        observed=_FOUND, severity=Severity.CRITICAL,
        why="A record that a consumer was given stays at its offset, whoever is elected.",
        source="ConsistentReadProperty of kip_966_properties.tla; KIP-320",
        what_to_do="The consumer acted on records that no longer exist: `examples/sql/consumers-that-read-lost-records.sql` lists them.",
    ),
    Invariant(
        "NoReplicaTruncatesCommittedRecords", FINDINGS,
        # What lies below the HW by now, but was committed by no leader before, are a former leader's own records.
        holds=f"{C.KIND} <> '{Kind.TRUNCATED_BELOW_HIGH_WATERMARK}' OR {C.SEVERITY} = '{Severity.INFO}'",
        # No loss by itself: the new leader may still hold the records, which the replica then fetches again.
        observed=_FOUND, severity=Severity.WARNING,
        why="What was committed is on every in-sync replica; a replica that cuts it is one copy less.",
        source="KIP-101; KAFKA-19474",
        what_to_do="See `truncations`: by which method it cut, and whether the leader of that epoch held the records.",
    ),
    Invariant(
        "OffsetsGoBackOnlyAsTold", FINDINGS,
        holds=f"{C.KIND} <> '{Kind.OFFSET_WENT_BACK}'",
        observed=_FOUND, severity=Severity.WARNING,
        why="A follower that asks for less than before has truncated or restarted, and its log says so.",
        source="UL:2234 truncateTo (INFO); KAFKA-19474",
        what_to_do="Either the replica's server.log is incomplete or its log lost records silently: compare with its segments.",
    ),
    Invariant(
        "IsrMembersAreAssigned", FINDINGS,
        holds=f"{C.KIND} <> '{Kind.ISR_MEMBER_IS_NO_REPLICA}'",
        observed=_FOUND, severity=Severity.WARNING,
        why="A broker names an ISR member that by its own lines is no replica.",
        source="PartitionRegistration.java:207",
        what_to_do="A reassignment is missing from the capture, or the broker works on metadata that is out of date.",
    ),
    Invariant(
        "LinesNameOneLeaderPerEpoch", FINDINGS,
        # Without topic ids a topic that was deleted and made again begins at epoch 0 again, perhaps elsewhere.
        known=f"{C.TOPIC_ID} <> '' OR {C.KIND} <> '{Kind.TWO_LEADERS_IN_ONE_EPOCH}'",
        holds=f"{C.KIND} <> '{Kind.TWO_LEADERS_IN_ONE_EPOCH}'",
        observed=_FOUND, severity=Severity.CRITICAL,
        why="Followers, leaders and the controller must mean the same leader by an epoch.",
        source="PartitionRegistration.java:256 merge; KIP-101",
        what_to_do="The evidence names the lines: a follower that follows another leader of the same epoch may diverge.",
    ),
    Invariant(
        "IsrMembersKeepUp", FETCH_FINDINGS,
        known=IS_TOLD,
        holds=f"{C.KIND} <> '{Kind.STALE_ISR_MEMBER}'",
        observed=_FOUND, severity=Severity.WARNING,
        why="A member that is behind for longer than the lag time leaves the ISR; one that stays holds the HW back.",
        source="P:1297 getOutOfSyncReplicas, RM:339",
        what_to_do="Look at the leader: it was frozen, or its ISR changes were refused.",
    ),
    Invariant(
        "FetchSessionsHaveNoGaps", FETCH_FINDINGS,
        known=IS_TOLD,
        holds=f"{C.KIND} <> '{Kind.FETCH_SESSION_GAP}'",
        observed=_FOUND, severity=Severity.WARNING,
        why="Requests of a session are numbered; a number that is missing is a request that is not in the capture.",
        source="KIP-227; FetchSession.scala",
        what_to_do="The request log is cut or rotated away there: deliver the missing file.",
    ),
)
# fmt: on
