"""A delivery's lines to the landing tables: each kind of file parsed once, then made whole with what the others tell.

A line of one file often says half of a thing: a topic's id and not its name, an ISR and not the leader epoch, an
append and not how many records. The other halves are in other files of this delivery, or of an earlier one (`known`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from schemas import columns as C
from schemas import tables as T
from schemas.kinds import FileKind
from schemas.tables import Table
from sources import accounting, broker_log, metadata_dump, request_log, routing, segment_dump, server_log
from sources.checkpoints import read_checkpoints
from sources.fetch_sessions import fetch_rows
from sources.files import SourceFile
from sources.future_logs import without_future_logs
from sources.leader_and_isr_requests import leader_and_isr_rows
from sources.produce_requests import produce_rows
from sources.redaction import Redaction
from sources.resolve_appends import batch_ends, with_last_offset
from sources.resolve_epochs import terms, with_append_epoch, with_fetch_epoch, with_statement_epoch
from sources.resolve_leaders import with_leader
from sources.resolve_old_batches import old_batch_ends
from sources.resolve_topics import of_known_topic, rejected_for_topic, topic_ids, with_topic
from sources.resolve_unlogged import unlogged_appends
from sources.state_change_log import leader_change_rows

NOTHING_REDACTED = Redaction()

AT_THE_END = 2**33
"""Seconds (year 2242) for a checkpoint or a dump, which have no time: they were made after all that the logs tell."""


TOLD_BY = {
    T.METADATA_CHANGES.name: {FileKind.METADATA_DUMP},
    T.BROKER_REGISTRATIONS.name: {FileKind.METADATA_DUMP},
    T.SEGMENT_BATCHES.name: {FileKind.SEGMENT_DUMP},
    T.EPOCH_STARTS.name: {FileKind.LEADER_EPOCH_CHECKPOINT},
    T.FETCH_EVENTS.name: routing.WITH_REQUESTS,
}
"""Tables that some kinds of file alone tell of: without one of them they are empty before anybody looks."""


@dataclass(frozen=True)
class Landing:
    """The rows of a delivery, by table, and of `source_files`."""

    tables: Mapping[str, DataFrame]
    source_files: DataFrame
    untold: frozenset[str] = frozenset()
    """Tables without rows because no file of the delivery tells of them."""


@dataclass(frozen=True)
class _Parsed:
    """The lines of each kind, parsed."""

    requests: DataFrame
    logs: DataFrame
    dumps: DataFrame
    metadata: DataFrame
    has_dumps: bool
    """Whether there is a segment's dump at all."""

    @property
    def frames(self) -> tuple[DataFrame, ...]:
        return self.requests, self.logs, self.dumps, self.metadata


def land(
    lines: DataFrame, files: Sequence[SourceFile], *, cluster_id: str, capture_id: str, timezone: str,
    known: Mapping[str, DataFrame], redaction: Redaction = NOTHING_REDACTED, echoes: DataFrame | None = None,
) -> Landing:  # fmt: skip
    """The delivery's rows of every landing table; `known` has those of earlier deliveries of the cluster, by table.

    `echoes` has lines that other files tell: they are counted and no more.
    """
    spark = lines.sparkSession
    parsed = _parse(accounting.of_bearable_length(lines, files), files, timezone, redaction)
    earlier = _Earlier(known, capture_id, files)
    epoch_starts, checkpointed, configured, checkpoint_outcomes = read_checkpoints(files).frames(spark)
    rows = _rows(parsed, checkpointed, epoch_starts, earlier, redaction)
    rejections = rows.pop(T.REJECTED_LINES.name)
    settings = (server_log.setting_rows(parsed.logs), metadata_dump.setting_rows(parsed.metadata), configured)
    outcomes = accounting.outcomes_of(
        [
            *parsed.frames,
            checkpoint_outcomes,
            *accounting.too_long(lines, files),
            accounting.damaged(spark, files),
            *accounting.echoed(echoes),
        ]
    ).transform(accounting.overruled, rejections)
    tables = rows | {
        T.BROKER_REGISTRATIONS.name: metadata_dump.registration_rows(parsed.metadata),
        T.SETTINGS.name: redaction.settings(_union(*settings)),
        T.REJECTED_LINES.name: redaction.texts(accounting.rejected_rows(outcomes)),
    }

    def conform(table: Table, frame: DataFrame) -> DataFrame:
        of_delivery: dict[str, Column] = {C.CLUSTER_ID: F.lit(cluster_id), C.CAPTURE_ID: F.lit(capture_id)}
        return table.conform(frame.withColumns(of_delivery))

    conformed = {table.name: conform(table, tables[table.name]) for table in T.LANDING_TABLES if table.name in tables}
    source_files = conform(T.SOURCE_FILES, accounting.source_file_rows(spark, files, outcomes, timezone))
    kinds = {file.kind for file in files}
    return Landing(conformed, source_files, frozenset(name for name, by in TOLD_BY.items() if kinds.isdisjoint(by)))


class _Earlier:
    """Rows of earlier deliveries, without this one's: its tables are written while others are still read."""

    def __init__(self, known: Mapping[str, DataFrame], capture_id: str, files: Sequence[SourceFile]) -> None:
        self._known = known
        is_own = (F.col(C.CAPTURE_ID) == capture_id) & F.col(C.SOURCE_FILE).isin([file.name for file in files])
        for file in files:
            if file.lines_before:  # the file that it grew from may bear its name, and that of the delivery
                is_own &= (F.col(C.SOURCE_FILE) != file.name) | (F.col(C.SOURCE_LINE) > file.lines_before)
        self._is_own = is_own

    def rows(self, table: Table) -> DataFrame | None:
        """The earlier rows of a table, as a parser gives them; None where none are known."""
        frame = self._known.get(table.name)
        return None if frame is None else frame.where(~self._is_own).drop(*T.LANDED)

    def and_now(self, table: Table, now: DataFrame) -> DataFrame:
        """The rows of a table of this delivery and the earlier ones."""
        before = self.rows(table)
        return now if before is None else now.unionByName(before)


def _parse(lines: DataFrame, files: Sequence[SourceFile], timezone: str, redaction: Redaction) -> _Parsed:
    """Each kind's lines, parsed once and for all; a kind without a file costs nothing."""
    present = {file.kind for file in files}

    def parsed(kinds: frozenset[FileKind], parse: Callable[[DataFrame], DataFrame]) -> DataFrame:
        if kinds.isdisjoint(present):
            return _none_like(parse(lines))
        return _settled(parse(routing.routed(lines, kinds)))

    logs = parsed(routing.WITH_OTHER_LINES, partial(broker_log.parse, timezone=timezone))
    if any(file.has_future_logs for file in files):
        logs = _settled(without_future_logs(logs))
    return _Parsed(
        parsed(routing.WITH_REQUESTS, lambda requests: redaction.requests(request_log.parse(requests, timezone))),
        logs,
        parsed(frozenset({FileKind.SEGMENT_DUMP}), segment_dump.parse),
        parsed(frozenset({FileKind.METADATA_DUMP}), metadata_dump.parse),
        FileKind.SEGMENT_DUMP in present,
    )


def _rows(
    parsed: _Parsed, checkpointed: DataFrame, epoch_starts: DataFrame, earlier: _Earlier, redaction: Redaction
) -> dict[str, DataFrame]:
    """The rows that need each other, by table; `rejected_lines` has those whose topic nothing names."""
    changes = redaction.topics(leader_change_rows(parsed.logs)).unionByName(leader_and_isr_rows(parsed.requests))
    said = _union(server_log.statement_rows(parsed.logs), segment_dump.statement_rows(parsed.dumps), checkpointed)
    stated = redaction.topics(said)
    metadata = redaction.topics(metadata_dump.change_rows(parsed.metadata))
    of_topics = ((T.LEADER_CHANGES, changes), (T.BROKER_STATEMENTS, stated), (T.METADATA_CHANGES, metadata))
    ids = topic_ids(*[earlier.and_now(table, frame) for table, frame in of_topics])

    ids = _settled(ids)
    at = F.col(C.EVENT_TIME)
    changes, stated = (
        with_topic(changes, ids, at),
        with_topic(stated, ids, F.coalesce(at, F.timestamp_seconds(F.lit(AT_THE_END)))),
    )
    batches = with_topic(redaction.topics(segment_dump.batch_rows(parsed.dumps)), ids)
    batches = _settled(batches) if parsed.has_dumps else _none_like(batches)
    fetches = _settled(fetch_rows(parsed.requests, ids, earlier.rows(T.FETCH_EVENTS)))
    appends = _settled(with_topic(produce_rows(parsed.requests), ids, at))
    rejections = rejected_for_topic(fetches).unionByName(rejected_for_topic(appends))
    fetches, appends = of_known_topic(fetches), of_known_topic(appends)

    epochs = _settled(terms(earlier.and_now(T.LEADER_CHANGES, changes), earlier.and_now(T.FETCH_EVENTS, fetches)))
    fetches = _settled(with_fetch_epoch(fetches, epochs))
    changes = _settled(with_leader(_settled(with_statement_epoch(changes, epochs)), earlier.rows(T.LEADER_CHANGES)))
    stated = _settled(with_statement_epoch(stated, epochs))
    appends = _settled(with_append_epoch(appends, epochs))
    ended = _settled(_with_ends(appends, fetches, stated, batches, earlier))
    return {
        T.PRODUCE_EVENTS.name: _with_unlogged(ended, batches, changes, earlier) if parsed.has_dumps else ended,
        T.FETCH_EVENTS.name: fetches,
        T.LEADER_CHANGES.name: changes,
        T.BROKER_STATEMENTS.name: stated,
        T.METADATA_CHANGES.name: metadata,
        T.SEGMENT_BATCHES.name: batches,
        T.EPOCH_STARTS.name: with_topic(redaction.topics(epoch_starts), ids),
        T.REJECTED_LINES.name: rejections,
    }


def _with_ends(
    appends: DataFrame, fetches: DataFrame, stated: DataFrame, batches: DataFrame, earlier: _Earlier
) -> DataFrame:
    """The appends with where they ended."""
    all_batches = earlier.and_now(T.SEGMENT_BATCHES, batches)
    ends = batch_ends(earlier.and_now(T.FETCH_EVENTS, fetches), earlier.and_now(T.BROKER_STATEMENTS, stated))
    return with_last_offset(appends, all_batches, ends.unionByName(old_batch_ends(appends, all_batches)))


def _with_unlogged(ended: DataFrame, batches: DataFrame, changes: DataFrame, earlier: _Earlier) -> DataFrame:
    """The appends, and those that only a batch in a dump bears witness to."""
    all_appends = earlier.and_now(T.PRODUCE_EVENTS, ended)
    return ended.unionByName(unlogged_appends(all_appends, batches, earlier.and_now(T.LEADER_CHANGES, changes)))


def _settled(frame: DataFrame) -> DataFrame:
    """The frame computed once and for all, its plan cut.

    Each step uses most of those before it, several times over: the plan of all together takes minutes to analyse.
    """
    return frame.localCheckpoint()


def _none_like(frame: DataFrame) -> DataFrame:
    """No rows of the frame's columns, in a plan that Spark sees to be empty, and so all that is made of it."""
    nothing = [F.lit(None).cast(field.dataType).alias(field.name) for field in frame.schema]
    return frame.sparkSession.range(0).select(*nothing).where(F.lit(False))


def _union(*frames: DataFrame) -> DataFrame:
    return reduce(DataFrame.unionByName, frames)
