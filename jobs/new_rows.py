"""The rows that have landed since a cluster was replayed last; where nobody can tell them, everything is replayed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from jobs import __version__
from jobs.replay_marks import Mark, has_only_grown, last_mark, protocol_text
from jobs.warehouse import Warehouse
from replay.profile import Profile
from schemas import columns as C
from schemas.tables import BROKER_REGISTRATIONS, LEADER_CHANGES, METADATA_CHANGES, SOURCE_FILES

Landed = Mapping[str, DataFrame]
_RECORDS = (METADATA_CHANGES, BROKER_REGISTRATIONS)


class MustReplayAllError(Exception):
    """The last replay can not be gone on from; says why, in words."""


def earlier_replay(warehouse: Warehouse, cluster_id: str) -> Mark:
    """The mark of the last replay of the cluster."""
    mark = last_mark(warehouse, cluster_id)
    if mark is None:
        raise MustReplayAllError("there is no earlier replay to go on from")
    return mark


def new_rows(
    warehouse: Warehouse, cluster_id: str, mark: Mark, landed: Landed, protocol: Profile
) -> dict[str, DataFrame]:
    """The rows of each landing table that have landed since the replay of the cluster that `mark` is of."""
    require(mark.engine == __version__, f"the last replay was by version {mark.engine}")
    require(mark.protocol == protocol_text(protocol), "the cluster's settings are others now")
    require(mark.is_plain, "silence or an inferred ISR reach far, or clocks are apart")
    require(has_only_grown(warehouse, mark), "landed rows were changed since")
    then, now = (_files_of(warehouse, cluster_id, version) for version in (mark.source_files, None))
    require(now != then, "nothing new has landed")
    require(all(now[capture] == files for capture, files in then.items()), "a delivery has more files than it had")
    is_new = F.col(C.CAPTURE_ID).isin(sorted(now.keys() - then.keys()))
    new = {name: rows.where(is_new) for name, rows in landed.items()}
    old_roles = landed[LEADER_CHANGES.name].where(~is_new)
    broker = [str(C.BROKER_ID)]
    first_heard = new[LEADER_CHANGES.name].join(old_roles.select(*broker).distinct(), broker, "left_anti")
    # A leader that was silent was made up from the metadata log (`replay.events.untold`): now it tells by itself.
    told_for = not landed[METADATA_CHANGES.name].isEmpty()
    require(not (told_for and not first_heard.isEmpty()), "a broker is heard for the first time")
    return new | {table.name: _not_yet_told(new[table.name], landed[table.name].where(~is_new)) for table in _RECORDS}


def _files_of(warehouse: Warehouse, cluster_id: str, version: int | None) -> Counter[str]:
    """How many files each delivery had, as of a version of `source_files`."""
    rows = warehouse.read(SOURCE_FILES, cluster_id=cluster_id, version=version).groupBy(C.CAPTURE_ID).count().collect()
    return Counter({row[0]: row[1] for row in rows})


def _not_yet_told(new: DataFrame, old: DataFrame) -> DataFrame:
    """Return the new rows but for those of records that had landed before: each dump has the whole metadata log."""
    return new.join(old.select(C.METADATA_OFFSET).distinct(), [str(C.METADATA_OFFSET)], "left_anti")


def require(holds: bool, else_: str) -> None:
    """Say why everything is replayed, unless it holds."""
    if not holds:
        raise MustReplayAllError(else_)
