"""What ad-hoc SQL knows by name: the tables of a warehouse, and the views and functions over them."""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from expectations.views import RULE_VIEWS
from jobs.warehouse import Warehouse
from replay.views.catalog import VIEWS, View
from schemas.functions import FUNCTIONS, Function
from schemas.tables import ALL_TABLES, Table


def register_views(
    warehouse: Warehouse, views: Iterable[View] = (*VIEWS, *RULE_VIEWS)
) -> list[Table | View | Function]:
    """Register each table that is there, and each view and function of what is, under its name; all that is registered.

    They are to be read: DELETE, UPDATE, MERGE or INSERT of such a name is refused.
    """
    present = [table for table in ALL_TABLES if warehouse.has(table)]
    derived = [view for view in views if set(view.of) <= set(present)]
    for table in present:
        _to_read(warehouse.read(table)).createOrReplaceTempView(table.name)
    for view in derived:
        _to_read(view.rows(*map(warehouse.read, view.of))).createOrReplaceTempView(view.name)
    known = {table.name for table in present} | {view.name for view in derived}
    functions = [function for function in FUNCTIONS if set(function.of) <= known]
    for function in functions:
        warehouse.spark.sql(function.sql)
    return [*present, *derived, *functions]


def _to_read(frame: DataFrame) -> DataFrame:
    """Return the same rows: Delta changes a table through a view of nothing but its scan, and a filter is more."""
    return frame.where(F.lit(True))
