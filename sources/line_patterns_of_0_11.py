"""What brokers of Kafka 0.11 to 1.0 write in words of their own: each wording once, as data."""

from __future__ import annotations

from schemas.kinds import ChangeKind, StatementKind
from sources.wording import LEADER_STATES, LOADED_STATES, NO_REPLICAS_LOG, RESET_STATES, TP, Wording

S, K = StatementKind, ChangeKind
OF_0_11 = r"Partition \[[^\s,]+,\d+\] on broker {broker}: "
TP_OF_0_11 = r"Partition \[{topic},{partition}\] on broker {broker}: "
# fmt: off
OLDEST_WORDINGS = (
    Wording("leader", "0.11", "Partition", "starts at Leader Epoch ",
            OF_0_11 + TP + r" starts at Leader Epoch {leader_epoch} from offset {log_end_offset}\. ", K.BECOME_LEADER, LEADER_STATES[:1]),
    Wording("shrinking ISR", "0.11", "Partition", "Shrinking ISR from ", TP_OF_0_11 + r"Shrinking ISR from [\d,]+ to {isr}$", K.ISR_SHRINK_PROPOSED),
    Wording("expanding ISR", "0.11", "Partition", "Expanding ISR from ", TP_OF_0_11 + r"Expanding ISR from [\d,]* to {isr}$", K.ISR_EXPAND_PROPOSED),
    Wording("ISR change rejected", "0.11", "Partition", "Cached zkVersion ",
            TP_OF_0_11 + r"Cached zkVersion \[{partition_epoch}\] not equal to that in zookeeper, skip updating ISR$", K.ISR_CHANGE_REJECTED),
    Wording("truncation without effect", "0.11-1.0.1", "UnifiedLog", " has no effect as the largest offset in the log is ",
            "Truncating " + TP + r" to -?\d+ has no effect as the largest offset in the log is {last_offset}\.$",
            states=((S.TRUNCATED_WITHOUT_EFFECT, "last_offset"),)),
    Wording("truncation", "0.11-1.0.1", "UnifiedLog", "Truncating log ", "Truncating log " + TP + r" to offset {offset}\.$", states=((S.TRUNCATED_TO, "offset"),)),
    Wording("log start moved", "0.11-1.0.1", "UnifiedLog", "Incrementing log start offset of partition ",
            "Incrementing log start offset of partition " + TP + " to {offset} in dir ", states=((S.LOG_START_MOVED, "offset"),)),
    Wording("log loaded", "0.11-1.0.1", "UnifiedLog", "Completed load of log ",
            "Completed load of log " + TP + r" with \d+ log segments, log start offset {log_start_offset} and log end offset {log_end_offset} in ",
            states=LOADED_STATES),
    Wording("other log loaded", "0.11-1.0.1", "UnifiedLog", "Completed load of log ", r"Completed load of log \S+-(?:future|delete) with ",
            ignored=NO_REPLICAS_LOG),
    Wording("out of range, leader is shorter", "0.11", "ReplicaFetcherThread", " reset its fetch offset from ",
            r"\[[\w-]+\], Replica {broker} for partition " + TP + r" reset its fetch offset from -?\d+ to current leader \d+'s latest offset {offset}$",
            states=RESET_STATES),
    Wording("out of range, leader starts later", "0.11", "ReplicaFetcherThread", " reset its fetch offset from ",
            r"\[[\w-]+\], Replica {broker} for partition " + TP + r" reset its fetch offset from {local_end} to current leader \d+'s start offset {offset}$",
            states=((S.TRUNCATED_FULLY_AT, "offset"),)),
    Wording("log created", "0.11-1.0", "LogManager", "Created log for partition ",
            r"Created log for partition \[{topic},{partition}\] in .* with properties {settings}$"),
    Wording("process stopping", "0.11", "KafkaServer", "], shutting down", r"\[Kafka Server {broker}\], shutting down$",
            states=((S.PROCESS_STOPPING, ""),), is_cue_specific=False),
)
# fmt: on
