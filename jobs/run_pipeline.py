"""`tidegauge pipeline`: a capture into a warehouse with timelines, verdicts and a report, in one Spark session."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from jobs.alone import alone
from jobs.check_run import Asked
from jobs.check_timelines import check_cluster, config_option, fail_on_option, policy_of
from jobs.command import (
    capture_option,
    cluster_option,
    debug_option,
    options,
    pattern_option,
    run,
    timezone_option,
)
from jobs.ingest_events import find_files, ingest_files, size_of
from jobs.opening import open_warehouse, warehouse_option
from jobs.places import Home
from jobs.progress import print_table
from jobs.reconstruct_timelines import reconstruct_cluster
from jobs.redacting import redact_key_option, redact_option, redacting
from jobs.report_timelines import write_report
from jobs.run_config import Configured
from sources.log4j import Layout
from sources.redaction import Redacted


@click.command(
    "pipeline", cls=Configured, epilog="Example: tidegauge pipeline examples/captures/failover --warehouse /tmp/lake"
)
@click.argument("capture", type=click.Path(path_type=Path))
@options(
    warehouse_option, cluster_option, capture_option, timezone_option, pattern_option, redact_option, redact_key_option,
    config_option, fail_on_option, debug_option,
)  # fmt: skip
def pipeline(
    capture: Path,
    warehouse: Home,
    *,
    cluster_id: str | None,
    capture_id: str | None,
    timezone: str,
    layout: Layout | None,
    redact: frozenset[Redacted],
    redact_key_file: Path | None,
    config: Path | None,
    fail_on: str | None,
) -> int:
    """Ingest a capture, reconstruct its cluster's timelines, check them and write the report.

    CAPTURE is the folder that holds broker-N/, or whose capture/ does, or any folder with brokers' logs. The exit code
    is the check's.
    """
    asked, redaction = Asked(policy_of(config), fail_on), redacting(redact, redact_key_file)
    files = find_files(capture, timezone)
    target = open_warehouse("pipeline", warehouse, input_bytes=size_of(files), makes=True)
    with alone(target.path):
        cluster, landed = ingest_files(
            target, files, cluster_id=cluster_id, capture_id=capture_id, timezone=timezone, layout=layout,
            redaction=redaction,
        )  # fmt: skip
        written = landed | reconstruct_cluster(target, cluster)
        print_table(("table", "rows written"), [(name, f"{count:,}") for name, count in written.items()])
        code = check_cluster(target, cluster, asked)
        write_report(target, [cluster])
    return code


def main(argv: Sequence[str] | None = None) -> int:
    """Run the job and return its exit code."""
    return run(pipeline, argv)


if __name__ == "__main__":
    raise SystemExit(main())
