"""`tidegauge show`: a partition's events, one a line, with what its leader knew after each."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

import click
from pyspark.sql import functions as F

from jobs.command import cluster_option, debug_option, options, run
from jobs.deliveries import require_one
from jobs.errors import CouldNotRunError
from jobs.opening import open_warehouse, warehouse_option
from jobs.places import Home
from jobs.progress import print_table, say
from jobs.run_config import Configured
from jobs.step_table import HEAD, by_topic_id, lines_of, step_rows
from schemas import columns as C
from schemas.tables import LEADER_TIMELINE

AS_IN = "in UTC: '2026-11-21 10:37:01.5'"
TIMES = ("%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%S.%f", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M:%S.%f")


@click.command(
    "show", cls=Configured, epilog="Example: tidegauge show --warehouse /tmp/lake --topic orders --partition 1"
)
@options(
    warehouse_option,
    cluster_option("the one that has the partition"),
    click.option("--topic", required=True, metavar="NAME"),
    click.option("--partition", required=True, type=click.IntRange(0), metavar="N"),
    click.option("--from", "start", type=click.DateTime(TIMES), metavar="TIME", help=f"First time to show, {AS_IN}."),
    click.option("--to", "end", type=click.DateTime(TIMES), metavar="TIME", help=f"Last time to show, {AS_IN}."),
    click.option("--limit", default=200, show_default=True, type=click.IntRange(1), help="Events to show."),
    debug_option,
)
def show(
    warehouse: Home,
    cluster_id: str | None,
    topic: str,
    partition: int,
    start: datetime | None,
    end: datetime | None,
    limit: int,
) -> None:
    """Print a partition's events with LEO, remote LEOs, ISR and HW after each, as in a worked example.

    A `+` before a replica in the ISR: its joining is in flight, and counts already. A `?` is unknown. A topic that was
    deleted and created anew is told topic id by topic id.
    """
    target = open_warehouse("show", warehouse)
    events = target.read(LEADER_TIMELINE, cluster_id=cluster_id).where(
        (F.col(C.TOPIC) == topic) & (F.col(C.PARTITION) == partition)
    )
    if cluster_id is None:
        of = events.select(C.CLUSTER_ID).distinct().collect()
        require_one(sorted(row[0] for row in of), f"{topic}-{partition}")
    if start is not None:
        events = events.where(F.col(C.EVENT_TIME) >= F.lit(f"{start.isoformat()}Z").cast(C.EVENT_TIME.type))
    if end is not None:  # as times are shown: of the whole millisecond
        past = end + timedelta(milliseconds=1)
        events = events.where(F.col(C.EVENT_TIME) < F.lit(f"{past.isoformat()}Z").cast(C.EVENT_TIME.type))
    rows, is_cut = step_rows(events, limit)
    if not rows:
        then = "" if start is None and end is None else " at that time"
        message = f"no event of {topic}-{partition} in {warehouse}{then}"
        raise CouldNotRunError(message)
    topics = by_topic_id(rows)
    for topic_id, steps in topics.items():
        if len(topics) > 1:
            click.echo(f"topic id {topic_id}")
        print_table(HEAD, lines_of(steps))
    if is_cut:
        say(f"first {limit} events; --limit, --from and --to show others")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the job and return its exit code."""
    return run(show, argv)


if __name__ == "__main__":
    raise SystemExit(main())
