"""What a rule speaks of: a table, or a window view of it, whose rows hold all that one rule needs to see at once.

A rule is a predicate over one row. What lies before a row (the previous HW, the highest HW of earlier leaders) is made
a column of it in its subject, so that the rules stay one line of SQL each and one pass judges all rules of a subject.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from schemas import columns as C
from schemas import tables as T
from schemas.columns import Field

Tables = Mapping[str, DataFrame]

OF_PARTITION = (C.TOPIC, C.PARTITION, C.TOPIC_ID)
"""How the key of a violation begins: as people name a partition, and then which of that name."""


@dataclass(frozen=True)
class Subject:
    """Rows to judge: how they are made, the table they stand for, and the columns that name one of them."""

    name: str
    table: T.Table
    keys: tuple[Field, ...]
    rows: Callable[[Tables], DataFrame]
    beside: tuple[T.Table, ...] = ()
    """Other tables it is made from."""
    may_be_empty: bool = False
    """Nothing to judge is then a gap in the capture; otherwise a table without rows cannot have been written well."""
    empty_holds: bool = False
    """Nothing to judge is then what one hopes for: findings."""
    is_of_partition: bool = True
    """Each row is of one partition; otherwise it is of the whole capture."""

    @property
    def reads(self) -> tuple[str, ...]:
        """Names of all tables it is made from."""
        return tuple(table.name for table in (self.table, *self.beside))

    @property
    def view(self) -> str:
        """Its name in SQL."""
        return f"judged_{self.name}"

    @property
    def comment(self) -> str:
        """What one row is: the first line of its function's docstring."""
        return (self.rows.__doc__ or "").strip().splitlines()[0]


def nowhere() -> dict[str, Column]:
    """The columns of a row's line, of rows that no single line tells."""
    return {str(C.SOURCE_FILE): F.lit(None).cast(C.TEXT), str(C.SOURCE_LINE): F.lit(None).cast(C.LONG)}
