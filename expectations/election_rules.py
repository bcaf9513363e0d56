"""Rules of elections and of completeness: who is elected holds what was committed, and no word is missing or denied."""

from __future__ import annotations

from expectations.capture_subjects import BROKERS, FILES
from expectations.election_subjects import ELECTED_LEADERS, ELECTIONS, HAS_EVENTS, IS_SEEN_TO_BEGIN, IS_UNCLEAN_ELECTION
from expectations.invariant import IS_LEO_BOUNDED, Invariant
from expectations.record_subjects import PARTITION_RECORDS, PREVIOUS_EPOCH, PREVIOUS_PARTITION_EPOCH, PREVIOUS_RECORD
from expectations.stated_subjects import HIGHEST, LOWEST, STATED_SHRINKS
from expectations.timeline_subjects import HIGHEST_HW_BEFORE, POSSIBLE_HW_BEFORE
from schemas import columns as C
from schemas.kinds import Severity

# fmt: off
ELECTION_RULES = (
    Invariant(
        "CleanlyElectedLeaderHoldsTheHighWatermark", ELECTIONS,
        scope=f"NOT {IS_UNCLEAN_ELECTION} AND {HIGHEST_HW_BEFORE} IS NOT NULL",
        # Without the line of the election, the first row that is seen may be long after it.
        known=f"{IS_SEEN_TO_BEGIN} AND {C.LOG_END_OFFSET} >= 0 AND NOT ({IS_LEO_BOUNDED})"
              f" AND ({C.LOG_END_OFFSET} < {HIGHEST_HW_BEFORE} OR {C.LOG_END_OFFSET} >= coalesce({POSSIBLE_HW_BEFORE}, -1))",
        holds=f"{C.LOG_END_OFFSET} >= {HIGHEST_HW_BEFORE}",
        observed=(C.LEADER_ID, HIGHEST_HW_BEFORE, C.LOG_END_OFFSET), severity=Severity.CRITICAL,
        # The true HW: the highest of all leaders since the last unclean election, which gave up what was before it.
        why="A leader from the ISR has every record that was committed: that is what the ISR is for.",
        source="LeaderCandidateCompletenessProperty of kip_966_properties.tla; StrongIsr of KafkaReplication.tla",
        what_to_do="Nobody chose this loss: truncation to the HW (before KIP-101), a lost disk, or a defect of the broker.",
    ),
    Invariant(
        "EveryLeadershipHasEvents", ELECTED_LEADERS,
        holds=HAS_EVENTS,
        observed=(C.LEADER_EPOCH, HAS_EVENTS), severity=Severity.CRITICAL,
        why="A leader epoch that a broker's log begins has at least its first event in the timeline.",
        source="design, leader_timeline",
        what_to_do="Rows of the timeline are gone: run `tidegauge reconstruct` again.",
    ),
    Invariant(
        "EveryReplicaDeliveredItsLogs", BROKERS,
        holds=f"{FILES} > 0",
        observed=(C.BROKER_ID, FILES), severity=Severity.WARNING,
        why="What a broker did that delivered no file is known only as far as others tell.",
        source="design, verdicts",
        what_to_do="Add the folder of the broker to the capture and ingest it: new files continue the history.",
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
        "RebuiltOffsetsEqualStatedAtShrink", STATED_SHRINKS,
        known=f"{LOWEST} IS NOT NULL AND {HIGHEST} IS NOT NULL",
        holds=f"{C.OFFSET} BETWEEN {LOWEST} AND {HIGHEST}",
        observed=(C.KIND, C.OFFSET, LOWEST, HIGHEST), severity=Severity.WARNING,
        why="A leader that shrinks its ISR says its HW, its LEO and the laggards' in its log; what was rebuilt from requests must agree.",
        source="P:1228 shrinkIsr (INFO line)",
        what_to_do="The capture has a hole before this line, or tidegauge is wrong: `tidegauge show` lists the events around it.",
    ),
)
# fmt: on
