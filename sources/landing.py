"""A delivery's lines to the landing tables: each kind of file parsed once, then made whole with what the others tell.

A line of one file often says half of a thing: a topic's id and not its name, an ISR and not the leader epoch, an
append and not how many records. The other halves are in other files of this delivery, or of an earlier one (`known`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from schemas import columns as C
from schemas import tables as T
from schemas.files import FileKind
from schemas.tables import Table
from sources import accounting, broker_settings, metadata_rows, routing
from sources.earlier import Earlier
from sources.parsed import parsed_lines, settled
from sources.redaction import Redaction
from sources.resolved import resolved
from sources.small_files import read_small_files
from sources.source_file import SourceFile

NOTHING_REDACTED = Redaction()

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


def land(
    lines: DataFrame, files: Sequence[SourceFile], *, cluster_id: str, capture_id: str, timezone: str,
    known: Mapping[str, DataFrame], redaction: Redaction = NOTHING_REDACTED, echoes: DataFrame | None = None,
) -> Landing:  # fmt: skip
    """The delivery's rows of every landing table; `known` has those of earlier deliveries of the cluster, by table.

    `echoes` has lines that other files tell: they are counted and no more.
    """
    spark = lines.sparkSession
    parsed = parsed_lines(accounting.of_bearable_length(lines, files), files, timezone, redaction)
    earlier = Earlier(known, capture_id, files)
    epoch_starts, checkpointed, configured, small_outcomes = read_small_files(files).frames(spark)
    told = (broker_settings.setting_rows(parsed.logs), metadata_rows.setting_rows(parsed.metadata), configured)
    settings = settled(reduce(DataFrame.unionByName, told))
    rows = resolved(parsed, checkpointed, epoch_starts, settings, earlier, redaction)
    rejections = rows.pop(T.REJECTED_LINES.name)
    besides = (
        small_outcomes,
        *accounting.too_long(lines, files),
        accounting.damaged(spark, files),
        *accounting.echoed(echoes),
    )
    may_be_rejected = accounting.outcomes_of([*parsed.with_rejected_requests, *besides])
    counted = accounting.outcomes_of([*parsed.others, *besides])
    counts = accounting.counts_of(counted, parsed.request_counts, rejections)
    tables = rows | {
        T.BROKER_REGISTRATIONS.name: metadata_rows.registration_rows(parsed.metadata),
        T.SETTINGS.name: redaction.settings(settings),
        T.REJECTED_LINES.name: redaction.texts(accounting.rejected_rows(spark, may_be_rejected, rejections, files)),
    }

    def conform(table: Table, frame: DataFrame) -> DataFrame:
        """The rows as the table has them, of this cluster and delivery."""
        of_delivery: dict[str, Column] = {C.CLUSTER_ID: F.lit(cluster_id), C.CAPTURE_ID: F.lit(capture_id)}
        return table.conform(frame.withColumns(of_delivery))

    conformed = {table.name: conform(table, tables[table.name]) for table in T.LANDING_TABLES if table.name in tables}
    source_files = conform(T.SOURCE_FILES, accounting.source_file_rows(spark, files, counts, timezone))
    kinds = {file.kind for file in files}
    return Landing(conformed, source_files, frozenset(name for name, by in TOLD_BY.items() if kinds.isdisjoint(by)))
