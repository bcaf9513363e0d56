"""`tidegauge reconstruct`: the landing tables of a cluster into its timelines, truncations and incidents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import click
from pyspark.sql import DataFrame

from jobs.alone import alone
from jobs.command import cluster_option, debug_option, options, run
from jobs.deliveries import landed_clusters, landed_events
from jobs.keeping import keeping
from jobs.opening import open_warehouse, warehouse_option
from jobs.places import Home
from jobs.progress import print_table, step
from jobs.replay_inputs import profile_of, slots_of
from jobs.run_config import Configured
from jobs.warehouse import Warehouse
from replay.assignment import assignments
from replay.incidents import incidents
from replay.profile import Profile
from replay.timelines import Keep, Timelines
from replay.timelines import reconstruct as replay_events
from schemas.tables import INCIDENTS, LEADER_TIMELINE, REPLICA_TIMELINE, TIMELINE_TABLES, TRUNCATIONS, Table


def reconstruct_cluster(warehouse: Warehouse, cluster_id: str) -> dict[str, int]:
    """Rows by timeline table, each replaced at once for this cluster."""
    landed = landed_events(warehouse, cluster_id)
    with keeping() as keep:
        with step("look at the events") as looking:
            assigned = keep(assignments(landed))
            slots, profile = slots_of(assigned), profile_of(landed, assigned)
            looking.note = f"{slots} replicas a partition, truncation by {profile.truncation}"
        rows = _write(warehouse, replay_events(landed, assigned, slots, profile, keep), cluster_id)
        return rows | _write_incidents(warehouse, landed, cluster_id, profile, keep)


def _write(warehouse: Warehouse, timelines: Timelines, cluster_id: str) -> dict[str, int]:
    """Rows by table, each written in one commit."""
    return {
        table.name: write_table(warehouse, table, getattr(timelines, table.name), cluster_id)
        for table in TIMELINE_TABLES
        if table.name in vars(timelines)
    }


def _write_incidents(
    warehouse: Warehouse,
    landed: Mapping[str, DataFrame],
    cluster_id: str,
    profile: Profile,
    keep: Keep,
) -> dict[str, int]:
    """Rows by table. Read from the tables just written: in one plan each finder would replay everything again."""
    leaders, replicas, cuts = (
        warehouse.read(table, cluster_id=cluster_id) for table in (LEADER_TIMELINE, REPLICA_TIMELINE, TRUNCATIONS)
    )
    found = incidents(landed, leaders, replicas, cuts, profile, keep)
    return {INCIDENTS.name: write_table(warehouse, INCIDENTS, found, cluster_id)}


def write_table(warehouse: Warehouse, table: Table, frame: DataFrame, cluster_id: str) -> int:
    """Rows of the table, written in the place of the cluster's."""
    warehouse.create(table)
    with step(table.name) as writing:
        writing.rows = warehouse.replace(table, frame, cluster_id).rows
    return writing.rows


@click.command("reconstruct", cls=Configured, epilog="Example: tidegauge reconstruct --warehouse /tmp/lake")
@options(warehouse_option, cluster_option, debug_option)
def reconstruct(warehouse: Home, cluster_id: str | None) -> None:
    """Replay what has landed and write the timelines.

    Without --cluster-id every cluster of the warehouse is replayed. The result equals a replay of all deliveries in
    one piece, and replaces the timelines of the cluster at once: running it again changes nothing.
    """
    target = open_warehouse("reconstruct", warehouse)
    summary = []
    with alone(target.path):
        for cluster in landed_clusters(target, cluster_id):
            rows = reconstruct_cluster(target, cluster)
            summary += [(cluster, name, f"{count:,}") for name, count in rows.items()]
    print_table(("cluster", "table", "rows written"), summary)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the job and return its exit code."""
    return run(reconstruct, argv)


if __name__ == "__main__":
    raise SystemExit(main())
