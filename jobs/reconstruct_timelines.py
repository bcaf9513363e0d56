"""`tidegauge reconstruct`: the landing tables of a cluster into its timelines, truncations and incidents."""

from __future__ import annotations

from collections.abc import Sequence

import click
from pyspark.sql import DataFrame

from jobs.alone import alone
from jobs.command import EVERY_CLUSTER, debug_option, options, run
from jobs.continuing import AFTER, continued, written_timelines
from jobs.deliveries import landed_clusters, landed_events
from jobs.keeping import keeping, with_few_kept
from jobs.new_rows import Landed, MustReplayAllError
from jobs.opening import open_warehouse, warehouse_option
from jobs.places import Home
from jobs.progress import print_table, step
from jobs.replay_marks import landed_until, mark_of
from jobs.run_config import Configured
from jobs.session import describe
from jobs.shuffles import few_tasks, in_few_parts, tasks_of
from jobs.warehouse import Warehouse
from jobs.whole_replay import Replay, whole_replay
from replay.clocks.ahead import Ahead
from replay.clocks.one_clock import on_leaders_clocks, on_one_clock, timelines_on_one_clock
from replay.findings.incidents import incidents
from replay.keep import Keep
from replay.profile import Profile
from replay.timelines import Timelines
from schemas import columns as C
from schemas.tables import INCIDENTS, TIMELINE_TABLES, Table


def reconstruct_cluster(warehouse: Warehouse, cluster_id: str, *, all_anew: bool = False) -> dict[str, int]:
    """Rows by timeline table, each replaced at once for this cluster."""
    until = landed_until(warehouse)
    landed = landed_events(warehouse, cluster_id)
    with few_tasks(warehouse.spark, tasks_of(landed)):
        rows, replay = write_timelines(warehouse, cluster_id, landed, until, all_anew=all_anew)
        mark = mark_of(cluster_id, replay.profile, until).text()
        rows[INCIDENTS.name] = write_incidents(warehouse, cluster_id, landed, replay, mark)
    return {table.name: rows[table.name] for table in TIMELINE_TABLES}


def write_timelines(
    warehouse: Warehouse, cluster_id: str, landed: Landed, until: int, *, all_anew: bool = False
) -> tuple[dict[str, int], Replay]:
    """Rows by table of all timelines but the incidents, and the replay that they are of.

    What had landed `until` a version of `source_files` is in them (`replay_marks.landed_until`).
    """
    with keeping() as keep:
        landed = with_few_kept(landed, keep)
        replay = whole_replay(landed, keep) if all_anew else _from_where_it_ended(warehouse, cluster_id, landed, keep)
        mark = mark_of(cluster_id, replay.profile, until).text()
        return {table.name: _write(warehouse, table, replay, cluster_id, mark) for table in AFTER}, replay


def write_incidents(warehouse: Warehouse, cluster_id: str, landed: Landed, replay: Replay, mark: str) -> int:
    """Incidents found in the timelines as written: in one plan each finder would replay everything again."""
    written = written_timelines(warehouse, cluster_id)
    describe(warehouse.spark, "find incidents")
    with keeping() as keep:
        with step("look for incidents"):
            landed = with_few_kept(landed, keep)
            found = incidents_in(landed, written, replay.profile, replay.ahead, keep)
        return write_table(warehouse, INCIDENTS, in_few_parts(found), cluster_id, note=mark)


def incidents_in(told: Landed, written: Timelines, profile: Profile, ahead: Ahead, keep: Keep) -> DataFrame:
    """The incidents of timelines, found with all times on one clock."""
    landed, seen = on_one_clock(told, ahead), timelines_on_one_clock(written, told, ahead)
    found = incidents(landed, seen.leader_timeline, seen.replica_timeline, seen.truncations, profile, keep)
    return on_leaders_clocks(found, (C.STARTED_AT, C.ENDED_AT), told, ahead)


def _from_where_it_ended(warehouse: Warehouse, cluster_id: str, landed: Landed, keep: Keep) -> Replay:
    """A replay of what the last one left open and of what has landed since; of everything where that is not sure."""
    describe(warehouse.spark, "look for the last replay")
    with step("look for the last replay") as looking:
        try:
            going_on = continued(warehouse, cluster_id, landed, keep)
        except MustReplayAllError as reason:
            looking.note = f"everything is replayed: {reason}"
        else:
            looking.note = f"goes on from {going_on.after:%Y-%m-%d %H:%M:%S} UTC"
            return going_on
    return whole_replay(landed, keep)


def _write(warehouse: Warehouse, table: Table, replay: Replay, cluster_id: str, mark: str) -> int:
    """Rows of the table, written in the place of those that the replay may change."""
    rows = None if replay.after is None else AFTER[table].format(moment=f"TIMESTAMP '{replay.after.isoformat()}'")
    return write_table(warehouse, table, getattr(replay.timelines, table.name), cluster_id, rows=rows, note=mark)


def write_table(
    warehouse: Warehouse, table: Table, frame: DataFrame, cluster_id: str, *, rows: str | None = None, note: str = ""
) -> int:
    """Rows of the table, written in the place of the cluster's, or of those of them that `rows` (SQL) says."""
    warehouse.create(table)
    with step(table.name) as writing:
        writing.rows = warehouse.replace(table, frame, cluster_id, rows=rows, note=note).rows
    return writing.rows


@click.command("reconstruct", cls=Configured, epilog="Example: tidegauge reconstruct --warehouse /tmp/lake")
@click.option("--all", "all_anew", is_flag=True, help="Replay everything, also what an earlier replay has settled.")
@options(warehouse_option, EVERY_CLUSTER, debug_option)
def reconstruct(warehouse: Home, cluster_id: str | None, all_anew: bool) -> None:
    """Replay what has landed and write the timelines.

    Without --cluster-id every cluster of the warehouse is replayed. Where deliveries have landed since the last replay
    it goes on from there; the result equals a replay of all deliveries in one piece. Running it again changes nothing.
    """
    target = open_warehouse("reconstruct", warehouse)
    summary = []
    with alone(target.path):
        for cluster in landed_clusters(target, cluster_id):
            rows = reconstruct_cluster(target, cluster, all_anew=all_anew)
            summary += [(cluster, name, f"{count:,}") for name, count in rows.items()]
    print_table(("cluster", "table", "rows written"), summary)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the job and return its exit code."""
    return run(reconstruct, argv)


if __name__ == "__main__":
    raise SystemExit(main())
