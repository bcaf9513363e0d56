"""docs/tables.md, the data dictionary: `python -m schemas.document > docs/tables.md`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from enum import StrEnum

from schemas import columns as C
from schemas import tables as T
from schemas import view_columns as V
from schemas.answers import HeldBy, Outcome, Position
from schemas.columns import Field
from schemas.kinds import (
    AppendSource,
    ChangeKind,
    EventType,
    Exactness,
    FileKind,
    IncidentKind,
    Method,
    Role,
    Severity,
    StatementKind,
    Status,
)
from schemas.tables import Table

HEAD = """\
# The tables

<!-- Made by `python -m schemas.document > docs/tables.md` from schemas/: edit that, not this page. -->

Every Delta table of a warehouse, every column, and what it means; in SQL `DESCRIBE incidents` tells the same. Offsets
are exclusive ends, -1 is unknown, NULL is what does not apply. Times are UTC. The columns of a grain name one row.
"""

VALUES: dict[Field, type[StrEnum]] = {
    C.EVENT_TYPE: EventType, C.CHANGE_KIND: ChangeKind, C.EXACTNESS: Exactness, C.ROLE: Role, C.METHOD: Method,
    C.SEVERITY: Severity, C.STATUS: Status, C.APPEND_SOURCE: AppendSource, C.OUTCOME: Outcome,
    V.WHY: HeldBy, V.POSITION_IS: Position,
}  # fmt: skip
"""What a column may say."""
KINDS: dict[str, type[StrEnum]] = {
    T.INCIDENTS.name: IncidentKind, T.BROKER_STATEMENTS.name: StatementKind, T.SOURCE_FILES.name: FileKind,
    T.REJECTED_LINES.name: FileKind,
}  # fmt: skip
"""What `kind` may say, by table."""


def tables_page() -> str:
    """The page: a section per table, in the order in which a run writes them."""
    return HEAD + "".join(map(_section, T.ALL_TABLES))


def _section(table: Table) -> str:
    """A table: what one row is, what each row satisfies, and its columns."""
    facts = [f"- **Grain**: {_names(table.grain)}"]
    if table.clustering:
        facts.append(f"- **Clustered by**: {_names(table.clustering)}")
    facts += [f"- **Each row**: `{predicate}`" for _, predicate in table.constraints]
    lines = [
        f"## {table.name}",
        "",
        table.comment,
        "",
        *facts,
        "",
        *columns_told(table.columns, KINDS.get(table.name)),
    ]
    return "\n" + "\n".join(lines) + "\n"


def columns_told(columns: Sequence[Field], kinds: type[StrEnum] | None = None) -> list[str]:
    """The lines of a table of columns: name, type, meaning. `kinds` is what `kind` may say among them."""
    values = VALUES if kinds is None else VALUES | {C.KIND: kinds}
    rows = [f"| `{it}` | `{it.type.simpleString()}` | {_meaning(it, values.get(it))} |" for it in columns]
    return ["| column | type | meaning |", "|---|---|---|", *rows]


def _names(columns: tuple[Field, ...]) -> str:
    return ", ".join(f"`{column}`" for column in columns)


def _meaning(column: Field, values: type[StrEnum] | None) -> str:
    """What the column means, and what it may say where that is one of a few words."""
    words = "" if values is None else f" One of {', '.join(f'`{value}`' for value in values)}."
    return column.comment.replace("|", "\\|") + words


if __name__ == "__main__":
    sys.stdout.write(tables_page())
