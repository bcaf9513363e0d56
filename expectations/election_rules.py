"""Rules of elections: an epoch has one leader, and who is elected holds what was committed."""

from __future__ import annotations

from expectations.election_subjects import (
    ELECTED_LEADERS,
    ELECTIONS,
    HAS_EVENTS,
    IS_SEEN_TO_BEGIN,
    IS_UNCLEAN_ELECTION,
    LEADERS,
)
from expectations.invariant import IS_LEO_BOUNDED, Invariant
from expectations.timeline_subjects import (
    HIGHEST_HW_BEFORE,
    POSSIBLE_HW_BEFORE,
)
from schemas import columns as C
from schemas.kinds import Severity

# fmt: off
ELECTION_RULES = (
    Invariant(
        "OneLeaderPerEpoch", ELECTED_LEADERS,
        # Without topic ids a topic that was deleted and made again begins at epoch 0 again, perhaps elsewhere.
        known=f"{C.TOPIC_ID} <> '' OR size({LEADERS}) = 1",
        holds=f"size({LEADERS}) = 1",
        observed=(LEADERS,), severity=Severity.CRITICAL,
        why="The controller gives an epoch to one leader; two would append different records at one offset.",
        source="PartitionRegistration.java:256 merge; KIP-101",
        what_to_do="Split brain: compare both brokers' logs of the epoch (`segment_batches`, equal offsets, other CRC).",
    ),
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
        source="docs/tables.md, leader_timeline",
        what_to_do="Rows of the timeline are gone: run `tidegauge reconstruct` again.",
    ),
)
# fmt: on
