"""`tidegauge reconstruct`: the landing tables of a cluster into its timelines, truncations and incidents."""

from __future__ import annotations

from collections.abc import Sequence

import click
from pyspark.sql import DataFrame

from jobs.command import cluster_option, debug_option, options, run, warehouse_option
from jobs.deliveries import EVENT_TABLES, landed_clusters
from jobs.progress import print_table, step
from jobs.replay_inputs import profile_of, slots_of
from jobs.session import spark_session
from jobs.warehouse import Warehouse
from replay.assignment import assignments
from replay.timelines import Timelines
from replay.timelines import reconstruct as replay_events
from schemas.tables import TIMELINE_TABLES


def reconstruct_cluster(warehouse: Warehouse, cluster_id: str) -> dict[str, int]:
    """Rows by timeline table, each replaced at once for this cluster."""
    landed = {table.name: warehouse.read(table, cluster_id=cluster_id) for table in EVENT_TABLES}
    kept: list[DataFrame] = []

    def keep(stage: DataFrame) -> DataFrame:
        kept.append(stage.persist())
        return kept[-1]

    with step("look at the events") as looking:
        assigned = keep(assignments(landed))
        slots, profile = slots_of(assigned), profile_of(landed)
        looking.note = f"{slots} replicas a partition, truncation by {profile.truncation}"
    try:
        return _write(warehouse, replay_events(landed, assigned, slots, profile, keep), cluster_id)
    finally:
        for stage in kept:
            stage.unpersist()


def _write(warehouse: Warehouse, timelines: Timelines, cluster_id: str) -> dict[str, int]:
    """Rows by table, each written in one commit."""
    rows = {}
    for table in TIMELINE_TABLES:
        if table.name not in vars(timelines):
            continue
        warehouse.create(table)
        with step(table.name) as writing:
            commit = warehouse.replace(table, getattr(timelines, table.name), cluster_id)
            writing.rows = rows[table.name] = commit.rows
    return rows


@click.command("reconstruct", epilog="Example: tidegauge reconstruct --warehouse /tmp/lake")
@options(warehouse_option, cluster_option, debug_option)
def reconstruct(warehouse: str, cluster_id: str | None) -> None:
    """Replay what has landed and write the timelines.

    Without --cluster-id every cluster of the warehouse is replayed. The result equals a replay of all deliveries in
    one piece, and replaces the timelines of the cluster at once: running it again changes nothing.
    """
    spark = spark_session("reconstruct", warehouse=warehouse)
    target = Warehouse(spark, warehouse)
    summary = []
    for cluster in landed_clusters(target, cluster_id):
        rows = reconstruct_cluster(target, cluster)
        summary += [(cluster, name, f"{count:,}") for name, count in rows.items()]
    print_table(("cluster", "table", "rows written"), summary)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the job and return its exit code."""
    return run(reconstruct, argv)


if __name__ == "__main__":
    raise SystemExit(main())
