"""A delivery as a whole: every line has one outcome, half a fact in one file is made whole by another."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from schemas import columns as C
from schemas import tables as T
from schemas.kinds import ChangeKind, StatementKind
from sources.files import capture_root, discover
from sources.landing import Landing, land
from sources.lines import read_lines

pytestmark = pytest.mark.spark

CAPTURES = ("epoch_truncation", "failover", "hw_truncation", "isr_shrink", "steady")
UUID = "1vDJC378Tw2AvQYNxpXPlg"
LEADER = (
    "[2026-11-21 10:36:{second},000] INFO [Broker id=1] Leader t-0 with topic id Some({uuid}) starts at leader epoch 3 from "
    "offset 0 with partition epoch 0, high watermark 0, ISR [1,2], adding replicas [] and removing replicas [] . Previous "
    "leader None and previous leader epoch was -1. (state.change.logger)"
)
FOLLOWER = (
    "[2026-11-21 10:36:45,000] INFO [Broker id=2] Follower t-0 starts at leader epoch 3 from offset 0 with high watermark 0. "
    "Previous leader epoch was -1. (state.change.logger)"
)
ISR_UPDATED = "[2026-11-21 10:36:50,000] INFO [Partition t-0 broker=1] ISR updated to 1  and version updated to 1 (kafka.cluster.Partition)"


def put(root: Path, name: str, *lines: str) -> None:
    """A file of a capture."""
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_text("\n".join(lines) + "\n", encoding="utf-8")


def landing_of(
    spark: SparkSession, root: Path, known: dict[str, DataFrame] | None = None, capture_id: str = "d1"
) -> Landing:
    """The rows of a folder."""
    files = discover(capture_root(root))
    lines = read_lines(spark, files)
    return land(lines, files, cluster_id="c1", capture_id=capture_id, timezone="UTC", known=known or {})


def counts(landing: Landing) -> dict[str, tuple[int, ...]]:
    """Lines read, landed, rejected and ignored of each file."""
    rows = landing.source_files.select(
        C.SOURCE_FILE, C.LINES_READ, C.LINES_LANDED, C.LINES_REJECTED, C.LINES_IGNORED
    ).collect()
    return {row[0]: tuple(row)[1:] for row in rows}


def lines_in(root: Path) -> dict[str, int]:
    """How many lines each file has, counted in the plainest way."""
    number = {}
    for file in discover(capture_root(root)):
        data = gzip.decompress(file.path.read_bytes()) if file.name.endswith(".gz") else file.path.read_bytes()
        number[file.name] = len(data.splitlines())
    return number


def matches(root: Path, log: str, pattern: str) -> int:
    """What grep finds in all logs of a name."""
    texts = (gzip.decompress(path.read_bytes()).decode() for path in capture_root(root).glob(f"broker-*/{log}.log.gz"))
    return sum(len(re.findall(pattern, text)) for text in texts)


def count_of(frame: DataFrame, column: str, *values: str) -> int:
    """The rows with one of the values."""
    return frame.where(F.col(column).isin(*values)).count()


@pytest.mark.captured
@pytest.mark.parametrize("name", CAPTURES)
def test_nothing_of_a_real_capture_is_lost_or_rejected(spark: SparkSession, captures: Path, name: str) -> None:
    """Every line counted once, none rejected, and the changes and truncations are those that grep finds."""
    landing = landing_of(spark, captures / name)
    found = counts(landing)
    changes, stated = landing.tables[T.LEADER_CHANGES.name], landing.tables[T.BROKER_STATEMENTS.name]

    assert {file: read for file, (read, *_) in found.items()} == lines_in(captures / name)
    assert all(read == landed + rejected + ignored for read, landed, rejected, ignored in found.values())
    assert landing.tables[T.REJECTED_LINES.name].count() == 0
    starting = (ChangeKind.BECOME_LEADER.value, ChangeKind.BECOME_FOLLOWER.value)
    assert count_of(changes, C.CHANGE_KIND, *starting) == matches(
        captures / name, "state-change", "starts at leader epoch"
    )
    skipped = (ChangeKind.LEADER_METADATA.value, ChangeKind.FOLLOWER_METADATA.value)
    assert count_of(changes, C.CHANGE_KIND, *skipped) == matches(captures / name, "state-change", "Skipped the become-")
    assert count_of(changes, C.CHANGE_KIND, ChangeKind.ISR_UPDATED.value) == matches(
        captures / name, "server", "ISR updated to"
    )
    assert count_of(stated, C.KIND, StatementKind.TRUNCATED_TO.value) == matches(
        captures / name, "server", "Truncating to offset"
    )
    assert changes.where(f"{C.LEADER_EPOCH} < 0 OR {C.LEADER_ID} IS NULL").count() == 0


def test_half_facts_are_made_whole(spark: SparkSession, tmp_path: Path) -> None:
    """A follower's leader, an ISR's leader epoch and their topic's id are in other lines; so is a dump's topic id."""
    put(tmp_path, "broker-1/state-change.log", LEADER.format(second=44, uuid=UUID))
    put(tmp_path, "broker-1/server.log", ISR_UPDATED)
    put(tmp_path, "broker-2/state-change.log", FOLLOWER)
    put(tmp_path, "broker-1/replication-offset-checkpoint", "0", "1", "t 0 5")
    landing = landing_of(spark, tmp_path)

    changes = (
        landing.tables[T.LEADER_CHANGES.name].select(C.CHANGE_KIND, C.TOPIC_ID, C.LEADER_EPOCH, C.LEADER_ID).collect()
    )
    assert sorted(map(tuple, changes)) == [
        ("become_follower", UUID, 3, 1), ("become_leader", UUID, 3, 1), ("isr_updated", UUID, 3, 1),
    ]  # fmt: skip
    checkpoint = landing.tables[T.BROKER_STATEMENTS.name].where(F.col(C.KIND) == StatementKind.CHECKPOINT_HW.value)
    assert checkpoint.select(C.TOPIC, C.TOPIC_ID, C.OFFSET).collect() == [("t", UUID, 5)]


def test_a_topic_that_was_created_again_has_the_id_of_the_time(spark: SparkSession, tmp_path: Path) -> None:
    """A line without an id is of the topic that had the name then."""
    other = "7_JDlwjVTmmcWa4A_WMJsw"
    put(
        tmp_path, "broker-1/state-change.log", LEADER.format(second=44, uuid=UUID), LEADER.format(second=55, uuid=other)
    )
    put(tmp_path, "broker-1/server.log", ISR_UPDATED, ISR_UPDATED.replace("10:36:50", "10:36:59"))
    changes = landing_of(spark, tmp_path).tables[T.LEADER_CHANGES.name].where(F.col(C.CHANGE_KIND) == "isr_updated")

    assert [row[0] for row in changes.orderBy(C.SOURCE_LINE).select(C.TOPIC_ID).collect()] == [UUID, other]


def test_an_earlier_delivery_tells_what_this_one_leaves_out(spark: SparkSession, tmp_path: Path) -> None:
    """All deliveries of a cluster are one history; of a file that is landing again, only once."""
    put(tmp_path, "one/broker-1/state-change.log", LEADER.format(second=44, uuid=UUID))
    put(tmp_path, "two/broker-1/server.log", ISR_UPDATED)
    first = landing_of(spark, tmp_path / "one")
    second = landing_of(spark, tmp_path / "two", dict(first.tables), "d2")

    (row,) = second.tables[T.LEADER_CHANGES.name].collect()
    assert (row[C.TOPIC_ID], row[C.LEADER_EPOCH], row[C.CAPTURE_ID], row[C.CLUSTER_ID]) == (UUID, 3, "d2", "c1")


def test_what_is_wrong_is_kept_with_its_place(spark: SparkSession, tmp_path: Path) -> None:
    """A cut line, an endless one, a file that is no text: each is a row, and the counts add up."""
    put(tmp_path, "broker-1/server.log", ISR_UPDATED[:100], "x" * 10_000_001, ISR_UPDATED)
    put(tmp_path, "broker-2/server.log", "\0\0\0")
    put(tmp_path, "notes.txt", "to whom it may concern")
    landing = landing_of(spark, tmp_path)

    rejected = landing.tables[T.REJECTED_LINES.name].select(
        C.SOURCE_FILE, C.SOURCE_LINE, C.REASON, F.length(C.LINE_TEXT)
    )
    assert sorted(map(tuple, rejected.collect())) == [
        ("broker-1/server.log", 1, "cut line or unknown wording", 100),
        ("broker-1/server.log", 2, "line too long", 2000),
        ("broker-2/server.log", 0, "not text", 0),
    ]
    assert counts(landing) == {
        "broker-1/server.log": (3, 1, 2, 0), "broker-2/server.log": (1, 0, 1, 0), "notes.txt": (0, 0, 0, 0),
    }  # fmt: skip


def test_tables_are_exactly_those_of_the_schemas(spark: SparkSession, tmp_path: Path) -> None:
    """Column by column, type by type, even where nothing landed."""
    put(tmp_path, "broker-1/server.log", ISR_UPDATED)
    landing = landing_of(spark, tmp_path)
    tables = {**landing.tables, T.SOURCE_FILES.name: landing.source_files}

    shapes = {name: [(field.name, field.dataType) for field in frame.schema] for name, frame in tables.items()}
    assert shapes == {t.name: [(f.name, f.dataType) for f in t.schema] for t in T.LANDING_TABLES}
