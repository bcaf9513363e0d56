"""What the small files of a capture tell: rows of landing tables, and what became of each line."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructField, StructType

from schemas import columns as C
from schemas import tables as T
from schemas.columns import Field
from sources.outcomes import MAX_TEXT, OUTCOME_COLUMNS
from sources.source_file import SourceFile

Row = tuple[Any, ...]


@dataclass
class Told:
    """What the small files tell, and the outcome of each of their lines."""

    epoch_starts: list[Row] = field(default_factory=list)
    statements: list[Row] = field(default_factory=list)
    settings: list[Row] = field(default_factory=list)
    outcomes: list[Row] = field(default_factory=list)

    def frames(self, spark: SparkSession) -> tuple[DataFrame, DataFrame, DataFrame, DataFrame]:
        """Rows of `epoch_starts`, `broker_statements` and `settings`, and the lines with their outcomes."""
        return (
            spark.createDataFrame(self.epoch_starts, _schema(T.EPOCH_STARTS.parsed)),
            spark.createDataFrame(self.statements, _schema(T.BROKER_STATEMENTS.parsed)),
            spark.createDataFrame(self.settings, _schema(T.SETTINGS.parsed)),
            spark.createDataFrame(self.outcomes, _outcome_schema()),
        )

    def note(self, file: SourceFile, number: int, line: str, outcome: str, reason: str | None = None) -> None:
        """Say what became of a line of the file."""
        self.outcomes.append((file.name, number, file.broker_id, file.kind.value, line[:MAX_TEXT], outcome, reason))


def _schema(columns: Iterable[Field]) -> StructType:
    return StructType([StructField(str(c), c.type) for c in columns])


def _outcome_schema() -> StructType:
    types = [c.type if isinstance(c, Field) else C.REASON.type for c in OUTCOME_COLUMNS]
    return StructType([StructField(str(c), of) for c, of in zip(OUTCOME_COLUMNS, types, strict=True)])
