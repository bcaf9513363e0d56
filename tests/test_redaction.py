"""Redaction: no name is left in any column, and what belonged together still does."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from jobs.cli import main
from jobs.deliveries import EVENT_TABLES
from jobs.errors import CouldNotRunError
from jobs.redacting import KEY, require_same
from jobs.warehouse import Warehouse
from schemas import columns as C
from schemas import tables as T
from schemas.files import FileKind
from sources.files import discover
from sources.landing import land
from sources.lines import read_lines
from sources.redaction import REDACTED, Redacted, Redaction
from sources.source_file import SourceFile
from tests.frames import everything_in
from tests.telling_capture import HOST, PERSON, SECRETS, TOPIC, telling_capture

EVERYTHING = Redaction(frozenset(Redacted), b"a key of the house")
ANOTHER_KEY = Redaction(frozenset(Redacted), b"a key of the neighbour")


def pseudonym(kind: str, name: str) -> str:
    """As docs/guides/share-a-capture.md makes it with openssl."""
    return f"{kind}-" + hmac.new(EVERYTHING.key, f"{kind}:{name}".encode(), hashlib.sha256).hexdigest()[:16]


def landed(
    spark: SparkSession, root: Path, redaction: Redaction, known: Mapping[str, DataFrame] | None = None
) -> dict[str, DataFrame]:
    """The landing tables of a folder."""
    files = redaction.files(discover(root))
    told = land(
        read_lines(spark, files), files, cluster_id="c", capture_id="d2" if known else "d", timezone="UTC",
        known=known or {}, redaction=redaction,
    )  # fmt: skip
    tables = {**told.tables, T.SOURCE_FILES.name: told.source_files}
    return {name: frame.localCheckpoint() for name, frame in tables.items()}


@pytest.fixture(scope="module")
def hidden(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> dict[str, DataFrame]:
    """The same, redacted."""
    return landed(spark, telling_capture(tmp_path_factory.mktemp("hidden")), EVERYTHING)


@pytest.mark.spark
@pytest.mark.parametrize("table", T.LANDING_TABLES, ids=lambda table: table.name)
def test_no_name_is_in_any_column(table: T.Table, hidden: dict[str, DataFrame]) -> None:
    """Every kind of file had some."""
    rows = everything_in(hidden[table.name])

    assert [row for row in rows if any(secret in row for secret in SECRETS)] == []
    assert rows or table is T.BROKER_REGISTRATIONS


@pytest.mark.spark
def test_names_become_what_only_the_key_makes(hidden: dict[str, DataFrame]) -> None:
    """A topic's in every table, be it from a line, a file's name or an id; Kafka's own stay."""
    of_topic = [table for table in T.LANDING_TABLES if C.TOPIC in table.columns]
    found = {table.name: {row[0] for row in hidden[table.name].select(C.TOPIC).collect()} for table in of_topic}
    topic = pseudonym("topic", TOPIC)

    assert found == {
        **{name: {topic} for name in found},
        T.SETTINGS.name: {"", topic},
        T.SEGMENT_BATCHES.name: {"__consumer_offsets", topic},
    }
    clients = {row[0] for row in hidden[T.FETCH_EVENTS.name].select(C.CLIENT_ID).collect()}
    assert clients == {pseudonym("client", f"{PERSON}-at-{HOST}")}


@pytest.mark.spark
def test_what_could_not_be_read_is_a_place_and_a_reason(hidden: dict[str, DataFrame]) -> None:
    """Nobody knows which words of such a line are names."""
    rejected = hidden[T.REJECTED_LINES.name].select(C.REASON, C.LINE_TEXT).collect()

    assert {row[0] for row in rejected} >= {"cut line or unknown wording", "no entry of a checkpoint"}
    assert {row[1] for row in rejected} == {REDACTED}


@pytest.mark.spark
def test_a_later_delivery_goes_on_from_a_redacted_one(
    spark: SparkSession, hidden: dict[str, DataFrame], tmp_path: Path
) -> None:
    """What an ISR's line leaves out is in rows that have landed under the pseudonym."""
    line = f"[2026-11-21 10:00:01,000] INFO [Partition {TOPIC}-0 broker=1] ISR updated to 1,2  and version updated to 2"
    (tmp_path / "broker-1").mkdir()
    (tmp_path / "broker-1" / "server.log").write_text(f"{line} (kafka.cluster.Partition)\n")
    (row,) = landed(spark, tmp_path, EVERYTHING, hidden)[T.LEADER_CHANGES.name].collect()

    assert (row[C.TOPIC], row[C.LEADER_EPOCH], row[C.LEADER_ID]) == (pseudonym("topic", TOPIC), 3, 1)
    assert row[C.TOPIC_ID] != ""


@pytest.mark.spark
@pytest.mark.delta
def test_a_warehouse_has_one_redaction(spark: SparkSession, tmp_path: Path) -> None:
    """Another key, none, or other words: refused, and said which."""
    warehouse = Warehouse(spark, str(tmp_path))
    warehouse.create(EVENT_TABLES[0], require_same(warehouse, EVERYTHING))
    topics = Redaction(frozenset({Redacted.TOPICS}), EVERYTHING.key)

    assert require_same(warehouse, EVERYTHING)
    for redaction, words in (
        (ANOTHER_KEY, "redacted with another key; use another warehouse"),
        (Redaction(), "redacted with --redact hosts,principals,topics, and this run has none"),
        (topics, "and this run has another one"),
    ):
        with pytest.raises(CouldNotRunError, match=words):
            require_same(warehouse, redaction)


@pytest.mark.spark
@pytest.mark.delta
def test_a_warehouse_of_plain_names_stays_one(spark: SparkSession, tmp_path: Path) -> None:
    """Also one that was made before there was such an option."""
    warehouse = Warehouse(spark, str(tmp_path))
    warehouse.create(EVENT_TABLES[0])

    assert require_same(warehouse, Redaction())
    with pytest.raises(CouldNotRunError, match="its names are not redacted"):
        require_same(warehouse, EVERYTHING)


@pytest.mark.parametrize(
    ("name", "kind", "expected"),
    [
        ("broker-1/segments/salaries-0.txt.gz", FileKind.SEGMENT_DUMP, "broker-1/segments/T-0.txt.gz"),
        (
            "broker-1/segments/__consumer_offsets-7.txt",
            FileKind.SEGMENT_DUMP,
            "broker-1/segments/__consumer_offsets-7.txt",
        ),
        ("salaries-0/00000000000000000000.log", FileKind.SEGMENT_DUMP, "T-0/00000000000000000000.log"),
        (
            "broker-1/salaries-0/leader-epoch-checkpoint",
            FileKind.LEADER_EPOCH_CHECKPOINT,
            "broker-1/T-0/leader-epoch-checkpoint",
        ),
        (
            "broker-1/leader-epoch-checkpoints.json",
            FileKind.LEADER_EPOCH_CHECKPOINT,
            "broker-1/leader-epoch-checkpoints.json",
        ),
        ("kafka1.example.com/server.log.2026-11-21-10.gz", FileKind.SERVER_LOG, "N/server.log.2026-11-21-10.gz"),
        ("server.log.10.0.0.12", FileKind.SERVER_LOG, "N"),
        ("kafka1-server.log.3", FileKind.SERVER_LOG, "N.log.3"),
        ("salaries.txt", FileKind.UNKNOWN, "N.txt"),
    ],
)
def test_a_file_keeps_of_its_name_what_is_kafkas(name: str, kind: FileKind, expected: str) -> None:
    """A topic in it is the topic's pseudonym, everything else a name of its own."""
    (file,) = EVERYTHING.files([SourceFile(Path(name), name, kind, 1, "0" * 64)])
    (again,) = EVERYTHING.files([SourceFile(Path(name), name, kind, 1, "0" * 64)])
    (elsewhere,) = ANOTHER_KEY.files([SourceFile(Path(name), name, kind, 1, "0" * 64)])
    place = file.name.replace(pseudonym("topic", TOPIC), "T")
    pattern = expected.replace(".", r"\.").replace("N", "name-[0-9a-f]{16}")

    assert file == again
    assert file.digest not in ("0" * 64, elsewhere.digest)
    assert re.fullmatch(pattern, place)


@pytest.mark.parametrize(
    ("argv", "key", "complaint"),
    [
        (["--redact", "topics"], "", "--redact needs a key of 16 bytes or more, in TIDEGAUGE_REDACT_KEY"),
        (["--redact", "topics"], "short", "--redact needs a key of 16 bytes or more"),
        (["--redact", "topics,racks"], "long enough, this key", "it takes topics, hosts, principals"),
        (["--redact", ""], "long enough, this key", "it takes topics, hosts, principals"),
        (["--redact", "topics,"], "long enough, this key", "it takes topics, hosts, principals"),
        (["--redact-key-file", __file__], "", "--redact-key-file says nothing without --redact"),
    ],
)
@pytest.mark.parametrize("command", ["ingest", "pipeline"])
def test_what_is_missing_is_a_usage_error(
    command: str, argv: list[str], key: str, complaint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    """Told before anything is read."""
    monkeypatch.setenv(KEY, key)

    assert main([command, "x", "--warehouse", str(tmp_path / "lake"), *argv]) == 64
    assert complaint in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "lake").exists()


def test_without_topics_their_names_stay() -> None:
    """What may name a host or a person goes all the same."""
    hosts = Redaction(frozenset({Redacted.HOSTS}), EVERYTHING.key)
    names = ("broker-1/segments/salaries-0.txt", "alice/server.log")
    files = [SourceFile(Path(name), name, FileKind.SEGMENT_DUMP, 1, "0" * 64) for name in names]
    dump, log = hosts.files(files)

    assert dump.name == names[0]
    assert re.fullmatch(r"name-[0-9a-f]{16}/server.log", log.name)


def test_the_options_in_force_are_told_without_the_key(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The words, as they were given."""
    monkeypatch.setenv(KEY, EVERYTHING.key.decode())

    assert main(["ingest", "x", "--warehouse", "w", "--redact", "topics,hosts", "--show-config"]) == 0
    told = capsys.readouterr().out
    assert "redact: hosts,topics  # command line" in told
    assert EVERYTHING.key.decode() not in told


def test_a_key_is_never_shown() -> None:
    """Neither by the object nor by what a table is told of it."""
    shown: list[Any] = [repr(EVERYTHING), EVERYTHING.fingerprint]

    assert [text for text in shown if "house" in text] == []
    assert EVERYTHING.fingerprint != ANOTHER_KEY.fingerprint
