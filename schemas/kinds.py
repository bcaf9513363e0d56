"""The closed vocabularies of the tables: values that columns such as `event_type` or `kind` may take."""

from __future__ import annotations

from enum import StrEnum

KAFKA_VERSION = "kafka.version"
"""The setting that "Kafka version: …" gives: no setting of Kafka, but as good as one."""


class EventType(StrEnum):
    """A step of the protocol at a partition's leader."""

    APPEND = "APPEND"
    """Records were appended: the leader's LEO rises."""
    FETCH = "FETCH"
    """A follower asked, and so told the leader its own LEO."""
    BECOME_LEADER = "BECOME_LEADER"
    """A broker began to lead the partition."""
    BECOME_FOLLOWER = "BECOME_FOLLOWER"
    """Reserved: no event of a leader."""
    ISR_CHANGE = "ISR_CHANGE"
    """The leader learned of another ISR or assignment, or asked for one."""
    TRUNCATE = "TRUNCATE"
    """Reserved: the table `truncations` has them, with their replicas."""
    RESTART = "RESTART"
    """The leader's process was killed while it led; event_time is when it had loaded its log again."""
    LOG_START = "LOG_START"
    """The leader's log start moved (retention, DeleteRecords)."""
    WITNESS = "WITNESS"
    """No request: a response or a line proves what no logged request shows."""


class ChangeKind(StrEnum):
    """How a broker came to a change of leader, ISR or assignment."""

    BECOME_LEADER = "become_leader"
    """`Partition.makeLeader` with a leader epoch new to this process ("Leader … starts at leader epoch")."""
    BECOME_FOLLOWER = "become_follower"
    """`Partition.makeFollower` with a leader epoch new to this process ("Follower … starts at leader epoch")."""
    LEADER_METADATA = "leader_metadata"
    """Newer metadata applied by the leader of the same epoch ("Skipped the become-leader state change")."""
    FOLLOWER_METADATA = "follower_metadata"
    """Newer metadata applied by a follower of the same epoch ("Skipped the become-follower state change")."""
    ISR_UPDATED = "isr_updated"
    """Success of the leader's own AlterPartition, or ZooKeeper write ("ISR updated to …")."""
    ISR_SHRINK_PROPOSED = "isr_shrink_proposed"
    """The leader asks for a smaller ISR ("Shrinking ISR from … to …"); `isr` is the proposal. Commits nothing."""
    ISR_EXPAND_PROPOSED = "isr_expand_proposed"
    """The leader asks for a larger ISR ("Expanding ISR from … to …", up to 2.7), `isr`. Commits nothing."""
    ISR_CHANGE_REJECTED = "isr_change_rejected"
    """The controller refused ("Failed to alter partition"): back to the last committed ISR."""
    ASSIGNED = "assigned"
    """A LEADER_AND_ISR request of the request log: tells replicas and ISR, before the broker applies it."""


class StatementKind(StrEnum):
    """A broker's own word on an offset, in lines every broker writes by default (INFO) or in its files."""

    BECAME_LEADER_LEO = "became_leader_log_end_offset"
    """LEO with which the broker began to lead ("Leader … starts at leader epoch … from offset N")."""
    BECAME_LEADER_HW = "became_leader_high_watermark"
    """HW in the same line."""
    BECAME_FOLLOWER_LEO = "became_follower_log_end_offset"
    """LEO with which the broker began to follow ("Follower … starts at leader epoch … from offset N")."""
    BECAME_FOLLOWER_HW = "became_follower_high_watermark"
    """HW in the same line."""
    LEADER_METADATA_HW = "leader_metadata_high_watermark"
    """HW in "Skipped the become-leader state change … Current high watermark H"."""
    LOADED_HW = "loaded_high_watermark"
    """"Log loaded for partition … with initial high watermark H": the checkpoint, clamped; starts a process's log."""
    LOADED_LEO = "loaded_log_end_offset"
    """`logEndOffset` of "Completed load of Log(…)": the recovered log."""
    LOADED_LOG_START = "loaded_log_start_offset"
    """`logStartOffset` of the same line."""
    TRUNCATED_TO = "truncated_to"
    """"Truncating to offset N": records at and above N are gone from this replica."""
    TRUNCATED_WITHOUT_EFFECT = "truncated_without_effect"
    """"Truncating to N has no effect as the largest offset in the log is M": `offset` is M + 1, the LEO."""
    TRUNCATION_TARGET = "truncation_target"
    """"Truncating partition … with TruncationState(offset=N …)" of the fetcher: what it asked for."""
    TRUNCATION_TO_HW = "truncation_to_high_watermark"
    """That target is the replica's own HW ("due to local high watermark"); stands beside `TRUNCATION_TARGET`."""
    TRUNCATION_OUT_OF_RANGE = "truncation_out_of_range"
    """That target is the leader's LEO after OFFSET_OUT_OF_RANGE: beside `TRUNCATION_TARGET`, says the method."""
    TRUNCATED_BELOW_HW = "truncated_below_high_watermark"
    """"Truncating … to offset N below high watermark H": `offset` is H, the replica's own HW before the cut."""
    HW_LOWERED_TO = "high_watermark_lowered_to"
    """"Non-monotonic update of high watermark from … to …" (WARN): this replica's HW went down to `offset`."""
    TRUNCATED_FULLY_AT = "truncated_fully_at"
    """The whole log given up and started again at this offset."""
    LOG_START_MOVED = "log_start_offset"
    """"Incremented log start offset to N"."""
    SEGMENT_ROLLED = "segment_rolled"
    """"Rolled new log segment at offset N": the replica's LEO was N, and an append to the new segment followed."""
    SHRINKING_HW = "shrinking_high_watermark"
    """HW of the leader in "Shrinking ISR …"."""
    SHRINKING_LEO = "shrinking_log_end_offset"
    """LEO of the leader in the same line."""
    SHRINKING_REMOTE_LEO = "shrinking_remote_log_end_offset"
    """Remote LEO of a replica that is to leave, in the same line; `replica_id` names it."""
    FETCHER_START = "fetcher_start_offset"
    """Offset a follower starts fetching at ("Added fetcher … InitialFetchState")."""
    CHECKPOINT_HW = "checkpoint_high_watermark"
    """Line of `replication-offset-checkpoint`."""
    CHECKPOINT_LOG_START = "checkpoint_log_start_offset"
    """Line of `log-start-offset-checkpoint`."""
    PARTITION_CREATED = "partition_created"
    """"Creating new partition … with topic id …": no offset (-1); tells the topic id."""
    LOG_DELETED = "log_deleted"
    """"Log for partition … is renamed to …-delete and is scheduled for deletion": no offset (-1); a replica no more."""
    PROCESS_STARTING = "process_starting"
    """First line of a broker process ("Transition from SHUTDOWN to STARTING"), before its logs; no partition."""
    PROCESS_STARTED = "process_started"
    """"Kafka version: …": a broker process began; no partition. In KRaft after the logs and roles are loaded."""
    PROCESS_STOPPING = "process_stopping"
    """A controlled shutdown began; no partition, `offset` -1."""


class Exactness(StrEnum):
    """How an offset of a timeline is known."""

    EXACT = "exact"
    """Rebuilt, step by step, from requests."""
    STATED = "stated"
    """A broker's own word: the history before is missing, a checkpoint was loaded, or a line bears witness."""
    BOUNDED = "bounded"
    """Between the `_low` and the `_high` of the row: the capture does not tell more."""


class Role(StrEnum):
    """What a replica is in a leader epoch."""

    LEADER = "LEADER"
    FOLLOWER = "FOLLOWER"


class Method(StrEnum):
    """The rule by which a replica cut its log."""

    HIGH_WATERMARK = "high_watermark"
    """To its own HW (before KIP-101, 0.11, and for logs without epochs)."""
    LEADER_EPOCH = "leader_epoch"
    """To the end of the leader's epoch that it asked for (OffsetsForLeaderEpoch, KIP-101 and KIP-279)."""
    FETCH_DIVERGENCE = "fetch_divergence"
    """To the diverging epoch's end that a FETCH response told it (KIP-595)."""
    OUT_OF_RANGE = "out_of_range"
    """The leader's log ended before the replica's: to the leader's LEO (`fetchOffsetAndTruncate`)."""
    FULL = "full"
    """Reserved: a log given up whole begins anew past its end (`truncateFullyAndStartAt`), so that no LEO goes back."""
    RESTART = "restart"
    """The unflushed tail was gone when the replica's process loaded its log."""


class IncidentKind(StrEnum):
    """What a row of `incidents` has found."""

    COMMITTED_RECORDS_LOST = "COMMITTED_RECORDS_LOST"
    """The log of a later elected leader does not hold records below the highest HW any leader had reached."""
    UNCOMMITTED_RECORDS_LOST = "UNCOMMITTED_RECORDS_LOST"
    """The same of records at and above it; producers with acks=1 may have been told otherwise."""
    RECORDS_LOST_UNKNOWN_IF_COMMITTED = "RECORDS_LOST_UNKNOWN_IF_COMMITTED"
    """The same, where the capture does not tell how far the HW had come; the evidence says why."""
    TRUNCATED_BELOW_HIGH_WATERMARK = "TRUNCATED_BELOW_HIGH_WATERMARK"
    """A replica cut its log below the partition's HW; no loss where the leader still holds the records."""
    SILENT_TRUNCATION = "SILENT_TRUNCATION"
    """A log began with less than it had held below its own HW, or a leader's, and no line says that it was cut."""
    UNCLEAN_ELECTION = "UNCLEAN_ELECTION"
    """A leader elected from outside the ISR."""
    NO_LEADER = "NO_LEADER"
    """Nobody led the partition."""
    HIGH_WATERMARK_STALLED = "HIGH_WATERMARK_STALLED"
    """HW below the leader's LEO, and it did not move for longer than a healthy follower takes."""
    HIGH_WATERMARK_REGRESSED = "HIGH_WATERMARK_REGRESSED"
    """A new leader began with a lower HW than an earlier one had reached."""
    ISR_SHRUNK = "ISR_SHRUNK"
    """A replica left the committed ISR; until it was back."""
    ISR_EXPANDED = "ISR_EXPANDED"
    """A replica joined the committed ISR."""
    UNDER_MIN_ISR = "UNDER_MIN_ISR"
    """The committed ISR was smaller than the effective min.insync.replicas."""
    STALE_ISR_MEMBER = "STALE_ISR_MEMBER"
    """A replica that ought to have left the ISR by the lag rule and did not."""
    LOG_DIVERGENCE = "LOG_DIVERGENCE"
    """Two replicas held different records at the same offsets."""
    CONSUMER_READ_LOST_RECORDS = "CONSUMER_READ_LOST_RECORDS"
    """A consumer was given records that later vanished, and read them; a warning where it may have."""
    TWO_LEADERS_IN_ONE_EPOCH = "TWO_LEADERS_IN_ONE_EPOCH"
    """Contradiction: lines name two leaders of one leader epoch."""
    OFFSET_WENT_BACK = "OFFSET_WENT_BACK"
    """Contradiction: a follower's LEO fell, and neither a truncation nor a restart is told."""
    ISR_MEMBER_IS_NO_REPLICA = "ISR_MEMBER_IS_NO_REPLICA"
    """Contradiction: a member of the ISR is not assigned."""
    FETCH_SESSION_GAP = "FETCH_SESSION_GAP"
    """Contradiction: requests of a fetch session are missing."""


LOSSES = (
    IncidentKind.COMMITTED_RECORDS_LOST, IncidentKind.UNCOMMITTED_RECORDS_LOST,
    IncidentKind.RECORDS_LOST_UNKNOWN_IF_COMMITTED,
)  # fmt: skip
"""Findings of a range of records that the log of a later leader does not hold."""


class Severity(StrEnum):
    """How bad a finding or a broken rule is."""

    CRITICAL = "critical"
    """Something that Kafka promises did not hold, or was about to: look at it now."""
    WARNING = "warning"
    """Not as it should be; nothing promised is broken by it."""
    INFO = "info"
    """What happened, for the story of an incident."""


class Status(StrEnum):
    """A verdict; `unknown` is neither a pass nor a violation."""

    VALID = "valid"
    """Judged, and no row breaks it beyond what is tolerated."""
    INVALID = "invalid"
    """Rows break it."""
    UNKNOWN = "unknown"
    """The capture tells too little to judge."""
    ERROR = "error"
    """It could not be judged: the evaluation failed."""


class AppendSource(StrEnum):
    """What bears witness to an append."""

    REQUEST = "request"
    """A PRODUCE or WRITE_TXN_MARKERS line of the request log."""
    SEGMENT = "segment"
    """A batch of a segment dump that no line explains."""
