"""One number for what every variant computed: LEO, remote LEOs and HW after each event, and where replicas ever were.

Sums do not depend on order. Of replicas' states the distinct ones count: variants differ in how often they repeat one.
"""

from __future__ import annotations

from pathlib import Path

import duckdb
from deltalake import DeltaTable

from bench.wide import LEADERS, REPLICAS
from schemas.tables import LEADER_TIMELINE, REPLICA_TIMELINE

Sums = tuple[int, int, int, int]
"""Leader rows and their sum, distinct states of replicas and their sum."""

_ENGINES = ("engine", "in_one_piece")
"""Those that write the timelines as they are."""
_KERNELS = ("apply_in_arrow", "apply_in_pandas")
_REMOTES = {
    **dict.fromkeys(_ENGINES, "list_sum(map_values(remote_log_end_offset))"),
    "duckdb_peer": "list_sum(list_filter([leo_1, leo_2, leo_3], lambda leo, i: i <> leader))",
    "polars_peer": "coalesce(leo_0, 0) + coalesce(leo_1, 0) + coalesce(leo_2, 0)",
    "loop_peer": "known - (2 - heard)",
    **dict.fromkeys(_KERNELS, "leo_0 + leo_1 + leo_2 - CASE leader WHEN 0 THEN leo_0 WHEN 1 THEN leo_1 ELSE leo_2 END"),
}
"""The sum of the remote LEOs in a row: of all replicas but the leader."""


def sums_of(variant: str, folder: Path) -> Sums:
    """The sums of what a variant wrote below a folder."""
    remotes = _REMOTES[variant]
    leo = "log_end_offset" if variant in _ENGINES else "log_end"
    hw, own = ("high_watermark", "log_end_offset") if variant in _ENGINES else ("hw", "leo")
    replica = "slot" if variant in _KERNELS else "replica_id"
    leaders, replicas = _files(variant, folder)
    with duckdb.connect() as db:
        db.execute("SET threads = 2")
        of_leaders = db.execute(
            f"SELECT count(*), sum((partition + 1) * ({leo} + 3 * {hw} + 7 * ({remotes}))) FROM read_parquet(?)",
            [leaders],
        ).fetchone()
        of_replicas = db.execute(
            f"SELECT count(*), sum((partition + 1) * (leo + 3 * hw)) FROM (SELECT DISTINCT partition, {replica}, "
            f"{own} AS leo, {hw} AS hw FROM read_parquet(?) WHERE {own} > 0 AND {hw} >= 0)",
            [replicas],
        ).fetchone()
    if of_leaders is None or of_replicas is None:
        raise ValueError(f"{folder}: nothing to sum")
    return (*map(int, of_leaders), *map(int, of_replicas))  # type: ignore[return-value]


def _files(variant: str, folder: Path) -> tuple[list[str], list[str]]:
    """The Parquet files of both timelines."""
    if variant in _ENGINES:
        return tuple(DeltaTable(folder / table.name).file_uris() for table in (LEADER_TIMELINE, REPLICA_TIMELINE))  # type: ignore[return-value]
    return tuple(DeltaTable(folder / timeline).file_uris() for timeline in (LEADERS, REPLICAS))  # type: ignore[return-value]
