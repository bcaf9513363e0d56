"""What brokers write of leaders and followers in state-change.log: each wording once, as data."""

from __future__ import annotations

from schemas.kinds import ChangeKind, StatementKind
from sources.wording import (
    BROKER,
    FOLLOWER_STATES,
    LEADER_STATES,
    PARTITION,
    REGISTRATION,
    STATE,
    TOPIC_ID,
    TP,
    Wording,
)

S, K = StatementKind, ChangeKind
# fmt: off
STARTS, SKIPPED, SKIPPED_FOLLOWER = "starts at leader epoch ", "Skipped the become-leader", "Skipped the become-follower"

STATE_CHANGE_WORDINGS = (
    Wording("leader", "3.3-", "logger", STARTS,
            BROKER + "Leader " + TP + " with topic id " + TOPIC_ID + r" starts at leader epoch {leader_epoch} from offset {log_end_offset} "
            r"with partition epoch {partition_epoch}, high watermark {high_watermark}, ISR \[{isr}\], adding replicas \[{adding_replicas}\] "
            r"and removing replicas \[{removing_replicas}\].* [Pp]revious leader epoch was ", K.BECOME_LEADER, LEADER_STATES),
    Wording("leader", "2.6-3.2", "logger", STARTS,
            BROKER + "Leader " + TP + " starts at leader epoch {leader_epoch} from offset {log_end_offset} with high watermark {high_watermark} "
            r"ISR \[{isr}\] addingReplicas \[{adding_replicas}\] removingReplicas \[{removing_replicas}\]\.", K.BECOME_LEADER, LEADER_STATES),
    Wording("leader", "2.4.1-2.5", "Partition", STARTS,
            PARTITION + TP + r" starts at leader epoch {leader_epoch} from offset {log_end_offset} with high watermark {high_watermark}\.",
            K.BECOME_LEADER, LEADER_STATES),
    Wording("leader", "1.0-2.4.0", "Partition", "starts at Leader Epoch ",
            PARTITION + TP + r" starts at Leader Epoch {leader_epoch} from offset {log_end_offset}\. ", K.BECOME_LEADER, LEADER_STATES[:1]),
    # "Previous leader" of 3.6.0-4.1 is the new one (its fields are overwritten before the line is written): not read.
    Wording("follower", "3.3-", "logger", STARTS,
            BROKER + "Follower " + TP + "(?: with topic id " + TOPIC_ID + ")? starts at leader epoch {leader_epoch} from offset {log_end_offset} "
            r"with partition epoch {partition_epoch} and high watermark {high_watermark}\. Current leader is {leader_id}\.", K.BECOME_FOLLOWER, FOLLOWER_STATES),
    Wording("follower", "2.6-3.2", "logger", STARTS,
            BROKER + "Follower " + TP + r" starts at leader epoch {leader_epoch} from offset {log_end_offset} with high watermark {high_watermark}\.",
            K.BECOME_FOLLOWER, FOLLOWER_STATES),
    Wording("leader's metadata", "3.3-4.1", "logger", SKIPPED,
            BROKER + "Skipped the become-leader state change for " + TP + " with topic id " + TOPIC_ID + " and partition state " + STATE +
            r" since it is already the leader with leader epoch {leader_epoch}\. Current high watermark {high_watermark}, ISR \[",
            K.LEADER_METADATA, ((S.LEADER_METADATA_HW, "high_watermark"),)),
    Wording("leader's metadata", "4.2-", "logger", SKIPPED,
            BROKER + "Skipped the become-leader state change for " + TP + " with topic id " + TOPIC_ID + ", partition registration " + REGISTRATION +
            r" and isNew=\w+ since it is already the leader with leader epoch {leader_epoch}\. Current high watermark {high_watermark}, ISR \[",
            K.LEADER_METADATA, ((S.LEADER_METADATA_HW, "high_watermark"),)),
    Wording("follower's metadata", "3.3-4.1", "logger", SKIPPED_FOLLOWER,
            BROKER + "Skipped the become-follower state change for " + TP + " with topic id " + TOPIC_ID + " and partition state " + STATE +
            r" since it is already a follower with leader epoch {leader_epoch}\.", K.FOLLOWER_METADATA),
    Wording("follower's metadata", "4.2-", "logger", SKIPPED_FOLLOWER,
            BROKER + "Skipped the become-follower state change for " + TP + " with topic id " + TOPIC_ID + ", partition registration " + REGISTRATION +
            r" and isNew=\w+ since it is already a follower with leader epoch {leader_epoch}\.", K.FOLLOWER_METADATA),
    Wording("older metadata", "3.3-", "logger", SKIPPED, r".* since the leader is already at a newer partition epoch",
            ignored="older metadata, not applied"),
    Wording("older metadata", "3.3-", "logger", SKIPPED_FOLLOWER, r".* since the follower is already at a newer partition epoch",
            ignored="older metadata, not applied"),
    Wording("leader's metadata", "3.0-3.2", "logger", SKIPPED, r".* because this partition is already a local leader\.",
            ignored="metadata applied, but not told"),
    Wording("storage error", "3.0-", "logger", SKIPPED, r".* with topic id \S+ due to (?:a )?(?:storage|disk) error",
            ignored="role not taken, the disk failed"),
    Wording("storage error", "3.0-", "logger", SKIPPED_FOLLOWER, r".* with topic id \S+ due to (?:a )?(?:storage|disk) error",
            ignored="role not taken, the disk failed"),
    Wording("storage error", "1.0-3.9", "logger", SKIPPED, r".* state change with correlation id .* offline due to (?:storage|disk) error",
            ignored="role not taken, the disk failed"),
    Wording("storage error", "1.0-3.9", "logger", SKIPPED_FOLLOWER, r".* state change with correlation id .* offline due to (?:storage|disk) error",
            ignored="role not taken, the disk failed"),
    Wording("leader's metadata", "1.0-3.2", "logger", SKIPPED, r".* state change after marking",
            ignored="metadata applied, but not told"),
    Wording("follower's metadata", "1.0-3.2", "logger", SKIPPED_FOLLOWER, r".* state change (?:after marking|since)",
            ignored="metadata applied, but not told"),
    Wording("new partition", "2.8-", "logger", "Creating new partition ",
            BROKER + "Creating new partition " + TP + " with topic id " + TOPIC_ID + r"\.?(?: ?A topic with the same name .*)?$", states=((S.PARTITION_CREATED, ""),)),
)
# fmt: on
