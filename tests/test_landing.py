"""A delivery as a whole: every line has one outcome, half a fact in one file is made whole by another."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from schemas import columns as C
from schemas import tables as T
from schemas.kinds import ChangeKind, StatementKind
from sources.files import discover
from sources.landing import Landing, land
from sources.lines import read_lines
from tests.captured import Tables, union

pytestmark = pytest.mark.spark

UUID, LATER_UUID = "1vDJC378Tw2AvQYNxpXPlg", "7_JDlwjVTmmcWa4A_WMJsw"
LEADER = (
    "[2026-11-21 10:36:{second},000] INFO [Broker id=1] Leader t-0 with topic id Some({uuid}) starts at leader epoch 3 "
    "from offset 0 with partition epoch 0, high watermark 0, ISR [1,2], adding replicas [] and removing replicas [] . "
    "Previous leader None and previous leader epoch was -1. (state.change.logger)"
)
FOLLOWER = (
    "[2026-11-21 10:36:45,000] INFO [Broker id=2] Follower t-0 starts at leader epoch 3 from offset 0 with high "
    "watermark 0. Previous leader epoch was -1. (state.change.logger)"
)
ISR_UPDATED = (
    "[2026-11-21 10:36:{second},000] INFO [Partition t-0 broker=1] ISR updated to 1  and version updated to 1 "
    "(kafka.cluster.Partition)"
)


def put(root: Path, name: str, *lines: str) -> None:
    """A file of a capture."""
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_text("\n".join(lines) + "\n", encoding="utf-8")


def landing_of(
    spark: SparkSession, root: Path, known: Mapping[str, DataFrame] | None = None, capture_id: str = "d1"
) -> Landing:
    """The rows of a folder."""
    files = discover(root)
    lines = read_lines(spark, files).persist()
    return land(lines, files, cluster_id="c1", capture_id=capture_id, timezone="UTC", known=known or {})


@pytest.fixture(scope="module")
def small(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Landing:
    """A small delivery with half facts, a topic that was created again, and much that is wrong."""
    root = tmp_path_factory.mktemp("small")
    put(
        root,
        "broker-1/state-change.log",
        LEADER.format(second=44, uuid=UUID),
        LEADER.format(second=55, uuid=LATER_UUID),
    )
    put(root, "broker-1/server.log", ISR_UPDATED.format(second=50), ISR_UPDATED.format(second=59))
    put(root, "broker-1/server.log.1", ISR_UPDATED.format(second=50)[:100], "x" * 10_000_001)
    put(root, "broker-2/state-change.log", FOLLOWER)
    put(root, "broker-2/server.log", "\0\0\0")
    put(root, "broker-1/replication-offset-checkpoint", "0", "1", "t 0 5")
    put(root, "notes.txt", "to whom it may concern")
    return landing_of(spark, root)


def counts(source_files: DataFrame) -> dict[str, tuple[int, ...]]:
    """Lines read, landed, rejected and ignored of each file."""
    rows = source_files.select(C.SOURCE_FILE, C.LINES_READ, C.LINES_LANDED, C.LINES_REJECTED, C.LINES_IGNORED).collect()
    return {row[0]: tuple(row)[1:] for row in rows}


def lines_in(root: Path) -> dict[str, int]:
    """How many lines each file has, counted in the plainest way."""
    return {
        file.name: len((gzip.decompress if file.name.endswith(".gz") else bytes)(file.path.read_bytes()).splitlines())
        for file in discover(root)
        if file.is_readable
    }


def matches(root: Path, log: str, pattern: str) -> int:
    """What grep finds in all logs of a name."""
    texts = (gzip.decompress(path.read_bytes()).decode() for path in root.rglob(f"{log}.log.gz"))
    return sum(text.count(pattern) for text in texts)


def hold_the_counts(source_files: DataFrame, root: Path) -> None:
    """Each line of each file below `root` was read once, and has one outcome."""
    found = counts(source_files)
    assert {file: read for file, (read, *_) in found.items() if read} == lines_in(root)
    assert all(read == landed + rejected + ignored for read, landed, rejected, ignored in found.values())


@pytest.mark.long
@pytest.mark.captured
def test_all_captures_are_one_delivery_if_they_come_as_one(spark: SparkSession, captures: Path) -> None:
    """Brokers of five clusters with the same numbers: each file's lines are counted by themselves, none is rejected."""
    landing = landing_of(spark, captures)

    hold_the_counts(landing.source_files, captures)
    assert landing.tables[T.REJECTED_LINES.name].count() == 0


@pytest.mark.captured
def test_nothing_of_the_real_captures_is_lost_or_rejected(
    landed_capture: Callable[[str], Tables], captures: Path
) -> None:
    """All five: each line counted once, none rejected, as many rows as grep finds lines."""
    each = {path.name: landed_capture(path.name) for path in sorted(captures.iterdir()) if path.is_dir()}
    for name, tables in each.items():
        hold_the_counts(tables[T.SOURCE_FILES.name], captures / name / "capture")
    landing = union(each.values())
    changes, stated = landing[T.LEADER_CHANGES.name], landing[T.BROKER_STATEMENTS.name]
    by_kind = dict(changes.groupBy(C.CHANGE_KIND).count().collect())  # type: ignore[arg-type]
    truncations = stated.where(F.col(C.KIND) == StatementKind.TRUNCATED_TO.value).count()

    assert len(each) == 5
    assert landing[T.REJECTED_LINES.name].count() == 0
    starts = by_kind[ChangeKind.BECOME_LEADER] + by_kind[ChangeKind.BECOME_FOLLOWER]
    applied = by_kind[ChangeKind.LEADER_METADATA] + by_kind[ChangeKind.FOLLOWER_METADATA]
    assert starts == matches(captures, "state-change", "starts at leader epoch") > 100
    assert applied == matches(captures, "state-change", "Skipped the become-") > 40
    assert by_kind[ChangeKind.ISR_UPDATED] == matches(captures, "server", "ISR updated to") > 10
    assert truncations == matches(captures, "server", "Truncating to offset") > 5
    assert changes.where(f"{C.LEADER_EPOCH} < 0 OR {C.LEADER_ID} IS NULL").count() == 0


def test_half_facts_are_made_whole(small: Landing) -> None:
    """A follower's leader and an ISR's leader epoch are in other lines; a topic's id is that of the line's time."""
    changes = small.tables[T.LEADER_CHANGES.name].orderBy(C.EVENT_TIME)

    assert [tuple(row) for row in changes.select(C.CHANGE_KIND, C.TOPIC_ID, C.LEADER_EPOCH, C.LEADER_ID).collect()] == [
        ("become_leader", UUID, 3, 1),
        ("become_follower", UUID, 3, 1),
        ("isr_updated", UUID, 3, 1),
        ("become_leader", LATER_UUID, 3, 1),
        ("isr_updated", LATER_UUID, 3, 1),
    ]


def test_a_checkpoint_is_of_the_topic_that_was_there_last(small: Landing) -> None:
    """It has no time: it was copied at the end."""
    stated = small.tables[T.BROKER_STATEMENTS.name].where(F.col(C.KIND) == StatementKind.CHECKPOINT_HW.value)

    assert [tuple(row) for row in stated.select(C.TOPIC, C.TOPIC_ID, C.OFFSET).collect()] == [("t", LATER_UUID, 5)]


def test_what_is_wrong_is_kept_with_its_place(small: Landing) -> None:
    """A cut line, an endless one, a file that is no text: each is a row, and the counts add up."""
    rejected = small.tables[T.REJECTED_LINES.name].select(C.SOURCE_FILE, C.SOURCE_LINE, C.REASON, F.length(C.LINE_TEXT))
    found = counts(small.source_files)

    assert sorted(tuple(row) for row in rejected.collect()) == [
        ("broker-1/server.log.1", 1, "cut line or unknown wording", 100),
        ("broker-1/server.log.1", 2, "line too long", 2000),
        ("broker-2/server.log", 0, "not text", 0),
    ]
    assert found["broker-1/server.log"] == (2, 2, 0, 0)
    assert found["broker-1/server.log.1"] == (2, 0, 2, 0)
    assert found["broker-2/server.log"] == (1, 0, 1, 0)
    assert found["notes.txt"] == (0, 0, 0, 0)


def test_tables_are_exactly_those_of_the_schemas(small: Landing) -> None:
    """Column by column, type by type, even where nothing landed."""
    tables = {**small.tables, T.SOURCE_FILES.name: small.source_files}

    shapes = {name: [(field.name, field.dataType) for field in frame.schema] for name, frame in tables.items()}
    assert shapes == {t.name: [(f.name, f.dataType) for f in t.schema] for t in T.LANDING_TABLES}


def test_tables_that_no_file_tells_of_are_named(small: Landing) -> None:
    """Their commits are saved, so they had better be empty; with a file of the kind they are none of them."""
    assert T.LEADER_CHANGES.name not in small.untold
    assert T.FETCH_EVENTS.name in small.untold
    assert {name: small.tables[name].count() for name in small.untold} == dict.fromkeys(small.untold, 0)


def test_an_earlier_delivery_tells_what_this_one_leaves_out(
    spark: SparkSession, small: Landing, tmp_path: Path
) -> None:
    """All deliveries of a cluster are one history."""
    put(tmp_path, "broker-1/server.log.2", ISR_UPDATED.format(second=51))
    landing = landing_of(spark, tmp_path, small.tables, "d2")

    (row,) = landing.tables[T.LEADER_CHANGES.name].collect()
    assert (row[C.TOPIC_ID], row[C.LEADER_EPOCH], row[C.CAPTURE_ID], row[C.CLUSTER_ID]) == (UUID, 3, "d2", "c1")
