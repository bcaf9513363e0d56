"""Rules of the timelines: what is true of a leader after each event, and of a replica's own states."""

from __future__ import annotations

from expectations.invariant import HW_AND_LEO_COMPARE, IS_BOUNDED, IS_LEO_BOUNDED, Invariant
from expectations.timeline_subjects import (
    BEGINS_LEADERSHIP,
    HIGHEST_HW_BEFORE,
    HIGHEST_REMOTE_LEO,
    HW_OF_LEADERS,
    LEADER_EVENTS,
    LEADER_IS_MEMBER,
    NEXT_EPOCH_FROM,
    POSSIBLE_HW_BEFORE,
    PREVIOUS_EVENT_SEQ,
    PREVIOUS_EXACTNESS,
    PREVIOUS_FROM,
    PREVIOUS_HW,
    PREVIOUS_LEO,
    PREVIOUS_REMOTE_LEO,
    PREVIOUS_TO,
    REPLICA_STATES,
    SMALLEST_MEMBER_LEO,
)
from schemas import columns as C
from schemas.kinds import EventType, Exactness, Role, Severity

_NEXT_BEGINS = f"greatest({PREVIOUS_FROM}, least({C.VALID_FROM}, {NEXT_EPOCH_FROM}))"

# fmt: off
TIMELINE_RULES = (
    Invariant(
        "HighWatermarkNeverExceedsLogEndOffset", LEADER_EVENTS,
        known=HW_AND_LEO_COMPARE,
        holds=f"{C.HIGH_WATERMARK} <= {C.LOG_END_OFFSET}", since="2.4",
        observed=(C.HIGH_WATERMARK, C.LOG_END_OFFSET), severity=Severity.CRITICAL,
        # Before 2.4 a truncation left the HW where it was, and whoever was then elected began above its LEO.
        why="A record is committed only after it is in the leader's log; the broker clamps the HW to its LEO.",
        source="UL:561 maybeIncrementHighWatermark; TypeOk of KafkaReplication.tla",
        what_to_do="Read the named line and those around it: either the broker is wrong (as in KAFKA-16452) or an append is missing from the capture.",
    ),
    Invariant(
        "HighWatermarkIsMonotoneWithinLeadership", LEADER_EVENTS,
        scope=f"NOT {BEGINS_LEADERSHIP}",
        known=f"NOT ({IS_BOUNDED}) OR {C.HIGH_WATERMARK_LOW} >= {PREVIOUS_HW} OR {C.HIGH_WATERMARK_HIGH} < {PREVIOUS_HW}",
        holds=f"{C.HIGH_WATERMARK} >= {PREVIOUS_HW}",
        observed=(PREVIOUS_HW, C.HIGH_WATERMARK), severity=Severity.CRITICAL,
        # Not "the HW never decreases": a new leader may begin lower, and a restarted one with its checkpoint.
        why="While one process leads one epoch its HW only rises, so that what a consumer has read stays readable.",
        source="UL:561 maybeIncrementHighWatermark; KIP-101",
        what_to_do="Consumers may see offsets go backwards here. Look for a restart that the capture does not show.",
    ),
    Invariant(
        "LogEndOffsetIsMonotoneWithinLeadership", LEADER_EVENTS,
        scope=f"NOT {BEGINS_LEADERSHIP}",
        known=f"coalesce({PREVIOUS_LEO}, -1) >= 0 AND {C.LOG_END_OFFSET} >= 0 AND NOT ({IS_LEO_BOUNDED})",
        holds=f"{C.LOG_END_OFFSET} >= {PREVIOUS_LEO}",
        observed=(PREVIOUS_LEO, C.LOG_END_OFFSET), severity=Severity.CRITICAL,
        why="A leader appends and never truncates: only followers cut their logs.",
        source="P:733 makeLeader; UL:2234 truncateTo, called by followers' fetchers alone",
        what_to_do="Rows are out of order, or the broker stopped leading here and no line says so.",
    ),
    Invariant(
        "LogStartAndStableOffsetNeverExceedHighWatermark", LEADER_EVENTS,
        known=f"{C.HIGH_WATERMARK} >= 0 AND NOT ({IS_BOUNDED})",
        holds=f"{C.LOG_START_OFFSET} <= {C.HIGH_WATERMARK} AND {C.LAST_STABLE_OFFSET} <= {C.HIGH_WATERMARK}",
        observed=(C.LOG_START_OFFSET, C.LAST_STABLE_OFFSET, C.HIGH_WATERMARK), severity=Severity.CRITICAL,
        why="Only committed records are deleted, and a transaction is decided only when its marker is committed.",
        source="UL:785 updateLogStartOffset, UL:1320 maybeIncrementLogStartOffset, UL:676 fetchLastStableOffsetMetadata",
        what_to_do="Compare with the `log_start_offset` statements and the transaction's markers in `produce_events`.",
    ),
    Invariant(
        "HighWatermarkStandsWhileUnderMinIsr", LEADER_EVENTS,
        scope=f"NOT {BEGINS_LEADERSHIP} AND {C.IS_UNDER_MIN_ISR} IS DISTINCT FROM false",
        known=f"{C.IS_UNDER_MIN_ISR} IS NOT NULL AND NOT ({IS_BOUNDED}) AND NOT ({PREVIOUS_EXACTNESS} = '{Exactness.BOUNDED}')",
        holds=f"{C.HIGH_WATERMARK} <= {PREVIOUS_HW}", since="3.7",
        observed=(C.ISR, C.MIN_ISR, PREVIOUS_HW, C.HIGH_WATERMARK), severity=Severity.CRITICAL,
        why="With fewer than min.insync.replicas in the committed ISR nothing may become committed (KAFKA-15583).",
        source="P:1153 maybeIncrementLeaderHW; KIP-966",
        what_to_do="Records counted as committed had fewer copies than the topic asks for: compare min.insync.replicas in `settings` with the ISR.",
    ),
    Invariant(
        "LeaderIsInIsr", LEADER_EVENTS,
        scope=f"{C.LEADER_ID} >= 0",
        known=f"{LEADER_IS_MEMBER} IS NOT NULL",
        holds=LEADER_IS_MEMBER,
        observed=(C.LEADER_ID, C.ISR), severity=Severity.CRITICAL,
        why="A leader is elected from the ISR or, uncleanly, becomes its only member; it never shrinks itself out.",
        source="LeaderInIsr of KafkaReplication.tla; PartitionChangeBuilder.java:348",
        what_to_do="Compare the broker's metadata with the controller's: the broker led after it had lost the partition, or an ISR change is missing.",
    ),
    Invariant(
        "RemoteLeoNeverExceedsLeaderLeo", LEADER_EVENTS,
        known=f"{C.LOG_END_OFFSET} >= 0 AND NOT ({IS_LEO_BOUNDED})",
        holds=f"{HIGHEST_REMOTE_LEO} <= {C.LOG_END_OFFSET}",
        observed=(C.REMOTE_LEO_MAP, C.LOG_END_OFFSET), severity=Severity.CRITICAL,
        why="A follower that fetches beyond the leader's LEO gets OFFSET_OUT_OF_RANGE and is not recorded.",
        source="P:1503 readRecords, R:93 updateFetchStateOrThrow",
        what_to_do="The follower kept records the leader does not have: look at its truncation in this epoch. "
        "Kafka 2.8.0 records its fetch all the same (KAFKA-13141): go on to 2.8.1.",
    ),
    Invariant(
        "FollowerHighWatermarkNeverExceedsItsLogEndOffset", REPLICA_STATES,
        scope=f"{C.ROLE} = '{Role.FOLLOWER}' AND {C.HIGH_WATERMARK} IS DISTINCT FROM {C.UNKNOWN_OFFSET}",
        # An HW of 0 lies below every LEO, also below one that nobody told.
        known=f"{C.HIGH_WATERMARK_HIGH} <= 0 OR ({HW_AND_LEO_COMPARE})",
        holds=f"{C.HIGH_WATERMARK} <= greatest({C.LOG_END_OFFSET}, 0)", since="2.4",
        observed=(C.HIGH_WATERMARK, C.LOG_END_OFFSET), severity=Severity.CRITICAL,
        why="A follower takes the smaller of the response's HW and its own LEO, and lowers the HW when it truncates.",
        source="UL:540 updateHighWatermark, UL:2234 truncateTo",
        what_to_do="Were it elected now, it would offer records it does not have. Look at the fetch and the truncation before.",
    ),
    Invariant(
        "FollowerHighWatermarkWasReachedByALeader", REPLICA_STATES,
        scope=f"{C.ROLE} = '{Role.FOLLOWER}' AND {C.HIGH_WATERMARK} IS DISTINCT FROM {C.UNKNOWN_OFFSET}",
        # A follower that had an older HW when the capture began was told it by a leader nobody saw.
        known=f"coalesce({HW_OF_LEADERS}, -1) >= 0 AND (NOT ({IS_BOUNDED}) OR {C.HIGH_WATERMARK_HIGH} <= {HW_OF_LEADERS})",
        holds=f"{C.HIGH_WATERMARK} <= {HW_OF_LEADERS}",
        observed=(C.HIGH_WATERMARK, HW_OF_LEADERS), severity=Severity.CRITICAL,
        why="A follower learns its HW from its leader's responses: HW = max(log start, min(HW of the response, LEO after the append)).",
        source="RFT:101 processPartitionData; UL:590 maybeUpdateHighWatermark",
        what_to_do="Look at the response before: `tidegauge show` lists the leader's events, `fetch_events` what it answered.",
    ),
    Invariant(
        "RemoteLeoNeverExceedsFollowerLeo", REPLICA_STATES,
        # Judged at the fetch that recorded it: later the follower may truncate, and another leader may have recorded it.
        scope=f"{C.ROLE} = '{Role.FOLLOWER}' AND {PREVIOUS_REMOTE_LEO} IS NOT NULL AND {C.REMOTE_LEO} <> {PREVIOUS_REMOTE_LEO}",
        known=f"{C.LOG_END_OFFSET_HIGH} >= 0",
        holds=f"{C.REMOTE_LEO} <= {C.LOG_END_OFFSET_HIGH}",
        observed=(C.REMOTE_LEO, C.LOG_END_OFFSET), severity=Severity.CRITICAL,
        why="A follower asks for its own LEO, and that is what the leader records: it may know less than is there, never more.",
        source="P:1434 fetchRecords, R:93 updateFetchStateOrThrow",
        what_to_do="The HW may rise over records the follower has not: look at the fetch of that event in `fetch_events`.",
    ),
    Invariant(
        "ReplicaStatesFollowEachOther", REPLICA_STATES,
        scope=f"{PREVIOUS_FROM} IS NOT NULL",
        # Of a leader that was killed, or was not told of the next one, lines tell after that one's begin.
        # Nor has a replica one between its being dropped and its being assigned again, with an empty log.
        holds=f"{PREVIOUS_TO} = {_NEXT_BEGINS} OR ({C.LOG_END_OFFSET} <= 0 AND {PREVIOUS_TO} < {_NEXT_BEGINS})",
        observed=(PREVIOUS_FROM, PREVIOUS_TO, C.VALID_FROM), severity=Severity.CRITICAL,
        why="A state holds until the next one begins: at each moment a replica has one, unless it was dropped.",
        source="docs/tables.md, replica_timeline: valid_to is exclusive",
        what_to_do="States are missing or twice there: somebody wrote to the table, or tidegauge is wrong. Run `tidegauge reconstruct` again.",
    ),
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
        "CommittedRecordsSurviveElections", LEADER_EVENTS,
        scope=f"{BEGINS_LEADERSHIP} AND {HIGHEST_HW_BEFORE} IS NOT NULL",
        # Without the line of the election, the first row that is seen may be long after it.
        # Nor does a start below what a HW may have been: only one below what it surely was.
        known=f"{C.EVENT_TYPE} = '{EventType.BECOME_LEADER}' AND {C.LOG_END_OFFSET} >= 0 AND NOT ({IS_LEO_BOUNDED})"
              f" AND ({C.LOG_END_OFFSET} < {HIGHEST_HW_BEFORE} OR {C.LOG_END_OFFSET} >= coalesce({POSSIBLE_HW_BEFORE}, -1))",
        holds=f"{C.LOG_END_OFFSET} >= {HIGHEST_HW_BEFORE}",
        observed=(C.LEADER_ID, HIGHEST_HW_BEFORE, C.LOG_END_OFFSET), severity=Severity.CRITICAL,
        why="A leader that begins below an earlier leader's HW has lost records that consumers could read and producers were promised.",
        source="LeaderCompletenessProperty of kip_966_properties.tla; StrongIsr of KafkaReplication.tla",
        what_to_do="Data loss: see `truncations` and `incidents` for the offsets. Usual causes: an unclean election, a lost disk, truncation to the HW (before KIP-101).",
    ),
    Invariant(
        "EventSequenceIsUnique", LEADER_EVENTS,
        scope=f"{PREVIOUS_EVENT_SEQ} IS NOT NULL",
        holds=f"{PREVIOUS_EVENT_SEQ} < {C.EVENT_SEQ}",
        observed=(PREVIOUS_EVENT_SEQ, C.EVENT_SEQ), severity=Severity.CRITICAL,
        why="Every state is the one before it and one event: two events of one number have no order.",
        source="docs/tables.md, leader_timeline: (leader_epoch, event_seq)",
        what_to_do="A defect of tidegauge, or a table somebody else wrote to: run `tidegauge reconstruct` again, and report it if it stays.",
    ),
)
# fmt: on
