"""`tidegauge pipeline`: a capture into a warehouse with timelines, verdicts and a report, in one Spark session."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Unpack

import click

from jobs.alone import alone
from jobs.check_run import Asked
from jobs.check_timelines import check_cluster, config_option, fail_on_option, policy_of
from jobs.command import debug_option, options, run
from jobs.delivery import DELIVERY_OPTIONS, DeliveryArguments, delivery_of
from jobs.errors import CouldNotRunError, reason
from jobs.ingest_delivery import ingest_delivery
from jobs.opening import open_warehouse, warehouse_option
from jobs.places import Home
from jobs.progress import print_table, say
from jobs.reconstruct_timelines import reconstruct_cluster
from jobs.report_timelines import write_report
from jobs.run_config import Configured
from jobs.warehouse import Warehouse


@click.command(
    "pipeline", cls=Configured, epilog="Example: tidegauge pipeline examples/captures/failover --warehouse /tmp/lake"
)
@click.argument("capture", type=click.Path(path_type=Path))
@options(warehouse_option, *DELIVERY_OPTIONS, config_option, fail_on_option, debug_option)
def pipeline(
    capture: Path, warehouse: Home, *, config: Path | None, fail_on: str | None, **arguments: Unpack[DeliveryArguments]
) -> int:
    """Ingest a capture, reconstruct its cluster's timelines, check them and write the report.

    CAPTURE is the folder that holds broker-N/, or whose capture/ does, or any folder with brokers' logs. The exit code
    is the check's, also where no report can be written, as beside an object store.
    """
    asked = Asked(policy_of(config), fail_on)
    delivery = delivery_of(capture, **arguments)
    target = open_warehouse("pipeline", warehouse, landing=delivery.requests, makes=True)
    with alone(target.path):
        written = ingest_delivery(target, delivery) | reconstruct_cluster(target, delivery.cluster_id)
        print_table(("table", "rows written"), [(name, f"{count:,}") for name, count in written.items()])
        code = check_cluster(target, delivery.cluster_id, asked)
        _report(target, delivery.cluster_id)
    return code


def _report(warehouse: Warehouse, cluster_id: str) -> None:
    """Write the report where it has its place; that it has none, or cannot be written, changes no verdict."""
    try:
        write_report(warehouse, [cluster_id])
    except (OSError, CouldNotRunError) as error:
        say(f"  no report: {reason(error)}")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the job and return its exit code."""
    return run(pipeline, argv)


if __name__ == "__main__":
    raise SystemExit(main())
