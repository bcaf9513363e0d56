"""How values lie in Parquet: what is nearly always another value is written as it is, not by way of a dictionary."""

from __future__ import annotations

from collections.abc import Iterator

from pyspark.sql.types import DataType, MapType

from schemas import columns as C
from schemas.tables import ALL_TABLES

NO_DICTIONARY = "parquet.enable.dictionary#"
"""Setting of Parquet's writer, before a column's path."""


def numbers() -> tuple[str, ...]:
    """Return the Parquet paths of all columns that count or tell a time: offsets, lines, moments.

    For a dictionary each value is looked up among all before it, and kept there and as its index; most are there once.
    By themselves they rise, which a compression of bytes sees.
    """
    return tuple(sorted({path for table in ALL_TABLES for column in table.columns for path in _paths(column)}))


def _paths(column: C.Field) -> Iterator[str]:
    """Yield the paths of a column's numbers; those deep within a struct are few."""
    if _is_number(column.type):
        yield str(column)
    if isinstance(column.type, MapType) and _is_number(column.type.valueType):
        yield f"{column}.key_value.value"


def _is_number(of: DataType) -> bool:
    return of in (C.LONG, C.TIME)
