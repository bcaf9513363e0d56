"""`tidegauge`: every job as a subcommand, for one machine. On a cluster each is a `spark-submit` entry point."""

from __future__ import annotations

from collections.abc import Sequence

import click

from jobs import __version__
from jobs.agree_capture import agree
from jobs.capture_cluster import capture
from jobs.check_timelines import check
from jobs.command import run
from jobs.generate_events import generate
from jobs.ingest_events import ingest
from jobs.reconstruct_timelines import reconstruct
from jobs.report_timelines import report
from jobs.run_pipeline import pipeline
from jobs.show_steps import show
from jobs.sql_prompt import sql
from jobs.what_if import what_if


@click.group(
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 no critical rule is broken, 1 only warnings (with --fail-on warn), 2 one is, "
    "3 could not run, 64 usage.",
)
@click.version_option(__version__, message="tidegauge %(version)s")
def tidegauge() -> None:
    """Rebuild log end offsets, in-sync replicas and high watermarks from a Kafka cluster's logs."""


for command in (pipeline, ingest, reconstruct, check, report, sql, what_if, show, capture, generate, agree):
    tidegauge.add_command(command)


def main(argv: Sequence[str] | None = None) -> int:
    """Run a subcommand and return its exit code."""
    return run(tidegauge, argv)


if __name__ == "__main__":
    raise SystemExit(main())
