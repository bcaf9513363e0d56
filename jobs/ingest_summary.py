"""What an ingest tells: what is there before it is read, and what of it could not be used."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pyspark.sql import functions as F

from jobs.progress import say
from jobs.warehouse import Warehouse
from replay.views.sources_found import rejected_shapes
from schemas import columns as C
from schemas.columns import REASON
from schemas.tables import REJECTED_LINES, SOURCE_FILES
from sources.coverage import Found
from sources.source_file import SourceFile

SHAPES_SHOWN = 10
"""Shapes of lines that could not be used, as many as are told."""


def say_what_is_there(sources: Sequence[Found]) -> None:
    """Tell what was found, a line a kind and broker: from when to when, and what it allows."""
    for it in sources:
        brokers = ", ".join(map(str, it.brokers))
        whose = f"broker {brokers}" if len(it.brokers) == 1 else f"brokers {brokers}" if brokers else "cluster"
        span = f"{it.covered.first:%Y-%m-%d %H:%M} to {it.covered.last:%m-%d %H:%M}" if it.covered.first else ""
        say(f"    {it.kind.value:<30}{whose:<14}{it.files:>5} files  {span:<32}{it.allows}")


def say_what_comes_twice(hours: Sequence[str], timezone: str) -> None:
    """Tell which hours of the logs their zone has twice: nothing tells the second from the first."""
    for hour in hours:
        say(f"  {hour}:00 comes twice in {timezone}; lines without a zone are taken for the first, of summer time")


def say_what_is_to_the_second(files: Iterable[SourceFile]) -> None:
    """Tell how many logs have times without a fraction: two brokers within a second may be in another order."""
    if coarse := sum(file.is_to_the_second for file in files):
        logs = "a log has" if coarse == 1 else f"{coarse} logs have"
        say(f"  {logs} times without a fraction: the lines of a second are spread over it, times may be 1 s off")


def say_which_cluster(warehouse: Warehouse, cluster_id: str) -> None:
    """Tell under which name a delivery lands that names no cluster, where the warehouse has those of others."""
    rows = warehouse.read(SOURCE_FILES).select(C.CLUSTER_ID).distinct().collect()
    if others := sorted({row[0] for row in rows} - {cluster_id}):
        say(
            f"  no line tells which cluster this is (a broker's start does): it lands as {cluster_id}; "
            f"if it is one of {', '.join(others)}, name that by --cluster-id"
        )


def say_what_was_rejected(warehouse: Warehouse, cluster_id: str, rejected: int) -> None:
    """Tell the commonest shapes of lines that could not be used: a wording not known here shows as one."""
    if not rejected:
        return
    rows = rejected_shapes(warehouse.read(REJECTED_LINES, cluster_id=cluster_id)).orderBy(F.desc("lines"), "shape")
    lines = "1 line" if rejected == 1 else f"{rejected:,} lines"
    say(f"  {lines} could not be used; the view rejected_shapes has them all:")
    for row in rows.limit(SHAPES_SHOWN).collect():
        shape = f": {row['shape'][:100]}" if row["shape"] else ""
        say(f"    {row['lines']:>8,}  {row[REASON]}{shape}")
