"""Rows of earlier deliveries of a cluster: a line's other half may have landed with one of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from schemas import columns as C
from schemas import tables as T
from schemas.tables import Table
from sources.source_file import SourceFile


class Earlier:
    """Rows of earlier deliveries, without this one's: its tables are written while others are still read."""

    def __init__(self, known: Mapping[str, DataFrame], capture_id: str, files: Sequence[SourceFile]) -> None:
        self._known = known
        is_own = (F.col(C.CAPTURE_ID) == capture_id) & F.col(C.SOURCE_FILE).isin([file.name for file in files])
        for file in files:
            if file.lines_before:  # the file that it grew from may bear its name, and that of the delivery
                is_own &= (F.col(C.SOURCE_FILE) != file.name) | (F.col(C.SOURCE_LINE) > file.lines_before)
        self._is_own = is_own

    def rows(self, table: Table) -> DataFrame | None:
        """The earlier rows of a table, as a parser gives them; None where none are known."""
        frame = self._known.get(table.name)
        return None if frame is None else frame.where(~self._is_own).drop(*T.LANDED)

    def and_now(self, table: Table, now: DataFrame) -> DataFrame:
        """The rows of a table of this delivery and the earlier ones."""
        before = self.rows(table)
        return now if before is None else now.unionByName(before)
