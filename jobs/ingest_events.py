"""`tidegauge ingest`: a capture's files into the landing tables. A file lands once, whatever is run again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Unpack

import click

from jobs.alone import alone
from jobs.command import debug_option, options, run
from jobs.delivery import DELIVERY_OPTIONS, DeliveryArguments, delivery_of
from jobs.ingest_delivery import ingest_delivery
from jobs.opening import open_warehouse, warehouse_option
from jobs.places import Home
from jobs.progress import print_table
from jobs.run_config import Configured


@click.command(
    "ingest", cls=Configured, epilog="Example: tidegauge ingest examples/captures/failover --warehouse /tmp/lake"
)
@click.argument("capture", type=click.Path(path_type=Path))
@options(warehouse_option, *DELIVERY_OPTIONS, debug_option)
def ingest(capture: Path, warehouse: Home, **arguments: Unpack[DeliveryArguments]) -> None:
    """Land a capture's logs, dumps and checkpoints as Delta tables.

    CAPTURE is the folder that holds broker-N/, or whose capture/ does, or any folder with brokers' logs: lines tell
    whose they are. Any file may be missing, packed (.gz) or rotated. A file of the same content lands once; files that
    came later add to the cluster's history.
    """
    delivery = delivery_of(capture, **arguments)
    target = open_warehouse("ingest", warehouse, landing=delivery.requests, makes=True)
    with alone(target.path):
        rows = ingest_delivery(target, delivery)
    print_table(("table", "rows landed"), [(name, f"{count:,}") for name, count in rows.items()])


def main(argv: Sequence[str] | None = None) -> int:
    """Run the job and return its exit code."""
    return run(ingest, argv)


if __name__ == "__main__":
    raise SystemExit(main())
