"""The way of a delivery into the landing tables."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from jobs.at_once import at_once
from jobs.deliveries import EVENT_TABLES, filter_new, has_landed, next_transaction
from jobs.delivery import Delivery
from jobs.grown_files import without_landed_lines
from jobs.ingest_summary import say_what_was_rejected, say_which_cluster
from jobs.progress import say, step
from jobs.redacting import require_same
from jobs.session import describe
from jobs.shuffles import few_tasks, tasks_of_files
from jobs.taking_back import take_back_doubles, withdraw_unfinished
from jobs.unread_files import take_back_unread
from jobs.warehouse import Warehouse
from schemas.columns import NO_REPLICA
from schemas.tables import PRODUCE_EVENTS, REJECTED_LINES, SOURCE_FILES, Table
from sources.echoes import IS_ECHO, consoles, originals, with_echoes_told
from sources.landing import land
from sources.lines import read_lines
from sources.log4j import in_kafkas_layout
from sources.parted_lines import with_parts_joined
from sources.source_file import SourceFile
from sources.streams import with_brokers_of_streams


def ingest_delivery(warehouse: Warehouse, delivery: Delivery) -> dict[str, int]:
    """The rows that landed by table; none where every file had landed before."""
    cluster, files = delivery.cluster_id, delivery.files
    with step("open the warehouse") as opening:
        opening.note = f"cluster {cluster}, names redacted" if delivery.redaction.what else f"cluster {cluster}"
        facts = require_same(warehouse, delivery.redaction)
        at_once(warehouse.spark)(partial(warehouse.create, facts=facts), (*EVENT_TABLES, SOURCE_FILES))
        if withdraw_unfinished(warehouse, cluster):
            opening.note += ", took back what an unfinished run had left"
    if not delivery.is_cluster_told:
        say_which_cluster(warehouse, cluster)
    if delivery.layout:
        take_back_unread(warehouse, cluster, files, delivery.redaction)
    new = filter_new(warehouse, cluster, files)
    if len(new) < len(files):
        say(f"  {len(files) - len(new)} of {len(files)} files already landed")
    with few_tasks(warehouse.spark, tasks_of_files(delivery.files)):
        new = without_landed_lines(warehouse, delivery, new)
        return _land(warehouse, delivery, new) if new else {}


def _lines(warehouse: Warehouse, delivery: Delivery, files: Sequence[SourceFile]) -> tuple[DataFrame, DataFrame | None]:
    """The lines of some of a delivery's files; and those of consoles that other files of it have as well."""

    def read(some: Sequence[SourceFile]) -> DataFrame:
        streams = {file.name: file.streams for file in some if file.broker_id == NO_REPLICA}
        lines = with_brokers_of_streams(read_lines(warehouse.spark, some), streams)
        lines = with_parts_joined(lines, some)
        return in_kafkas_layout(lines, delivery.layout, has_objects=any(file.has_objects for file in some))

    copies = consoles(files, delivery.files)
    if not copies:
        return read(files), None
    told = with_echoes_told(read(copies), read(originals(copies, delivery.files))).localCheckpoint()
    own = read([file for file in files if file not in copies])
    return own.unionByName(told.where(~F.col(IS_ECHO)).drop(IS_ECHO)), told.where(IS_ECHO).drop(IS_ECHO)


def _land(warehouse: Warehouse, delivery: Delivery, files: list[SourceFile]) -> dict[str, int]:
    """Rows by table. `source_files`, the mark of success, comes last."""
    cluster_id = delivery.cluster_id
    transaction = next_transaction(warehouse, cluster_id, files)
    earlier = EVENT_TABLES if has_landed(warehouse, cluster_id) else ()  # nothing to look up makes a smaller plan
    known = {table.name: warehouse.read(table, cluster_id=cluster_id) for table in earlier}
    describe(warehouse.spark, "parse lines")
    with step("parse the lines"):
        lines, echoes = _lines(warehouse, delivery, files)
        landing = land(
            lines, files, cluster_id=cluster_id, capture_id=delivery.capture_id, timezone=delivery.timezone,
            known=known, redaction=delivery.redaction, echoes=echoes,
        )  # fmt: skip
    rows = dict.fromkeys(landing.untold, 0)  # a commit of no rows costs as much as one of a few

    def write(table: Table) -> None:
        frame = landing.source_files if table is SOURCE_FILES else landing.tables[table.name]
        with step(table.name) as writing:
            writing.rows = rows[table.name] = warehouse.append(table, frame, transaction).rows

    # By the first and the last of all it is seen whether a run came to its end (`taking_back.withdraw_unfinished`).
    first, *others = [table for table in EVENT_TABLES if table.name not in landing.untold]
    write(first)
    at_once(warehouse.spark)(write, others)
    if earlier:
        take_back_doubles(warehouse, cluster_id, landing.tables[PRODUCE_EVENTS.name])
    write(SOURCE_FILES)
    say_what_was_rejected(warehouse, cluster_id, rows[REJECTED_LINES.name])
    return {table.name: rows[table.name] for table in (*EVENT_TABLES, SOURCE_FILES)}
