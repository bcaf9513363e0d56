"""The mark of a replay: in the commits of its timelines, what they were made of. By it the next may go on from them."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace

from jobs import __version__
from jobs.at_once import at_once
from jobs.deliveries import EVENT_TABLES, ingested
from jobs.warehouse import Warehouse
from replay.profile import Profile
from schemas.tables import LEADER_TIMELINE, REJECTED_LINES, REPLICA_TIMELINE, SOURCE_FILES, Table


@dataclass(frozen=True)
class Mark:
    """What a replay of a cluster was made of."""

    replay_of: str
    """The cluster."""
    source_files: int
    """Delta version of `source_files` then."""
    protocol: str
    """Its protocol, as text."""
    is_plain: bool
    """Every row follows from requests: no silence and no inferred ISR, whose effects reach far."""
    engine: str = __version__
    has_outsiders: bool = True
    """Some replica was outside its ISR, though only its requests may tell that it is one."""
    has_transactions: bool = False
    """Some append belonged to a transaction."""

    def text(self) -> str:
        """As it stands in a commit."""
        return json.dumps(asdict(self))


def mark_of(warehouse: Warehouse, cluster_id: str, profile: Profile) -> Mark:
    """The mark of a replay that is about to begin."""
    version = warehouse.commits(SOURCE_FILES, limit=1)[0].version
    is_plain = not (profile.has_silence or profile.has_untold_isr)
    return Mark(
        cluster_id, version, protocol_text(profile), is_plain,
        has_outsiders=profile.has_outsiders, has_transactions=profile.has_transactions,
    )  # fmt: skip


def protocol_text(profile: Profile) -> str:
    """The rules of a profile; which stages it needs is left out."""
    stages = {name: False for name in vars(profile) if name.startswith("has_")}
    return repr(replace(profile, **stages))  # type: ignore[arg-type]


def last_mark(warehouse: Warehouse, cluster_id: str) -> Mark | None:
    """The mark of the cluster's timelines; None where they bear none, or a replay died between them.

    The first one that is written and the last bear it both; what lies between may have had no row to write.
    """
    marks = {_mark_in(warehouse, table, cluster_id) for table in (REPLICA_TIMELINE, LEADER_TIMELINE)}
    return marks.pop() if len(marks) == 1 else None


def _mark_in(warehouse: Warehouse, table: Table, cluster_id: str) -> Mark | None:
    """The mark of the table's last replay of the cluster; a commit that bears none may have changed anything."""
    if not warehouse.has(table):
        return None
    for commit in warehouse.commits(table):
        if not commit.note:
            return None
        mark = Mark(**json.loads(commit.note))
        if mark.replay_of == cluster_id:
            return mark
    return None


def has_only_grown(warehouse: Warehouse, mark: Mark) -> bool:
    """Whether nothing was done since to the landing tables that a replay reads, but landing deliveries."""
    last = next((c.note for c in warehouse.commits(SOURCE_FILES) if c.version <= mark.source_files and ingested(c)), "")
    read = [table for table in EVENT_TABLES if table is not REJECTED_LINES]
    return bool(last) and all(at_once(warehouse.spark)(lambda table: _was_appended_to(warehouse, table, last), read))


def _was_appended_to(warehouse: Warehouse, table: Table, last: str) -> bool:
    """Whether every commit after that delivery's is a delivery's; one that landed no row there made none."""
    for commit in warehouse.commits(table):
        if commit.note == last or not ingested(commit):
            return commit.note == last or commit.version == 0
    return False
