"""What is taken back: what a run that died left, what was torn of a file that grew, what is told better by now.

`source_files` is written last: what lies in other tables beyond it is of no delivery.
"""

from __future__ import annotations

from functools import reduce

from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F

from jobs.deliveries import EVENT_TABLES, name_of_ingest
from jobs.warehouse import Warehouse
from schemas import columns as C
from schemas.kinds import AppendSource
from schemas.tables import PRODUCE_EVENTS, SOURCE_FILES, Table
from sources.file_kinds import LOGS
from sources.resolve_appends import TERM

LANDED_FROM = (C.CAPTURE_ID, C.SOURCE_FILE)
ENDED, NOTHING, NO_END = "ended", -1, 2**62
"""bigint: the last line of a delivery's file that is finished; none of it; all of it, whatever a line of it is."""


def withdraw_unfinished(warehouse: Warehouse, cluster_id: str) -> bool:
    """Delete the rows of a delivery that never reached `source_files`; True if there was one."""
    if _latest(warehouse, EVENT_TABLES[0], cluster_id) == _latest(warehouse, SOURCE_FILES, cluster_id):
        return False
    # A log that grew may come again under the same two names: what is behind its finished lines is left.
    ended = F.max(F.when(F.col(C.KIND).isin([kind.value for kind in LOGS]), F.col(C.LINES_READ)).otherwise(NO_END))
    finished = warehouse.read(SOURCE_FILES, cluster_id=cluster_id).groupBy(*LANDED_FROM).agg(ended.alias(ENDED))
    landed = reduce(DataFrame.unionAll, [_landed_from(warehouse, table, cluster_id) for table in EVENT_TABLES])
    joined = landed.join(finished, [str(column) for column in LANDED_FROM], "left").fillna(NOTHING, [ENDED])
    left = joined.where(F.col(C.SOURCE_LINE) > F.col(ENDED)).collect()
    for table in EVENT_TABLES:
        files = [row for row in left if row[C.TABLE_NAME] == table.name]
        if files:
            warehouse.delete(table, cluster_id, reduce(Column.__or__, map(_is_from, files)))
    return True


def _landed_from(warehouse: Warehouse, table: Table, cluster_id: str) -> DataFrame:
    """One row per file that a table has rows of: delivery, file, its last line there and the table's name."""
    rows = warehouse.read(table, cluster_id=cluster_id).groupBy(*LANDED_FROM)
    return rows.agg(F.max(C.SOURCE_LINE).alias(C.SOURCE_LINE), F.lit(table.name).alias(C.TABLE_NAME))


def _is_from(file: Row) -> Column:
    """Whether a row came with this delivery's file, behind what of it is finished."""
    is_from = (F.col(C.CAPTURE_ID) == file[C.CAPTURE_ID]) & (F.col(C.SOURCE_FILE) == file[C.SOURCE_FILE])
    is_left: Column = is_from & (F.col(C.SOURCE_LINE) > file[ENDED])
    return is_left


def take_back(warehouse: Warehouse, cluster_id: str, which: Column) -> None:
    """Delete landed rows; a table that has none of them is left alone, and so seen to have only grown."""
    found = [
        warehouse.read(table, cluster_id=cluster_id).where(which).select(F.lit(table.name)).limit(1)
        for table in EVENT_TABLES
    ]
    names = {row[0] for row in reduce(DataFrame.unionAll, found).collect()}
    for table in EVENT_TABLES:
        if table.name in names:
            warehouse.delete(table, cluster_id, which)


def take_back_doubles(warehouse: Warehouse, cluster_id: str, appends: DataFrame) -> None:
    """Delete appends that only a dump bore witness to, where the requests are among `appends`, that land by now."""
    source, place = F.col(C.APPEND_SOURCE), [*TERM, str(C.BASE_OFFSET)]
    by_dump = warehouse.read(PRODUCE_EVENTS, cluster_id=cluster_id).where(source == AppendSource.SEGMENT.value)
    if by_dump.isEmpty():
        return
    requested = appends.where((source == AppendSource.REQUEST.value) & (F.col(C.BASE_OFFSET) >= 0))
    places = requested.select(*place).distinct()
    if not by_dump.join(places, place, "left_semi").isEmpty():
        warehouse.delete_at(PRODUCE_EVENTS, cluster_id, places, source == AppendSource.SEGMENT.value)


def _latest(warehouse: Warehouse, table: Table, cluster_id: str) -> str:
    """Name of the last delivery of this cluster that the table has a commit of; '' for none."""
    names = (commit.note for commit in warehouse.commits(table))
    return next((name for name in names if name.startswith(name_of_ingest(cluster_id))), "")
