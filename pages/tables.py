"""docs/tables.md, the data dictionary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum

from pages.words import in_use, meanings
from schemas import columns as C
from schemas import tables as T
from schemas import view_columns as V
from schemas.answers import HeldBy, Outcome, Position
from schemas.columns import Field
from schemas.files import FileKind
from schemas.kinds import (
    AppendSource,
    ChangeKind,
    EventType,
    Exactness,
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

<!-- Made by `make docs` from schemas/: edit that, not this page. -->

Every Delta table of a warehouse, every column, and what it means; in SQL `DESCRIBE incidents` tells the same. Offsets
are exclusive ends, -1 is unknown, NULL is what does not apply. Times are UTC. The columns of a grain name one row.
[What the words mean](#what-the-words-mean) that a column may say stands at the end.
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
WORDS: dict[str, type[StrEnum]] = {
    "event_type": EventType, "exactness": Exactness, "method": Method, "kind of incidents": IncidentKind,
    "severity": Severity, "status": Status, "change_kind": ChangeKind, "kind of broker_statements": StatementKind,
    "kind of source_files and rejected_lines": FileKind, "append_source": AppendSource, "outcome": Outcome,
}  # fmt: skip
"""What is told at the end of the page: the columns of tables whose words need it, the most asked for first."""


def tables_page() -> str:
    """The page: a section per table, in the order in which a run writes them, and what the words mean."""
    return HEAD + "".join(map(_section, T.ALL_TABLES)) + "\n## What the words mean\n" + words_told(WORDS)


def words_told(told: Mapping[str, type[StrEnum]]) -> str:
    """A section for what each column may say: the words that rows have, and what each means."""
    return "".join(f"\n### {name}\n\n{_words(words)}\n" for name, words in told.items())


def _words(words: type[StrEnum]) -> str:
    said = meanings(words)
    return "\n".join(f"- `{word}`: {said[word.name]}" for word in in_use(words))


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
    words = "" if values is None else f" One of {', '.join(f'`{word}`' for word in in_use(values))}."
    return column.comment.replace("|", "\\|") + words
