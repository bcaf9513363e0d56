"""Views: what post-mortem questions are asked of, derived from the tables when they are asked, and never stored."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from replay.findings.held_back import high_watermark_held
from replay.views.commits import commit_latency, commit_times
from replay.views.epoch_caches import MADE_OF, leader_epoch_caches
from replay.views.exposure import exposure
from replay.views.flapping import isr_flapping
from replay.views.positions import consumer_positions
from replay.views.sources_found import rejected_shapes, sources_found
from replay.views.states import leader_states
from schemas import columns as C
from schemas import tables as T
from schemas import view_columns as V
from schemas.columns import Field
from schemas.tables import Table


@dataclass(frozen=True)
class View:
    """A view: its name, what one row is, the tables it is made of, how, and its columns, where they are told."""

    name: str
    comment: str
    of: tuple[Table, ...]
    make: Callable[..., DataFrame]
    columns: tuple[Field, ...] = ()

    def rows(self, *tables: DataFrame) -> DataFrame:
        """Return the view's rows of the tables in `of`; each column bears what it means, as `DESCRIBE` shows it."""
        made = self.make(*tables)
        told = [F.col(column).alias(column, metadata={"comment": column.comment}) for column in self.columns]
        return made.select(*told) if told else made


_LEADERSHIP = (*C.PARTITION_KEY, C.LEADER_EPOCH, C.LEADER_ID)
VIEWS = (
    View(
        "high_watermark_held", "A stretch in which the HW stood below the LEO: who held it, and why.",
        (T.LEADER_TIMELINE, T.LEADER_CHANGES, T.METADATA_CHANGES, T.BROKER_STATEMENTS, T.PRODUCE_EVENTS, T.FETCH_EVENTS,
         T.SETTINGS),
        high_watermark_held,
        (*_LEADERSHIP, C.STARTED_AT, C.ENDED_AT, V.LASTED_MS, C.HIGH_WATERMARK, C.LOG_END_OFFSET, V.WHY, V.WAITS_FOR,
         C.ISR, C.MIN_ISR),
    ),
    View(
        "commit_times", "An append, and when the HW was past it.",
        (T.LEADER_TIMELINE,), commit_times,
        (*_LEADERSHIP, V.APPENDED_AT, C.LOG_END_OFFSET, V.COMMITTED_AT, V.LATENCY_MS),
    ),
    View(
        "commit_latency", "A partition's minute: percentiles of the time from append to commit.",
        (T.LEADER_TIMELINE,), commit_latency,
        (*C.PARTITION_KEY, V.MINUTE, V.APPENDS, V.NOT_COMMITTED_IN_EPOCH, V.P50_MS, V.P95_MS, V.P99_MS, V.MAX_MS),
    ),
    View(
        "exposure", "What only the leader held, and what its death would have lost, from one event to the next.",
        (T.LEADER_TIMELINE, T.LEADER_CHANGES, T.METADATA_CHANGES, T.BROKER_STATEMENTS, T.PRODUCE_EVENTS,
         T.FETCH_EVENTS), exposure,
        (*C.EPOCH_KEY, C.EVENT_SEQ, C.LEADER_ID, C.VALID_FROM, C.VALID_TO, C.LOG_END_OFFSET, C.HIGH_WATERMARK, C.ISR,
         V.SINGLE_COPY_RECORDS, V.COULD_LOSE, V.WOULD_LOSE, V.RECORD_SECONDS),
    ),
    View(
        "leader_states",
        "What a partition's leader knew, from one event to the next: at any moment one row, none while nobody leads.",
        (T.LEADER_TIMELINE, T.LEADER_CHANGES, T.METADATA_CHANGES, T.BROKER_STATEMENTS), leader_states,
        (*C.PARTITION_KEY, C.VALID_FROM, C.VALID_TO, C.LEADER_EPOCH, C.EVENT_SEQ, C.EVENT_TYPE, C.LEADER_ID,
         C.LOG_END_OFFSET, C.REMOTE_LEO_MAP, C.ISR, C.MIN_ISR, C.IS_UNDER_MIN_ISR, C.HIGH_WATERMARK,
         C.HIGH_WATERMARK_LIMITED_BY, C.LOG_START_OFFSET, C.LAST_STABLE_OFFSET, C.EXACTNESS, C.HIGH_WATERMARK_LOW,
         C.HIGH_WATERMARK_HIGH, C.LOG_END_OFFSET_LOW, C.LOG_END_OFFSET_HIGH),
    ),
    View(
        "isr_flapping", "How often replicas left the ISR, by follower, by leader, by pair, and in the whole cluster.",
        (T.LEADER_TIMELINE,), isr_flapping,
        (C.CLUSTER_ID, V.CLUSTERED_BY, V.WHO_LEFT, V.WHOSE_ISR, V.TIMES_OUT, V.PARTITIONS, V.NOT_BACK,
         V.SECONDS_OUT_MEDIAN, V.SECONDS_OUT_MAX),
    ),
    View(
        "consumer_positions", "A consumer's fetch, and where its position lay in the leader's log.",
        (T.FETCH_EVENTS, T.LEADER_TIMELINE), consumer_positions,
        (*C.EPOCH_KEY, C.EVENT_TIME, C.CLIENT_ID, C.BROKER_ID, C.FETCH_OFFSET, C.ERROR_CODE, C.LOG_END_OFFSET,
         C.HIGH_WATERMARK, C.LAST_STABLE_OFFSET, C.LOG_START_OFFSET, C.RESPONSE_HIGH_WATERMARK, V.MAY_READ_TO, V.LAG,
         V.POSITION_IS, *T.LINE),
    ),
    View(
        "leader_epoch_caches", "A leader epoch in a replica's log at the end: its first offset, and its end.",
        MADE_OF, leader_epoch_caches,
        (*C.REPLICA_KEY, C.LEADER_EPOCH, C.START_OFFSET, C.END_OFFSET),
    ),
    View(
        "sources_found", "A kind of file of one broker: its files, their time span, and the minutes that are missing.",
        (T.SOURCE_FILES,), sources_found,
        (C.CLUSTER_ID, T.OF_FILE, C.BROKER_ID, V.FILES, C.LINES_READ, C.LINES_LANDED, C.LINES_REJECTED, C.FIRST_AT,
         C.LAST_AT, V.MINUTES_MISSING),
    ),
    View(
        "rejected_shapes", "A shape of line that could not be used: why, how many there are, and one of them.",
        (T.REJECTED_LINES,), rejected_shapes,
        (C.CLUSTER_ID, C.REASON, V.LINES, V.SHAPE, *T.LINE, C.LINE_TEXT),
    ),
)  # fmt: skip
