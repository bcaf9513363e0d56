"""`tidegauge agree`: a warehouse beside what the brokers of its capture said at DEBUG and TRACE."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import click
from pyspark.sql import DataFrame

from jobs.command import cluster_option, debug_option, options, run
from jobs.deliveries import landed_clusters, require_one
from jobs.disagreements import show_disagreement
from jobs.errors import CouldNotRunError, ExitCode
from jobs.keeping import keeping
from jobs.opening import open_warehouse, warehouse_option
from jobs.places import Home
from jobs.progress import print_table
from jobs.run_config import Configured
from jobs.warehouse import Warehouse
from replay.agreement.compared import TRUTH, agreement
from replay.agreement.known_otherwise import WHAT
from replay.agreement.verdict import agrees, differing, summary
from schemas import columns as C
from schemas.tables import BROKER_STATEMENTS, LEADER_TIMELINE, REPLICA_TIMELINE, TRUNCATIONS
from sources.capture_folder import capture_root
from sources.errors import CaptureError
from sources.files import discover
from sources.stated_cluster import stated_cluster_id


def cluster_of(warehouse: Warehouse, capture: Path) -> str:
    """The warehouse's cluster; of several the one that the capture's logs are of."""
    clusters = landed_clusters(warehouse)
    if len(clusters) > 1:
        with suppress(CaptureError):  # what was generated has no logs
            stated = stated_cluster_id(discover(capture_root(capture)))
            clusters = [stated] if stated in clusters else clusters
    require_one(clusters, warehouse.path)
    return clusters[0]


def compare(warehouse: Warehouse, cluster_id: str, truth: Path) -> DataFrame:
    """One row per value that was stated or rebuilt: `replay.agreement.compared.agreement`."""
    said = warehouse.spark.read.schema(TRUTH).json(str(truth.absolute()))
    leaders, replicas, cuts, statements = (
        warehouse.read(table, cluster_id=cluster_id)
        for table in (LEADER_TIMELINE, REPLICA_TIMELINE, TRUNCATIONS, BROKER_STATEMENTS)
    )
    return agreement(said, leaders, replicas, cuts, statements)


@click.command(
    "agree", cls=Configured, epilog="Example: tidegauge agree examples/captures/steady --warehouse /tmp/lake"
)
@click.argument("capture", type=click.Path(path_type=Path))
@click.option(
    "--differences", type=click.IntRange(min=1), default=1, show_default=True,
    help="Show so many of them, with the events around each.",
)  # fmt: skip
@options(warehouse_option, cluster_option("the one there is, else that of the capture's logs"), debug_option)
def agree(capture: Path, differences: int, warehouse: Home, cluster_id: str | None) -> int:
    """Compare a warehouse with CAPTURE/truth.jsonl.gz: what its brokers said, per partition, and the first differences.

    The exit code is 0 if at least 99.9 % of each kind of value is found and at most 0.1 % is extra, else 2. What no
    line can tell counts as found, up to 0.5 %: HWs and LEOs that only a bounded row covers, and remote LEOs of
    requests in flight when their leader was killed.
    """
    truth = capture / "truth.jsonl.gz"
    if not truth.is_file():
        message = f"{truth} is not there: only a capture made with DEBUG and TRACE lines can be compared"
        raise CouldNotRunError(message)
    target = open_warehouse("agree", warehouse)
    cluster = cluster_id or cluster_of(target, capture)
    with keeping() as keep:
        values = keep(compare(target, cluster, truth))
        of_partitions = summary(values).orderBy(WHAT, C.TOPIC, C.PARTITION)
        summaries = of_partitions.collect()
        if not any(row["stated"] for row in summaries):
            message = f"{truth} says nothing of what was rebuilt"
            raise CouldNotRunError(message)
        print_table(of_partitions.columns, [[_text(v) for v in row] for row in summaries])
        found = differing(values).limit(differences).collect()
    for number, value in enumerate(found, start=1):
        show_disagreement(target, cluster, capture, value, number)
    return ExitCode.OK if agrees(summaries) else ExitCode.RULE_BROKEN


def _text(value: object) -> str:
    return f"{value:.1f}" if isinstance(value, float) else ("" if value is None else str(value))


def main(argv: Sequence[str] | None = None) -> int:
    """Run the job and return its exit code."""
    return run(agree, argv)


if __name__ == "__main__":
    raise SystemExit(main())
