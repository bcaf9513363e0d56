"""Every column of every table, once: its name, its type and what it means.

A `Field` is a `str` (its own name) that also carries a Spark type and a meaning, so that it goes wherever Spark
takes a column name and a typing error is an `AttributeError`, not a NULL. It is this project's one trick.

Types are objects and not DDL text: `StructType.fromDDL` needs a running JVM, an import must not.
"""

from __future__ import annotations

from typing import Self

from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    DataType,
    IntegerType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

UNKNOWN_OFFSET = -1
"""`LogOffsetMetadata.UNKNOWN_OFFSET` of Kafka: not heard from. It takes part in a minimum and so holds the HW."""
NO_BOUND = 2**63 - 1
"""The upper bound of an offset that nothing bounds: no evidence says how far it came."""

UNKNOWN_EPOCH = -1
"""`RecordBatch.NO_PARTITION_LEADER_EPOCH` of Kafka: an epoch that no line tells."""

ALL_ACKS = -1
"""acks of a producer that waits for every in-sync replica."""
READ_COMMITTED = 1
"""isolation_level of a consumer that reads up to the LSO (`IsolationLevel.READ_COMMITTED`)."""
NO_REPLICA = -1
"""No broker: the leader of a partition without one, the replica id of a consumer, the broker of a cluster-wide row."""
NOBODY = "CAST(array() AS array<int>)"
"""SQL: no replicas, where a list of them is wanted: an `array()` by itself is one of texts."""


class Field(str):
    """A column: a `str` that knows its type and its meaning."""

    __slots__ = ("comment", "type")

    type: DataType
    comment: str

    def __new__(cls, name: str, data_type: DataType, comment: str) -> Self:
        """Return the column `name`; `comment` is the sentence the data dictionary shows."""
        field = super().__new__(cls, name)
        field.type = data_type
        field.comment = comment
        return field

    def meaning(self, comment: str) -> Self:
        """Return the same column where it means something narrower: a table that lists it so shows this sentence."""
        return type(self)(str(self), self.type, comment)

    def __reduce__(self) -> tuple[object, tuple[str, DataType, str]]:
        """Let a column be pickled and deep-copied: `str.__reduce__` would lose type and meaning."""
        return Field, (str(self), self.type, self.comment)


INT, LONG, TEXT, BOOL, TIME = IntegerType(), LongType(), StringType(), BooleanType(), TimestampType()
INTS = ArrayType(IntegerType())
SPANS = ArrayType(StructType([StructField("from", TimestampType()), StructField("to", TimestampType())]))
TEXTS = ArrayType(StringType())
OFFSET_BY_REPLICA = MapType(IntegerType(), LongType())
COUNT_BY_REASON = MapType(StringType(), LongType())
KEYS = MapType(StringType(), StringType())

# fmt: off

# ---- where a row belongs
CLUSTER_ID             = Field("cluster_id",             TEXT, "Kafka cluster; all deliveries of a cluster are one history.")
CAPTURE_ID             = Field("capture_id",             TEXT, "Delivery the row came with: by default a digest of its files.")
TOPIC                  = Field("topic",                  TEXT, "Topic name.")
TOPIC_ID               = Field("topic_id",               TEXT, "Topic id (KIP-516): a re-created topic has another one. Empty where the version has none, name#2 of a second topic then.")
PARTITION              = Field("partition",              INT,  "Partition of the topic.")
BROKER_ID              = Field("broker_id",              INT,  "Broker whose word or work this is; -1 where it is the cluster's.")
SOURCE_FILE            = Field("source_file",            TEXT, "File the row was read from, relative to the capture folder.")
SOURCE_LINE            = Field("source_line",            LONG, "Line of that file, from 1.")

# ---- time and order
EVENT_TIME             = Field("event_time",             TIME, "When it happened, on the clock of the row's broker (UTC, microseconds).")
RESPONSE_TIME          = Field("response_time",          TIME, "When the answer was complete and handed to the network, on the leader's clock.")
LOCAL_TIME_US          = Field("local_time_us",          LONG, "Microseconds the broker worked on the request: event_time is exact to this, not better; where a coordinator has to verify a transaction first (KIP-890, Kafka 3.6), to the response.")
EVENT_SEQ              = Field("event_seq",              LONG, "Total order of the events of one partition and leader epoch, made by replay/.")
LEADER_EPOCH           = Field("leader_epoch",           INT,  "Term of the leader, bumped by every election; -1 unknown.")
PARTITION_EPOCH        = Field("partition_epoch",        INT,  "Version of the partition's metadata (zkVersion before KRaft); -1 unknown.")

# ---- requests
CLIENT_ID              = Field("client_id",              TEXT, "Client id of the request.")
ERROR_CODE             = Field("error_code",             INT,  "Kafka's error code of this partition in the response; 0 is success.")
ACKS                   = Field("acks",                   INT,  "acks of the producer: -1 all, 1, 0; NULL for an append that no PRODUCE request made.")
BASE_OFFSET            = Field("base_offset",            LONG, "Offset of the first record of the append; -1 unknown or not appended.")
LAST_OFFSET            = Field("last_offset",            LONG, "Offset of the last record of the append; LEO after it = last_offset + 1; -1 until a dump or a later line tells.")
IS_CONTROL             = Field("is_control",             BOOL, "The batch holds a transaction marker.")
IS_TRANSACTIONAL       = Field("is_transactional",       BOOL, "The batch belongs to a transaction.")
PRODUCER_ID            = Field("producer_id",            LONG, "Producer id of an idempotent or transactional batch; -1 otherwise.")
TRANSACTION_RESULT     = Field("transaction_result",     TEXT, "COMMIT or ABORT for a transaction marker, else NULL.")
APPEND_SOURCE          = Field("append_source",          TEXT, "What bears witness to the append: request (a PRODUCE line, or WRITE_TXN_MARKERS) or segment (a batch that no line explains).")
REPLICA_ID             = Field("replica_id",             INT,  "Replica (a broker id); -1 for a consumer's fetch, or for none.")
REPLICA_EPOCH          = Field("replica_epoch",          LONG, "Broker epoch the fetching replica states (KIP-903); -1 unknown.")
FETCH_OFFSET           = Field("fetch_offset",           LONG, "Offset the fetch asks for: a follower's own LEO.")
CURRENT_LEADER_EPOCH   = Field("current_leader_epoch",   INT,  "Leader epoch the fetcher believes in (KIP-320); -1 not stated.")
LAST_FETCHED_EPOCH     = Field("last_fetched_epoch",     INT,  "Epoch of the last record the fetcher has (KIP-595); -1 not stated.")
SESSION_ID             = Field("session_id",             INT,  "Fetch session (KIP-227); 0 without one.")
SESSION_EPOCH          = Field("session_epoch",          INT,  "Number of the request in its fetch session: 0 full, then 1, 2, ...; -1 without a session.")
SESSION_UNBROKEN_SINCE = Field("session_unbroken_since", INT,  "Session epoch since which no request of the fetch session is missing from the capture, up to this one; -1 without a session.")
ISOLATION_LEVEL        = Field("isolation_level",        INT,  "0 read_uncommitted, 1 read_committed.")
IS_PARKED              = Field("is_parked",              BOOL, "The fetch waited in purgatory (DelayedFetch); its response was read again at completion.")
IS_IMPLIED             = Field("is_implied",             BOOL, "Neither request nor response names the partition: the fetch session does.")
RECORDS_SIZE           = Field("records_size",           LONG, "Bytes of records in the response; -1 where the response omits the partition.")
RESPONSE_HIGH_WATERMARK     = Field("response_high_watermark",     LONG, "HW in the response; -1 in an error or where the response omits the partition.")
SESSION_HIGH_WATERMARK      = Field("session_high_watermark",      LONG, "HW in the response or, where that omits the partition, the one that its fetch session was told last: the leader's when it answered; -1 unknown.")
RESPONSE_LAST_STABLE_OFFSET = Field("response_last_stable_offset", LONG, "LSO in the response; -1 likewise.")
RESPONSE_LOG_START_OFFSET   = Field("response_log_start_offset",   LONG, "Leader's log start offset in the response; -1 likewise.")
DIVERGING_EPOCH        = Field("diverging_epoch",        INT,  "Epoch in the response from which the fetcher's log diverges (KIP-595); -1 none.")
DIVERGING_END_OFFSET   = Field("diverging_end_offset",   LONG, "End offset of that epoch at the leader; -1 none.")

# ---- leadership
CHANGE_KIND            = Field("change_kind",            TEXT, "How the broker learned of it.")
LEADER_ID              = Field("leader_id",              INT,  "Leader of the partition; -1 none.")
ISR                    = Field("isr",                    INTS, "Committed in-sync replicas, ascending; NULL where the line does not tell.")
REPLICAS               = Field("replicas",               INTS, "Assigned replicas, in the assignment's order; NULL where the line does not tell.")
ADDING_REPLICAS        = Field("adding_replicas",        INTS, "Replicas a reassignment adds; NULL where the line does not tell.")
REMOVING_REPLICAS      = Field("removing_replicas",      INTS, "Replicas a reassignment removes; NULL where the line does not tell.")
IS_UNCLEAN             = Field("is_unclean",             BOOL, "leaderRecoveryState is RECOVERING: this leader, or one before it, was elected from outside the ISR, and no leader has changed the ISR since; NULL unknown. Of elections themselves see the incidents UNCLEAN_ELECTION.")
OFFSET                 = Field("offset",                 LONG, "The offset that is stated.")
KIND                   = Field("kind",                   TEXT, "Which one of its table's kinds the row is.")
NAME                   = Field("name",                   TEXT, "Name of a setting, as Kafka writes it.")
VALUE                  = Field("value",                  TEXT, "Its value, as Kafka writes it; NULL where the setting was removed.")

# ---- segments, metadata log
BATCH_SIZE             = Field("batch_size",             LONG, "Bytes of the batch in the segment.")
CREATE_TIME            = Field("create_time",            TIME, "Time stamp in the batch: the producer's clock, or the broker's for control batches.")
CRC                    = Field("crc",                    LONG, "CRC of the batch: equal batches of two replicas have equal CRCs.")
MAGIC                  = Field("magic",                  INT,  "Version of the batch format; below 2 a batch knows no leader epoch.")
START_OFFSET           = Field("start_offset",           LONG, "First offset of a leader epoch.")
END_OFFSET             = Field("end_offset",             LONG, "End of a leader epoch's records, exclusive.")
METADATA_OFFSET        = Field("metadata_offset",        LONG, "Offset of the record in the metadata log; of a snapshot's, that of the last record it holds.")
IS_FENCED              = Field("is_fenced",              BOOL, "The broker is fenced, or in controlled shutdown, from this record on.")
BROKER_EPOCH           = Field("broker_epoch",           LONG, "Registration epoch of the broker; -1 unknown.")

# ---- timelines
EVENT_TYPE             = Field("event_type",             TEXT, "The protocol's step.")
LOG_END_OFFSET         = Field("log_end_offset",         LONG, "Offset of the next record (LEO); an exclusive end.")
LOG_END_OFFSET_LOW     = Field("log_end_offset_low",     LONG, "Least LEO the evidence allows.")
LOG_END_OFFSET_HIGH    = Field("log_end_offset_high",    LONG, "Greatest LEO the evidence allows; 9223372036854775807 where nothing bounds it.")
REMOTE_LEO_MAP         = Field("remote_log_end_offset",  OFFSET_BY_REPLICA, "The leader's idea of each other replica's LEO, from its last fetch; -1 not heard from.")
REMOTE_LEO             = Field("remote_log_end_offset",  LONG, "The leader's idea of this replica's LEO, from its last fetch; -1 not heard from; of the leader: its LEO.")
MAXIMAL_ISR            = Field("maximal_isr",            INTS, "ISR the HW waits for: the committed one and a replica whose joining is in flight.")
MIN_ISR                = Field("min_isr",                INT,  "Effective min.insync.replicas at the leader: from 3.7 on (KIP-966) at most the number of assigned replicas, before that the setting itself; -1 unknown.")
IS_ISR_INFERRED        = Field("is_isr_inferred",        BOOL, "No line tells of the ISR: it is who was caught up within the lag time.")
IS_UNDER_MIN_ISR       = Field("is_under_min_isr",       BOOL, "The committed ISR is smaller than min_isr; NULL where that is unknown.")
HIGH_WATERMARK         = Field("high_watermark",         LONG, "Exclusive end of the committed records (HW).")
HIGH_WATERMARK_LOW     = Field("high_watermark_low",     LONG, "Least HW the evidence allows.")
HIGH_WATERMARK_HIGH    = Field("high_watermark_high",    LONG, "Greatest HW the evidence allows; 9223372036854775807 where nothing bounds it.")
HIGH_WATERMARK_LIMITED_BY = Field("high_watermark_limited_by", INTS, "Replicas whose LEO is what the HW waits at; empty where HW = LEO.")
LOG_START_OFFSET       = Field("log_start_offset",       LONG, "First offset still kept.")
LAST_STABLE_OFFSET     = Field("last_stable_offset",     LONG, "Exclusive end of what read_committed consumers see (LSO).")
EXACTNESS              = Field("exactness",              TEXT, "exact, stated (start value or witness is a broker's word) or bounded (between _low and _high).")
VALID_FROM             = Field("valid_from",             TIME, "From when the values hold, on that epoch's leader's clock.")
VALID_TO               = Field("valid_to",               TIME, "Until when they hold, exclusive; NULL = still.")
ROLE                   = Field("role",                   TEXT, "LEADER or FOLLOWER.")
IN_ISR                 = Field("in_isr",                 BOOL, "The replica is in the committed ISR.")
FROM_OFFSET            = Field("from_offset",            LONG, "Start of the range; of a truncation: the LEO before.")
TO_OFFSET              = Field("to_offset",              LONG, "Exclusive end of the range; of a truncation: the LEO after.")
HIGH_WATERMARK_BEFORE  = Field("high_watermark_before",  LONG, "The replica's own HW before the truncation, perhaps stale after a restart; -1 unknown.")
PARTITION_HIGH_WATERMARK_BEFORE = Field("partition_high_watermark_before", LONG, "Highest HW any leader had reached before; -1 unknown.")
METHOD                 = Field("method",                 TEXT, "Rule that cut.")
OUTCOME                = Field("outcome",                TEXT, "What a rule of truncation would have done to the range.")
WHAT_IF                = Field("what_if",                TEXT, "What was taken to be otherwise, as option=value.")
WHAT_IF_HIGH_WATERMARK = Field("what_if_high_watermark", LONG, "HW the leader would have had after the event.")
IS_STATED              = Field("is_stated",              BOOL, "A line of the broker's log says so too.")

# ---- findings and checks
INCIDENT_ID            = Field("incident_id",            TEXT, "Stable id of the finding.")
SEVERITY               = Field("severity",               TEXT, "critical, warning or info.")
STARTED_AT             = Field("started_at",             TIME, "When it began, on the leader's clock.")
ENDED_AT               = Field("ended_at",               TIME, "When it ended; NULL = still, or an instant.")
EVIDENCE               = Field("evidence",               TEXT, "In words: what shows it.")
RUN_ID                 = Field("run_id",                 TEXT, "Id of the check's run.")
RUN_AT                 = Field("run_at",                 TIME, "When the check ran.")
RULE                   = Field("rule",                   TEXT, "Name of the rule: a sentence with its scope.")
RULE_FINGERPRINT       = Field("rule_fingerprint",       TEXT, "Digest of the rule's table and predicate.")
STATUS                 = Field("status",                 TEXT, "valid, invalid, unknown or error.")
TABLE_NAME             = Field("table_name",             TEXT, "Table the rule reads.")
ROWS                   = Field("rows",                   LONG, "Rows the rule was judged on.")
VIOLATIONS             = Field("violations",             LONG, "Rows that break it.")
INPUT_VERSION          = Field("input_version",          LONG, "Delta version of the table that was read.")
ENGINE_VERSION         = Field("engine_version",         TEXT, "Version of tidegauge.")
VIOLATED_KEYS          = Field("keys",                   KEYS, "Key columns of the row that breaks the rule.")
THRESHOLDS             = Field("thresholds",             KEYS, "Violations that are tolerated, by topics; `*` is the rest.")
SUPPRESSED             = Field("suppressed",             LONG, "Violations among them that the configuration sets aside; of a broken rule also those it tolerates in some topics.")
NEW_VIOLATIONS         = Field("new_violations",         LONG, "Violations that the run before had not; NULL without --since last.")
VIOLATION_ID           = Field("violation_id",           TEXT, "Names the violation in every run: a digest of the rule's fingerprint and the line, or the keys.")
IS_NEW                 = Field("is_new",                 BOOL, "The run before had it not; NULL without --since last, or where that run kept too few to tell.")
EVENTS_AROUND          = Field("events_around",          TEXTS, "Of a rule's first violation: the leader's events around it, `>` before the one at it; else NULL.")
OBSERVED               = Field("observed",               KEYS, "Values of that row which the rule compares.")

# ---- files
DIGEST                 = Field("digest",                 TEXT, "SHA-256 of the file's content after decompression.")
REASON                 = Field("reason",                 TEXT, "Why the line was not used.")
LINE_TEXT              = Field("text",                   TEXT, "The line, at most 2,000 characters of it.")
LINES_READ             = Field("lines_read",             LONG, "Lines of the file: landed + rejected + ignored.")
LINES_LANDED           = Field("lines_landed",           LONG, "Lines that gave at least one row.")
LINES_REJECTED         = Field("lines_rejected",         LONG, "Lines that should have given a row and could not.")
LINES_IGNORED          = Field("lines_ignored",          LONG, "Lines that say nothing of offsets, by a named reason.")
BROKERS                = Field("brokers",                INTS, "Brokers that lines of the file name as their own; several where it is the log of several.")
FIRST_AT               = Field("first_at",               TIME, "Minute of the first line; NULL of a file whose lines have no time.")
LAST_AT                = Field("last_at",                TIME, "Minute of the last line.")
GAPS                   = Field("gaps",                   SPANS, "Stretches without a line that are too long for a running broker.")
IGNORED_BY_REASON      = Field("ignored_by_reason",      COUNT_BY_REASON, "Ignored lines by reason.")
# fmt: on

LINE = (CAPTURE_ID, SOURCE_FILE, SOURCE_LINE)
"""One line: a file that is rotated every day comes with each delivery under the same name."""

PARTITION_KEY = (CLUSTER_ID, TOPIC, TOPIC_ID, PARTITION)
"""One partition of one topic id: what the protocol runs for, and what every window of the engine is partitioned by."""

REPLICA_KEY = (*PARTITION_KEY, REPLICA_ID)
"""One replica of a partition, by the broker that holds it."""
BROKER_KEY = (CLUSTER_ID, BROKER_ID)
"""One broker of a cluster."""
EPOCH_KEY = (*PARTITION_KEY, LEADER_EPOCH)
"""One leader epoch of a partition."""
TIMELINE_ORDER = (LEADER_EPOCH, EVENT_SEQ)
"""The order of both timelines, whatever clocks say: within a partition that of its events, within a replica that of its
states."""


def on_partition(*more: str) -> list[str]:
    """Return the partition's key and `more` columns, as `DataFrame.join` takes them."""
    return [*PARTITION_KEY, *more]
