"""What brokers write of offsets, leaders and ISRs in state-change.log and server.log: each wording once, as data.

The first wording (sources/wording.py) of a line that matches counts. Its `cue` is what every such line contains: a line
with the cue that no wording matches was cut, or has a wording not known here, and is rejected. Of the logger the last
part of the name counts, as packages moved.
"""

from __future__ import annotations

from schemas.kinds import ChangeKind, StatementKind
from sources.line_patterns_of_0_11 import OLDEST_WORDINGS
from sources.wording import (
    BROKER,
    FETCHER,
    FOLLOWER_STATES,
    LEADER_STATES,
    LOADED_STATES,
    LOG_TP,
    NO_REPLICAS_LOG,
    PARTITION,
    PARTITION_TP,
    REGISTRATION,
    RESET_STATES,
    SHRINKING_STATES,
    STATE,
    TOPIC_ID,
    TP,
    Wording,
)  # fmt: skip

S, K = StatementKind, ChangeKind
# fmt: off
STARTS, SKIPPED, SKIPPED_FOLLOWER = "starts at leader epoch ", "Skipped the become-leader", "Skipped the become-follower"
HW_LOADED, OF_FUTURE_LOG = "high watermark loaded", "of a future log"
NOTHING_CUT = "fetch offset reset, nothing cut"
FUTURE_LOG_CREATED, FUTURE_LOG_LOADED, FUTURE_LOG_IN_PLACE = "future log created", "future log loaded", "future log in place"

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

SERVER_WORDINGS = (
    Wording("shrinking ISR", "2.2-", "Partition", "Shrinking ISR from ",
            PARTITION_TP + r"Shrinking ISR from [\d,]* to {isr}\. Leader: \(highWatermark: {high_watermark}, endOffset: {log_end_offset}\)\. "
            r"Out of sync replicas: {laggards}\.$", K.ISR_SHRINK_PROPOSED, SHRINKING_STATES),
    Wording("shrinking ISR", "1.0-2.1", "Partition", "Shrinking ISR from ", PARTITION_TP + r"Shrinking ISR from [\d,]+ to {isr}$", K.ISR_SHRINK_PROPOSED),
    Wording("expanding ISR", "1.0-2.7", "Partition", "Expanding ISR from ", PARTITION_TP + r"Expanding ISR from [\d,]* to {isr}$", K.ISR_EXPAND_PROPOSED),
    Wording("ISR updated", "2.4-", "Partition", "ISR updated ",
            PARTITION_TP + r"ISR updated (?:from AlterIsr )?to \[?{isr}\]? *(?:\(under-min-isr\))? *and (?:zkVersion|version) updated to \[?{partition_epoch}\]?$",
            K.ISR_UPDATED),
    Wording("ISR change rejected", "3.3-", "Partition", "Failed to alter partition to ",
            PARTITION_TP + r"Failed to alter partition to .* since the controller rejected the request with \w+\. .* latest committed state "
            r"CommittedPartitionState[(\[]isr=\w*[(\[]{isr}[)\]]", K.ISR_CHANGE_REJECTED),
    Wording("ISR change rejected", "1.0-2.7", "Partition", "Cached zkVersion ",
            PARTITION_TP + r"Cached zkVersion \[?{partition_epoch}\]? not equal to that in zookeeper, skip updating ISR$", K.ISR_CHANGE_REJECTED),
    Wording(HW_LOADED, "2.4-", "Partition", "Log loaded for partition ",
            PARTITION_TP + r"Log loaded for partition \S+ with initial high watermark {offset}$", states=((S.LOADED_HW, "offset"),)),
    Wording(HW_LOADED, "1.0-2.3", "Replica", "Replica loaded for partition ",
            "Replica loaded for partition " + TP + r" with initial high watermark {offset}$", states=((S.LOADED_HW, "offset"),)),
    Wording("no checkpoint", "0.8-", "Partition", "No checkpointed highwatermark", r".*", ignored="no checkpointed high watermark"),
    Wording("truncation without effect", "1.0.2-", "UnifiedLog", " has no effect as the largest offset in the log is ",
            LOG_TP + r"Truncating to -?\d+ has no effect as the largest offset in the log is {last_offset}$",
            states=((S.TRUNCATED_WITHOUT_EFFECT, "last_offset"),)),
    Wording("truncation", "1.0.2-", "UnifiedLog", "Truncating to offset ", LOG_TP + r"Truncating to offset {offset}$", states=((S.TRUNCATED_TO, "offset"),)),
    Wording("truncation below the high watermark", "4.2-", "UnifiedLog", " below high watermark ",
            r"(?:\[[^\]]*\] )?Truncating (?:future )?" + TP + r" to offset -?\d+ below high watermark {checked_high_watermark}$",
            states=((S.TRUNCATED_BELOW_HW, "checked_high_watermark"),)),
    Wording("high watermark lowered", "2.8-", "UnifiedLog", "Non-monotonic update of high watermark",
            LOG_TP + r"Non-monotonic update of high watermark from \(offset=-?\d+.*\) to \(offset={offset}\D", states=((S.HW_LOWERED_TO, "offset"),)),
    Wording("log start moved", "2.6-", "UnifiedLog", "Incremented log start offset to ",
            LOG_TP + "Incremented log start offset to {offset} due to ", states=((S.LOG_START_MOVED, "offset"),)),
    Wording("log start moved", "1.0.2-2.5", "UnifiedLog", "Incrementing log start offset to ",
            LOG_TP + r"Incrementing log start offset to {offset}$", states=((S.LOG_START_MOVED, "offset"),)),
    Wording("segment rolled", "3.1-", "LocalLog", "Rolled new log segment at offset ",
            LOG_TP + r"Rolled new log segment at offset {offset} in [\d.]+ ms\.$", states=((S.SEGMENT_ROLLED, "offset"),)),
    Wording("segment rolled", "1.0.2-3.0", "UnifiedLog", "Rolled new log segment at offset ",
            LOG_TP + r"Rolled new log segment at offset {offset} in [\d.]+ ms\.$", states=((S.SEGMENT_ROLLED, "offset"),)),
    Wording(FUTURE_LOG_LOADED, "2.6-", "LogManager", "Completed load of Log(",
            r"Completed load of Log\(dir={directory}[/\\][^/\\,]*-future, (?:topicId={topic_id}, )?topic={topic}, partition={partition}, ",
            ignored=OF_FUTURE_LOG),
    Wording("other log loaded", "2.6-", "LogManager", "Completed load of Log(", r"Completed load of Log\(dir=[^,]*-(?:future|delete|stray), ",
            ignored=NO_REPLICAS_LOG),
    Wording("log loaded", "2.6-", "LogManager", "Completed load of Log(",
            r"Completed load of Log\(dir=[^,]*, (?:topicId={topic_id}, )?topic={topic}, partition={partition}, highWatermark=-?\d+, "
            r"lastStableOffset=-?\d+, logStartOffset={log_start_offset}, logEndOffset={log_end_offset}\) with ", states=LOADED_STATES),
    Wording("log loaded", "1.0.2-2.5", "UnifiedLog", "Completed load of log ",
            LOG_TP + r"Completed load of log with \d+ segments, log start offset {log_start_offset} and log end offset {log_end_offset} in ",
            states=LOADED_STATES),
    Wording("truncation asked for", "3.1-", "ReplicaFetcherThread", "Truncating partition ",
            FETCHER + "Truncating partition " + TP + r" with \w*TruncationState\(offset={offset}, completed=\w+\) due to leader epoch and offset ",
            states=((S.TRUNCATION_TARGET, "offset"),)),
    Wording("truncation to the high watermark", "3.1-", "ReplicaFetcherThread", "Truncating partition ",
            FETCHER + "Truncating partition " + TP + r" with \w*TruncationState\(offset={offset}, completed=\w+\) due to local high watermark {high_watermark}$",
            states=((S.TRUNCATION_TARGET, "offset"), (S.TRUNCATION_TO_HW, "high_watermark"))),
    Wording("truncation to the high watermark", "2.1-3.0", "ReplicaFetcherThread", "Truncating partition ",
            FETCHER + "Truncating partition " + TP + r" to local high watermark {high_watermark}$",
            states=((S.TRUNCATION_TARGET, "high_watermark"), (S.TRUNCATION_TO_HW, "high_watermark"))),
    Wording("truncation below the high watermark", "2.0-4.1", "ReplicaFetcherThread", " below high watermark ",
            FETCHER + "Truncating " + TP + r" to offset -?\d+ below high watermark {checked_high_watermark}$",
            states=((S.TRUNCATED_BELOW_HW, "checked_high_watermark"),)),
    Wording("out of range, leader is shorter", "1.0-", "ReplicaFetcherThread", "eset fetch offset for partition ",
            FETCHER + "Reset fetch offset for partition " + TP + r" from -?\d+ to current leader's latest offset {offset}$",
            states=RESET_STATES),
    # Up to 3.5 written also where the log goes on from its own end, and nothing is cut.
    Wording("out of range, leader starts later", "1.0-", "ReplicaFetcherThread", "eset fetch offset for partition ",
            FETCHER + "(?:R|Truncate fully and r)eset fetch offset for partition " + TP + r" from {local_end} to (?:the )?current leader's start offset {offset}(?: |$)",
            states=((S.TRUNCATED_FULLY_AT, "offset"),)),
    Wording("out of range, nothing cut", "3.6-", "ReplicaFetcherThread", "eset fetch offset for partition ",
            FETCHER + "Reset fetch offset for partition .* to the current local replica's end offset ", ignored=NOTHING_CUT),
    Wording("fetchers", "2.1-", "ReplicaFetcherManager", "Added fetcher to broker ",
            r"\[ReplicaFetcherManager on broker {broker}\] Added fetcher to broker .* for partitions {fetchers}$"),
    Wording("topic's settings", "3.0-", "DynamicConfigPublisher", "Updating topic ",
            r"\[[^\]]*id={broker}\] Updating topic {topic} with new configuration : ?{settings}$"),
    Wording("cluster's settings", "3.0-", "DynamicConfigPublisher", "Updating cluster configuration ",
            r"\[[^\]]*id={broker}\] Updating cluster configuration : ?{settings}$"),
    Wording("broker's settings", "3.0-", "DynamicConfigPublisher", " with new configuration ",
            r"\[[^\]]*id={broker}\] Updating (?:broker|node) {target} with new configuration : ?{settings}$"),
    Wording("other settings", "3.6-", "DynamicConfigPublisher", " with new configuration ", r"\[[^\]]*\] Updating (?:client metrics|group) ",
            ignored="settings of no topic or broker"),
    Wording("topic's settings", "0.9-3.9", "DynamicConfigManager", "Processing override for entityPath: ",
            r"(?:\[[^\]]*\] )?Processing override for entityPath: topics/{topic} with config: {settings}$"),
    Wording("other settings", "0.9-3.9", "DynamicConfigManager", "Processing override for entityPath: ",
            r"(?:\[[^\]]*\] )?Processing override for entityPath: (?:clients|users|ips|brokers)", ignored="settings of no topic or broker"),
    Wording(FUTURE_LOG_CREATED, "1.1-", "LogManager", "Created log for partition ",
            "Created log for partition " + TP + r" in {directory}[/\\][^/\\]+-future with properties ", ignored=OF_FUTURE_LOG),
    Wording(FUTURE_LOG_IN_PLACE, "1.1-", "LogManager", "replaced with the future replica for ",
            "The current replica is successfully replaced with the future replica for " + TP + "$", ignored=OF_FUTURE_LOG),
    Wording("log created", "1.1-", "LogManager", "Created log for partition ",
            "Created log for partition " + TP + r" in .* with properties {settings}$"),
    # A copy that is given up (`-future`) is renamed in the same words; a replica that goes on fetching is still one.
    Wording("log deleted", "0.10.1-", "LogManager", "is scheduled for deletion",
            "Log for partition " + TP + r" is renamed to \S.*-(?:delete|stray) and is scheduled for deletion$", states=((S.LOG_DELETED, ""),)),
    Wording("process starting", "2.8-", "BrokerServer", "Transition from SHUTDOWN to STARTING",
            r"\[BrokerServer id={broker}\] Transition from SHUTDOWN to STARTING$", states=((S.PROCESS_STARTING, ""),)),
    Wording("process starting", "0.8-3.9", "KafkaServer", "starting", r"(?:\[KafkaServer id={broker}\] )?starting$", states=((S.PROCESS_STARTING, ""),),
            is_cue_specific=False),
    Wording("process started", "0.8-", "AppInfoParser", "Kafka version", r"Kafka version ?: {version}$", states=((S.PROCESS_STARTED, ""),)),
    Wording("process stopping", "2.8-", "BrokerServer", "] shutting down", r"\[BrokerServer id={broker}\] shutting down$",
            states=((S.PROCESS_STOPPING, ""),), is_cue_specific=False),
    Wording("process stopping", "1.0-3.9", "KafkaServer", "] shutting down", r"\[KafkaServer id={broker}\] shutting down$",
            states=((S.PROCESS_STOPPING, ""),), is_cue_specific=False),
)
# fmt: on

WORDINGS = (*STATE_CHANGE_WORDINGS, *SERVER_WORDINGS, *OLDEST_WORDINGS)

SAME_LOGGER = {
    "Log": "UnifiedLog",
    "ZkConfigManager": "DynamicConfigManager",
    "BrokerMetadataPublisher": "DynamicConfigPublisher",
}
"""Loggers that were renamed, to the name the wordings have."""
