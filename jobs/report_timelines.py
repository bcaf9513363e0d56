"""`tidegauge report`: a warehouse's findings as one HTML file that asks no network."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import click

from jobs import __version__
from jobs.command import EVERY_CLUSTER, debug_option, options, run
from jobs.deliveries import landed_clusters
from jobs.errors import CouldNotRunError
from jobs.opening import open_warehouse, warehouse_option
from jobs.places import Home, on_this_machine
from jobs.progress import step
from jobs.report_charts import library
from jobs.report_markdown import markdown
from jobs.report_page import render
from jobs.report_sections import Section, section
from jobs.run_config import Configured
from jobs.session import describe
from jobs.sql_views import register_views
from jobs.warehouse import Warehouse
from replay.views.catalog import VIEWS
from schemas.kinds import Status


def write_report(
    warehouse: Warehouse, cluster_ids: Iterable[str], output: Path | None = None, ticket: Path | None = None
) -> Path:
    """Write the report of these clusters, as Markdown too if a ticket is named; the file it is in."""
    target = output or default_output(warehouse.path)
    describe(warehouse.spark, "report")
    with step("report") as reporting:
        register_views(warehouse, VIEWS)
        sections = [section(warehouse, cluster, number) for number, cluster in enumerate(cluster_ids)]
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(page(sections), encoding="utf-8")
        if ticket is not None:
            ticket.parent.mkdir(parents=True, exist_ok=True)
            ticket.write_text(markdown(sections, __version__), encoding="utf-8")
        reporting.note = str(target)
    return target


def page(sections: Sequence[Section]) -> str:
    """The whole report: what was found, the charts, and the library that draws them."""
    statuses = [status.value for status in Status]
    return render(clusters=sections, statuses=statuses, version=__version__, library=library())


def default_output(warehouse: str) -> Path:
    """report/index.html in the warehouse; an object store is no place for a plain file of ours."""
    folder = on_this_machine(warehouse)
    if folder is None:
        message = f"{warehouse} is no local folder: name a file with `tidegauge report --output FILE`"
        raise CouldNotRunError(message)
    return folder / "report" / "index.html"


@click.command("report", cls=Configured, epilog="Example: tidegauge report --warehouse /tmp/lake")
@options(warehouse_option, EVERY_CLUSTER, debug_option)
@click.option("--output", type=click.Path(path_type=Path), metavar="FILE", help="Default: report/index.html in DIR.")
@click.option("--markdown", "ticket", type=click.Path(path_type=Path), metavar="FILE", help="Write Markdown there too.")
def report(warehouse: Home, cluster_id: str | None, output: Path | None, ticket: Path | None) -> None:
    """Write what was found as one HTML file, and as Markdown for a ticket.

    What was lost, what happened, truncations, who held the high watermark back, the ISR's story, commit latency, each
    with the SQL behind it; verdicts of the latest check, leaderships; and the high watermark and log end offsets over
    time of the partitions where most happened. The file is complete in itself: it can be mailed, and opens without a
    network.
    """
    target = open_warehouse("report", warehouse)
    click.echo(write_report(target, landed_clusters(target, cluster_id), output, ticket))


def main(argv: Sequence[str] | None = None) -> int:
    """Run the job and return its exit code."""
    return run(report, argv)


if __name__ == "__main__":
    raise SystemExit(main())
