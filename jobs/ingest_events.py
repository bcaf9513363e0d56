"""`tidegauge ingest`: a capture's files into the landing tables. A file lands once, whatever is run again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
from pyspark.sql import functions as F

from jobs.alone import alone
from jobs.command import (
    capture_option,
    cluster_option,
    debug_option,
    options,
    pattern_option,
    run,
    timezone_option,
)
from jobs.deliveries import EVENT_TABLES, digest_of, filter_new, has_landed, next_transaction, withdraw_unfinished
from jobs.opening import open_warehouse, warehouse_option
from jobs.places import Home
from jobs.progress import print_table, say, step
from jobs.redacting import redact_key_option, redact_option, redacting, require_same
from jobs.run_config import Configured
from jobs.session import describe
from jobs.warehouse import Warehouse
from replay.sources_found import rejected_shapes
from schemas.columns import REASON
from schemas.tables import REJECTED_LINES, SOURCE_FILES
from sources.coverage import Found, found
from sources.files import SourceFile, capture_root, discover
from sources.files import cluster_id as stated_cluster_id
from sources.landing import land
from sources.lines import read_lines
from sources.log4j import Layout, in_kafkas_layout
from sources.redaction import Redacted, Redaction

DEFAULT_CLUSTER_ID = "default"
SHAPES_SHOWN = 10
"""Shapes of lines that could not be used, as many as are told."""


def find_files(capture: Path, timezone: str) -> list[SourceFile]:
    """The capture's files; looked at before Spark starts, so that a wrong folder is told at once."""
    with step("look at the capture") as looking:
        files = discover(capture_root(capture))
        looking.note = f"{len(files)} files"
    say_what_is_there(found(files, timezone))
    return files


def say_what_is_there(sources: Sequence[Found]) -> None:
    """Tell what was found, a line a kind and broker: from when to when, and what it allows."""
    for it in sources:
        brokers = ", ".join(map(str, it.brokers))
        whose = f"broker {brokers}" if len(it.brokers) == 1 else f"brokers {brokers}" if brokers else "cluster"
        span = f"{it.covered.first:%Y-%m-%d %H:%M} to {it.covered.last:%m-%d %H:%M}" if it.covered.first else ""
        say(f"    {it.kind.value:<28}{whose:<14}{it.files:>5} files  {span:<32}{it.allows}")


def say_what_was_rejected(warehouse: Warehouse, cluster_id: str, rejected: int) -> None:
    """Tell the commonest shapes of lines that could not be used: a wording not known here shows as one."""
    if not rejected:
        return
    rows = rejected_shapes(warehouse.read(REJECTED_LINES, cluster_id=cluster_id)).orderBy(F.desc("lines"), "shape")
    say(f"  {rejected:,} lines could not be used; the view rejected_shapes has them all:")
    for row in rows.limit(SHAPES_SHOWN).collect():
        say(f"    {row['lines']:>8,}  {row[REASON]}: {row['shape'][:100]}")


def size_of(files: Sequence[SourceFile]) -> int:
    """Bytes of the files as they lie on disk."""
    return sum(file.path.stat().st_size for file in files)


def ingest_files(
    warehouse: Warehouse,
    files: Sequence[SourceFile],
    *,
    cluster_id: str | None,
    capture_id: str | None,
    timezone: str,
    layout: Layout | None,
    redaction: Redaction,
) -> tuple[str, dict[str, int]]:
    """The cluster's id, and the rows that landed by table; none where every file had landed before."""
    cluster = cluster_id or stated_cluster_id(list(files)) or DEFAULT_CLUSTER_ID
    files = redaction.files(files)
    with step("open the warehouse") as opening:
        opening.note = f"cluster {cluster}, names redacted" if redaction.what else f"cluster {cluster}"
        facts = require_same(warehouse, redaction)
        for table in (*EVENT_TABLES, SOURCE_FILES):
            warehouse.create(table, facts)
        if withdraw_unfinished(warehouse, cluster):
            opening.note += ", took back what an unfinished run had left"
    new = filter_new(warehouse, cluster, files)
    if len(new) < len(files):
        say(f"  {len(files) - len(new)} of {len(files)} files already landed")
    capture = capture_id or digest_of(files)
    return cluster, _land(warehouse, new, cluster, capture, timezone, layout, redaction) if new else {}


def _land(
    warehouse: Warehouse,
    files: Sequence[SourceFile],
    cluster_id: str,
    capture_id: str,
    timezone: str,
    layout: Layout | None,
    redaction: Redaction,
) -> dict[str, int]:
    """Rows by table. `source_files`, the mark of success, comes last."""
    transaction = next_transaction(warehouse, cluster_id, files)
    earlier = EVENT_TABLES if has_landed(warehouse, cluster_id) else ()  # nothing to look up makes a smaller plan
    known = {table.name: warehouse.read(table, cluster_id=cluster_id) for table in earlier}
    describe(warehouse.spark, "parse lines")
    with step("parse the lines"):
        lines = in_kafkas_layout(read_lines(warehouse.spark, files), layout)
        landing = land(
            lines, files, cluster_id=cluster_id, capture_id=capture_id, timezone=timezone, known=known,
            redaction=redaction,
        )  # fmt: skip
    rows = {}
    for table in (*EVENT_TABLES, SOURCE_FILES):
        frame = landing.source_files if table is SOURCE_FILES else landing.tables[table.name]
        with step(table.name) as writing:
            writing.rows = rows[table.name] = warehouse.append(table, frame, transaction).rows
    say_what_was_rejected(warehouse, cluster_id, rows[REJECTED_LINES.name])
    return rows


@click.command(
    "ingest", cls=Configured, epilog="Example: tidegauge ingest examples/captures/failover --warehouse /tmp/lake"
)
@click.argument("capture", type=click.Path(path_type=Path))
@options(
    warehouse_option, cluster_option, capture_option, timezone_option, pattern_option, redact_option, redact_key_option,
    debug_option,
)  # fmt: skip
def ingest(
    capture: Path,
    warehouse: Home,
    *,
    cluster_id: str | None,
    capture_id: str | None,
    timezone: str,
    layout: Layout | None,
    redact: frozenset[Redacted],
    redact_key_file: Path | None,
) -> None:
    """Land a capture's logs, dumps and checkpoints as Delta tables.

    CAPTURE is the folder that holds broker-N/, or whose capture/ does, or any folder with brokers' logs: lines tell
    whose they are. Any file may be missing, packed (.gz) or rotated. A file of the same content lands once; files that
    came later add to the cluster's history.
    """
    redaction = redacting(redact, redact_key_file)
    files = find_files(capture, timezone)
    target = open_warehouse("ingest", warehouse, input_bytes=size_of(files), makes=True)
    with alone(target.path):
        _, rows = ingest_files(
            target, files, cluster_id=cluster_id, capture_id=capture_id, timezone=timezone, layout=layout,
            redaction=redaction,
        )  # fmt: skip
    print_table(("table", "rows landed"), [(name, f"{count:,}") for name, count in rows.items()])


def main(argv: Sequence[str] | None = None) -> int:
    """Run the job and return its exit code."""
    return run(ingest, argv)


if __name__ == "__main__":
    raise SystemExit(main())
