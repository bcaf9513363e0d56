"""The mark of a replay: in the commits of its timelines, what they were made of. By it the next may go on from them."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from functools import partial

from jobs import __version__
from jobs.at_once import at_once
from jobs.deliveries import EVENT_TABLES, ingested, name_of_ingest
from jobs.errors import CouldNotRunError
from jobs.warehouse import Warehouse
from replay.profile import Profile
from schemas.tables import INCIDENTS, LEADER_TIMELINE, REJECTED_LINES, REPLICA_TIMELINE, SOURCE_FILES, Table


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
    """Every row follows from requests: no silence but at ends of logs, no inferred ISR (both reach far), one clock."""
    engine: str = __version__
    has_outsiders: bool = True
    """Some replica was outside its ISR, though only its requests may tell that it is one."""
    has_transactions: bool = False
    """Some append belonged to a transaction."""
    has_untold_transactions: bool = False
    """Of some append nothing told whose it was, or whether it belonged to one."""
    has_incidents: bool = False
    """The table of incidents bears the mark too; before it did, nobody could tell that it was not made anew."""

    def text(self) -> str:
        """As it stands in a commit."""
        return json.dumps(asdict(self))


def landed_until(warehouse: Warehouse) -> int:
    """Delta version of `source_files`, to be taken before a replay reads what has landed.

    A delivery that lands meanwhile is then not claimed: which of its rows were read nobody knows.
    """
    return warehouse.commits(SOURCE_FILES, limit=1)[0].version


def mark_of(cluster_id: str, profile: Profile, until: int) -> Mark:
    """The mark of a replay of what had landed `until` a version of `source_files`."""
    is_plain = not (profile.has_silence_within or profile.has_untold_isr or profile.has_clocks_apart)
    return Mark(
        cluster_id, until, protocol_text(profile), is_plain,
        has_outsiders=profile.has_outsiders, has_transactions=profile.has_transactions,
        has_untold_transactions=profile.has_untold_transactions, has_incidents=True,
    )  # fmt: skip


def protocol_text(profile: Profile) -> str:
    """The rules of a profile; which stages it needs is left out."""
    stages = {name: False for name in vars(profile) if name.startswith("has_")}
    return repr(replace(profile, **stages))  # type: ignore[arg-type]


def last_mark(warehouse: Warehouse, cluster_id: str) -> Mark | None:
    """The mark of the cluster's timelines; None where they bear none, or a replay died between them.

    The first one that is written and the last bear it both.
    """
    marks = {_mark_in(warehouse, table, cluster_id) for table in (REPLICA_TIMELINE, LEADER_TIMELINE)}
    return marks.pop() if len(marks) == 1 else None


def _mark_in(warehouse: Warehouse, table: Table, cluster_id: str) -> Mark | None:
    """The mark of the table's last replay of the cluster; a commit that bears none may have changed anything."""
    if not warehouse.has(table):
        return None
    for commit in warehouse.commits(table):
        mark = _read(commit.note)
        if mark is None or mark.replay_of == cluster_id:
            return mark
    return None


def _read(note: str) -> Mark | None:
    """The mark that a commit's note is; None where it is another, or of a version that says more."""
    try:
        return Mark(**json.loads(note))
    except (ValueError, TypeError):
        return None


def require_all_replayed(warehouse: Warehouse, cluster_id: str) -> None:
    """Refuse a cluster whose tables are of two moments: they would contradict each other, and no broker did.

    What bears no mark somebody else has made, and it is taken as it is.
    """
    tables = (REPLICA_TIMELINE, LEADER_TIMELINE, INCIDENTS)
    read = at_once(warehouse.spark)(partial(_mark_in, warehouse, cluster_id=cluster_id), tables)
    found = dict(zip(tables, read, strict=True))
    begun = found[REPLICA_TIMELINE]
    if not (begun and begun.has_incidents):
        del found[INCIDENTS]
    marks = {mark for mark in found.values() if mark}
    said = ""
    if len(marks) > 1 or (marks and any(not mark and _is_of_replays(warehouse, t) for t, mark in found.items())):
        said = f"the last replay of cluster {cluster_id} did not end"
    elif any(_has_landed_since(warehouse, mark) for mark in marks):
        said = f"a delivery of cluster {cluster_id} has landed since its timelines were made"
    if said:
        message = f"{warehouse.path}: {said}: run `tidegauge reconstruct`"
        raise CouldNotRunError(message)


def _has_landed_since(warehouse: Warehouse, mark: Mark) -> bool:
    """Whether a delivery of the cluster has landed that the replay knew nothing of."""
    name = name_of_ingest(mark.replay_of)
    return any(c.version > mark.source_files and c.note.startswith(name) for c in warehouse.commits(SOURCE_FILES))


def _is_of_replays(warehouse: Warehouse, table: Table) -> bool:
    """Whether nobody but replays has written to the table; so where it is not there."""
    return not warehouse.has(table) or all(c.version == 0 or _read(c.note) for c in warehouse.commits(table))


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
