"""docs/tables.md, the data dictionary: `python -m schemas.document > docs/tables.md`."""

from __future__ import annotations

import sys
from enum import StrEnum

from schemas import columns as C
from schemas import tables as T
from schemas.answers import Outcome
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
    rows = [f"| `{column}` | `{column.type.simpleString()}` | {_meaning(table, column)} |" for column in table.columns]
    lines = [
        f"## {table.name}",
        "",
        table.comment,
        "",
        *facts,
        "",
        "| column | type | meaning |",
        "|---|---|---|",
        *rows,
    ]
    return "\n" + "\n".join(lines) + "\n"


def _names(columns: tuple[Field, ...]) -> str:
    return ", ".join(f"`{column}`" for column in columns)


def _meaning(table: Table, column: Field) -> str:
    """What the column means, and what it may say where that is one of a few words."""
    values = KINDS.get(table.name) if column == C.KIND else VALUES.get(column)
    words = "" if values is None else f" One of {', '.join(f'`{value}`' for value in values)}."
    return column.comment.replace("|", "\\|") + words


if __name__ == "__main__":
    sys.stdout.write(tables_page())
