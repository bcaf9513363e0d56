"""Every table, once: its name, what one row is, its columns in order, and the facts each row must satisfy alone."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructField, StructType

from schemas import columns as C
from schemas.columns import Field


@dataclass(frozen=True)
class Table:
    """A table: its columns in order, its row-local constraints (Delta CHECK), and its grain.

    That is what one row is: no two rows have the same values in these columns.
    """

    name: str
    comment: str
    grain: tuple[Field, ...]
    columns: tuple[Field, ...]
    constraints: tuple[tuple[str, str], ...] = ()

    @property
    def schema(self) -> StructType:
        """The table's Spark schema, comments included."""
        return StructType([StructField(str(c), c.type, metadata={"comment": c.comment}) for c in self.columns])

    @property
    def clustering(self) -> tuple[Field, ...]:
        """Columns the Delta table is clustered by: topic and partition, where it has them."""
        return tuple(c for c in (C.TOPIC, C.PARTITION) if c in self.columns)

    @property
    def parsed(self) -> tuple[Field, ...]:
        """Its columns as a parser gives them: it does not know of which cluster and which delivery a line is."""
        return tuple(c for c in self.columns if c not in LANDED)

    def conform(self, frame: DataFrame) -> DataFrame:
        """Return `frame` with exactly this table's columns, in order and type.

        Called at the two borders, ingest and write, never between. Raises Spark's AnalysisException on a missing
        column.
        """
        return frame.select(*[F.col(c).cast(c.type).alias(c) for c in self.columns])


LANDED = (C.CLUSTER_ID, C.CAPTURE_ID)
LINE = (C.SOURCE_FILE, C.SOURCE_LINE)
"""A line within its delivery, as a parser knows it; `C.LINE` names the delivery too."""
OF_LINE = (C.CLUSTER_ID, *C.LINE)
"""A line of a capture: the same delivery may have landed for two clusters."""
TP = (C.TOPIC, C.TOPIC_ID, C.PARTITION)
OF_CONTROLLER = C.EVENT_TIME.meaning(
    "When it happened, on the clock of the controller that wrote the record (UTC, microseconds)."
)
OF_LEADER = C.EVENT_TIME.meaning("When it happened, on the leader's clock (UTC, microseconds).")
OF_FILE = C.KIND.meaning("What kind of file it is.")

# fmt: off
PRODUCE_EVENTS = Table(
    "produce_events", "A partition of a PRODUCE request, appended (base_offset >= 0) or refused, or a batch that only a dump shows.",
    grain=(*OF_LINE, *TP, C.PRODUCER_ID),
    columns=(*LANDED, *TP, C.LEADER_EPOCH, C.BROKER_ID, C.EVENT_TIME, C.RESPONSE_TIME, C.LOCAL_TIME_US, C.BASE_OFFSET,
             C.LAST_OFFSET, C.ACKS, C.ERROR_CODE, C.CLIENT_ID, C.IS_TRANSACTIONAL, C.IS_CONTROL, C.PRODUCER_ID,
             C.TRANSACTION_RESULT, C.APPEND_SOURCE, *LINE),
    constraints=(("offsets_from_minus_one", "base_offset >= -1 AND last_offset >= -1"),
                 ("last_not_before_base", "last_offset = -1 OR last_offset >= base_offset"),
                 ("partition_not_negative", "partition >= 0")),
)
FETCH_EVENTS = Table(
    "fetch_events", "A fetch of one partition, by a follower or a consumer.",
    grain=(*OF_LINE, *TP),
    columns=(*LANDED, *TP, C.LEADER_EPOCH, C.BROKER_ID, C.EVENT_TIME, C.RESPONSE_TIME, C.LOCAL_TIME_US, C.REPLICA_ID,
             C.REPLICA_EPOCH, C.CLIENT_ID, C.FETCH_OFFSET, C.CURRENT_LEADER_EPOCH, C.LAST_FETCHED_EPOCH,
             C.LOG_START_OFFSET, C.SESSION_ID, C.SESSION_EPOCH, C.SESSION_UNBROKEN_SINCE, C.ISOLATION_LEVEL, C.ERROR_CODE,
             C.IS_PARKED, C.IS_IMPLIED, C.RECORDS_SIZE, C.RESPONSE_HIGH_WATERMARK, C.SESSION_HIGH_WATERMARK, C.RESPONSE_LAST_STABLE_OFFSET,
             C.RESPONSE_LOG_START_OFFSET, C.DIVERGING_EPOCH, C.DIVERGING_END_OFFSET, *LINE),
    constraints=(("partition_not_negative", "partition >= 0"), ("replica_from_minus_three", "replica_id >= -3")),
)
LEADER_CHANGES = Table(
    "leader_changes", "A change of leader, ISR or assignment as a broker applied it.",
    grain=OF_LINE,
    columns=(*LANDED, *TP, C.LEADER_EPOCH, C.PARTITION_EPOCH, C.BROKER_ID, C.EVENT_TIME, C.CHANGE_KIND, C.LEADER_ID,
             C.ISR, C.REPLICAS, C.ADDING_REPLICAS, C.REMOVING_REPLICAS, C.IS_UNCLEAN, *LINE),
    constraints=(("partition_not_negative", "partition >= 0"), ("leader_from_minus_one", "leader_id IS NULL OR leader_id >= -1")),
)
BROKER_STATEMENTS = Table(
    "broker_statements", "A broker's own word on an offset: start value, evidence or comparison; never copied.",
    grain=(*OF_LINE, C.KIND, *TP, C.REPLICA_ID),
    columns=(*LANDED, C.KIND.meaning("What is stated."), C.BROKER_ID, *TP, C.LEADER_EPOCH, C.EVENT_TIME, C.OFFSET, C.REPLICA_ID, *LINE),
)
METADATA_CHANGES = Table(
    "metadata_changes", "A partition's record in the metadata log of a KRaft cluster, merged with those before it.",
    grain=OF_LINE,
    columns=(*LANDED, *TP, C.METADATA_OFFSET, OF_CONTROLLER, C.LEADER_EPOCH, C.PARTITION_EPOCH, C.LEADER_ID, C.ISR,
             C.REPLICAS, C.ADDING_REPLICAS, C.REMOVING_REPLICAS, C.IS_UNCLEAN, *LINE),
)
BROKER_REGISTRATIONS = Table(
    "broker_registrations", "A broker registered, fenced or unfenced, by the metadata log.",
    grain=OF_LINE,
    columns=(*LANDED, C.BROKER_ID, C.BROKER_EPOCH, C.METADATA_OFFSET, OF_CONTROLLER, C.IS_FENCED, *LINE),
)
SETTINGS = Table(
    "settings", "A setting that bears on replication, from when it was in force.",
    grain=(*OF_LINE, C.NAME),
    columns=(*LANDED, C.BROKER_ID, C.TOPIC, C.NAME, C.VALUE, C.EVENT_TIME, *LINE),
)
SEGMENT_BATCHES = Table(
    "segment_batches", "A record batch in a dump of a broker's log at the end of the capture.",
    grain=OF_LINE,
    columns=(*LANDED, C.BROKER_ID, *TP, C.BASE_OFFSET, C.LAST_OFFSET, C.LEADER_EPOCH, C.CREATE_TIME, C.IS_TRANSACTIONAL,
             C.IS_CONTROL, C.TRANSACTION_RESULT, C.PRODUCER_ID, C.BATCH_SIZE, C.CRC, C.MAGIC, *LINE),
)
EPOCH_STARTS = Table(
    "epoch_starts", "An entry of a replica's leader-epoch-checkpoint at the end of the capture.",
    grain=(*OF_LINE, *TP, C.LEADER_EPOCH),
    columns=(*LANDED, C.BROKER_ID, *TP, C.LEADER_EPOCH, C.START_OFFSET, *LINE),
)
REJECTED_LINES = Table(
    "rejected_lines", "A line that should have given a row and could not.",
    grain=(*OF_LINE, C.REASON),
    columns=(*LANDED, C.BROKER_ID, OF_FILE, C.REASON, C.LINE_TEXT, *LINE),
)
SOURCE_FILES = Table(
    "source_files", "A file that was read; its digest is what makes a second delivery of it land nothing.",
    grain=(C.CLUSTER_ID, C.DIGEST, C.KIND, C.BROKER_ID),
    columns=(*LANDED, C.SOURCE_FILE, OF_FILE, C.BROKER_ID, C.BROKERS, C.FIRST_AT, C.LAST_AT, C.GAPS, C.DIGEST, C.LINES_READ, C.LINES_LANDED, C.LINES_REJECTED,
             C.LINES_IGNORED, C.IGNORED_BY_REASON),
    constraints=(("nothing_lost", "lines_read = lines_landed + lines_rejected + lines_ignored"),),
)
LEADER_TIMELINE = Table(
    "leader_timeline", "An event at a partition's leader, and what the leader knew after it.",
    grain=(C.CLUSTER_ID, *TP, *C.TIMELINE_ORDER),
    columns=(*LANDED, *TP, C.LEADER_EPOCH, C.EVENT_SEQ, OF_LEADER, C.EVENT_TYPE, C.LEADER_ID, C.REPLICA_ID,
             C.LOG_END_OFFSET, C.REMOTE_LEO_MAP, C.ISR, C.MAXIMAL_ISR, C.IS_ISR_INFERRED, C.MIN_ISR, C.IS_UNDER_MIN_ISR,
             C.HIGH_WATERMARK, C.HIGH_WATERMARK_LIMITED_BY, C.LOG_START_OFFSET, C.LAST_STABLE_OFFSET, C.EXACTNESS,
             C.LOG_END_OFFSET_LOW, C.LOG_END_OFFSET_HIGH, C.HIGH_WATERMARK_LOW, C.HIGH_WATERMARK_HIGH, *LINE),
    constraints=(("offsets_from_minus_one", "log_end_offset >= -1 AND high_watermark >= -1"),
                 ("high_watermark_is_between", "high_watermark_low <= high_watermark AND high_watermark <= high_watermark_high"),
                 ("log_end_offset_is_between", "log_end_offset_low <= log_end_offset AND log_end_offset <= log_end_offset_high")),
)
REPLICA_TIMELINE = Table(
    "replica_timeline", "A replica's state from one change of it to the next; one that was dropped has none.",
    grain=(C.CLUSTER_ID, *TP, C.REPLICA_ID, *C.TIMELINE_ORDER),
    columns=(*LANDED, *TP, C.REPLICA_ID, C.LEADER_EPOCH, C.EVENT_SEQ, C.VALID_FROM, C.VALID_TO, C.ROLE,
             C.LOG_END_OFFSET, C.REMOTE_LEO, C.HIGH_WATERMARK, C.IN_ISR, C.EXACTNESS,
             C.LOG_END_OFFSET_LOW, C.LOG_END_OFFSET_HIGH, C.HIGH_WATERMARK_LOW, C.HIGH_WATERMARK_HIGH),
    constraints=(("offsets_from_minus_one", "log_end_offset >= -1 AND high_watermark >= -1"),
                 ("not_backwards", "valid_to IS NULL OR valid_to >= valid_from")),
)
TRUNCATIONS = Table(
    "truncations", "A replica's truncation that removed records.",
    grain=(C.CLUSTER_ID, *TP, C.REPLICA_ID, C.LEADER_EPOCH, C.EVENT_TIME),
    columns=(*LANDED, *TP, C.REPLICA_ID, C.LEADER_EPOCH, C.EVENT_TIME.meaning("When it was seen, on the clock of that epoch's leader; a stated one by the replica's own clock."), C.FROM_OFFSET, C.TO_OFFSET,
             C.HIGH_WATERMARK_BEFORE, C.PARTITION_HIGH_WATERMARK_BEFORE, C.METHOD, C.IS_STATED),
    constraints=(("it_removed_records", "from_offset = -1 OR to_offset < from_offset"),),
)
INCIDENTS = Table(
    "incidents", "One finding.",
    grain=(C.INCIDENT_ID,),
    columns=(C.INCIDENT_ID, *LANDED, C.KIND.meaning("What was found."), C.SEVERITY, *TP, C.LEADER_EPOCH, C.REPLICA_ID, C.STARTED_AT, C.ENDED_AT,
             C.FROM_OFFSET, C.TO_OFFSET, C.EVIDENCE),
)
WHAT_IF_OUTCOMES = Table(
    "what_if_outcomes", "A range of records, and what would have become of it under a rule of truncation.",
    grain=(C.CLUSTER_ID, *TP, C.METHOD, C.OUTCOME, C.LEADER_EPOCH, C.REPLICA_ID, C.EVENT_TIME, C.FROM_OFFSET),
    columns=(*LANDED, *TP, C.METHOD, C.OUTCOME, C.LEADER_EPOCH, C.REPLICA_ID, OF_LEADER, C.FROM_OFFSET, C.TO_OFFSET),
    constraints=(("not_backwards", "from_offset <= to_offset"),),
)
WHAT_IF_TIMELINE = Table(
    "what_if_timeline", "An event at a leader after which its HW would have been another.",
    grain=(C.CLUSTER_ID, *TP, *C.TIMELINE_ORDER),
    columns=(*LANDED, *TP, C.LEADER_EPOCH, C.EVENT_SEQ, OF_LEADER, C.EVENT_TYPE, C.LEADER_ID, C.REPLICA_ID,
             C.LOG_END_OFFSET, C.ISR, C.MIN_ISR, C.HIGH_WATERMARK, C.WHAT_IF_HIGH_WATERMARK, C.WHAT_IF, *LINE),
)
CHECK_RESULTS = Table(
    "check_results", "A rule in a run of the check, kept whether it held or not.",
    grain=(C.RUN_ID, C.RULE),
    columns=(C.RUN_ID, C.RUN_AT, *LANDED, C.RULE, C.RULE_FINGERPRINT, C.SEVERITY, C.STATUS, C.TABLE_NAME, C.ROWS,
             C.VIOLATIONS, C.INPUT_VERSION, C.ENGINE_VERSION, C.REASON, C.THRESHOLDS, C.SUPPRESSED, C.NEW_VIOLATIONS),
)
CHECK_VIOLATIONS = Table(
    "check_violations", "A row that broke a rule in a run.",
    grain=(C.RUN_ID, C.RULE, C.VIOLATED_KEYS),
    columns=(C.RUN_ID, *LANDED, C.RULE, C.VIOLATED_KEYS, C.OBSERVED, *LINE, C.VIOLATION_ID, C.IS_NEW, C.EVENTS_AROUND),
)
PARTITION_VERDICTS = Table(
    "partition_verdicts", "A partition in a run of the check: the worst of the rules that spoke of it, and why.",
    grain=(C.RUN_ID, *TP),
    columns=(C.RUN_ID, C.RUN_AT, *LANDED, *TP, C.STATUS, C.SEVERITY, C.ROWS, C.VIOLATIONS, C.ENGINE_VERSION, C.REASON),
)
# fmt: on

LANDING_TABLES = (
    PRODUCE_EVENTS, FETCH_EVENTS, LEADER_CHANGES, BROKER_STATEMENTS, METADATA_CHANGES, BROKER_REGISTRATIONS, SETTINGS,
    SEGMENT_BATCHES, EPOCH_STARTS, REJECTED_LINES, SOURCE_FILES,
)  # fmt: skip
TIMELINE_TABLES = (LEADER_TIMELINE, REPLICA_TIMELINE, TRUNCATIONS, INCIDENTS)
WHAT_IF_TABLES = (WHAT_IF_OUTCOMES, WHAT_IF_TIMELINE)
CHECK_TABLES = (CHECK_RESULTS, CHECK_VIOLATIONS, PARTITION_VERDICTS)
ALL_TABLES = (*LANDING_TABLES, *TIMELINE_TABLES, *WHAT_IF_TABLES, *CHECK_TABLES)


def searched(table: Table) -> tuple[Field, ...]:
    """Return the columns of which Delta notes the least and greatest value in each file: whose its rows are, and when.

    By them files are left out. For any other column too it would be worked out for each row that is written, a quarter
    of what the writing costs; within a file Parquet notes them anyway.
    """
    landed = (C.CAPTURE_ID,) if table in LANDING_TABLES else ()
    whose = (C.CLUSTER_ID, C.RUN_ID, *landed, *table.clustering)
    return tuple(c for c in table.columns if c in whose or c.type == C.TIME)
