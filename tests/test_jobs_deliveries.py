"""Deliveries: a content lands once, and what a run that died left is taken back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from jobs.deliveries import (
    EVENT_TABLES,
    digest_of,
    filter_new,
    landed_clusters,
    next_transaction,
    require_unused,
)
from jobs.delivery import delivery_of
from jobs.errors import CouldNotRunError
from jobs.taking_back import withdraw_unfinished
from jobs.warehouse import Warehouse
from schemas.files import FileKind
from schemas.tables import LANDING_TABLES, LEADER_CHANGES, PRODUCE_EVENTS, SOURCE_FILES
from sources.source_file import SourceFile
from tests.frames import rows

pytestmark = [pytest.mark.spark, pytest.mark.delta]

COUNTS = {"lines_read": 1, "lines_landed": 1, "lines_rejected": 0, "lines_ignored": 0}
EVENT = {"base_offset": 0, "last_offset": 0, "partition": 0, "leader_id": 1, "source_line": 1}

Deliver = Callable[..., None]


def file(digest: str, name: str = "server.log", broker_id: int = 1, kind: FileKind = FileKind.SERVER_LOG) -> SourceFile:
    """A file of a capture, with its content's digest."""
    return SourceFile(Path("/capture") / name, name, kind, broker_id, digest)


@pytest.fixture(scope="module")
def empty(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    """A warehouse with all landing tables; each test works in a cluster of its own."""
    made = Warehouse(spark, str(tmp_path_factory.mktemp("lake")))
    for table in LANDING_TABLES:
        made.create(table)
    return made


@pytest.fixture
def deliver(empty: Warehouse) -> Deliver:
    """Land one row per file in two event tables, and then in `source_files` unless the run is to die before."""

    def land(cluster_id: str, capture_id: str, *files: SourceFile, dies: bool = False) -> None:
        spark, transaction = empty.spark, next_transaction(empty, cluster_id, files)
        keys = [{"cluster_id": cluster_id, "capture_id": capture_id, "source_file": f.name} for f in files]
        for table in (PRODUCE_EVENTS,) if dies else (PRODUCE_EVENTS, LEADER_CHANGES):
            empty.append(table, rows(spark, table, *[{**EVENT, **key} for key in keys]), transaction)
        if not dies:
            facts = [{"digest": f.digest, "kind": f.kind.value, "broker_id": f.broker_id} for f in files]
            landed = [{**COUNTS, **key, **fact} for key, fact in zip(keys, facts, strict=True)]
            empty.append(SOURCE_FILES, rows(spark, SOURCE_FILES, *landed), transaction)

    return land


def events(warehouse: Warehouse, cluster_id: str) -> list[tuple[str, str]]:
    """Where the cluster's produce events came from."""
    found = warehouse.read(PRODUCE_EVENTS, cluster_id=cluster_id).select("capture_id", "source_file").collect()
    return sorted((row[0], row[1]) for row in found)


def test_a_name_of_files_is_of_their_content_alone() -> None:
    """Order and names do not matter; content, and whose it is, do."""
    assert digest_of([file("a"), file("b")]) == digest_of([file("b", "renamed.log"), file("a")])
    assert digest_of([file("a")]) != digest_of([file("a", broker_id=2)])


def test_only_new_content_is_left(empty: Warehouse, deliver: Deliver) -> None:
    """What landed is left out, a copy is taken once, equal bytes of another broker are another file."""
    deliver("new", "first", file("a"))
    given = [file("a", "renamed.log"), file("a", broker_id=2), file("b"), file("b", "copy.log")]

    assert filter_new(empty, "new", given) == [given[1], given[2]]
    assert filter_new(empty, "another cluster", given) == given[:3]


def test_a_log_that_names_no_broker_is_the_same_beside_files_that_tell(empty: Warehouse, deliver: Deliver) -> None:
    """A quiet file of a flat folder: first alone, then with the rest of its broker's log, or the other way round."""
    deliver("quiet", "first", file("a", broker_id=-1), file("b"))

    assert filter_new(empty, "quiet", [file("a"), file("b", broker_id=-1), file("c", broker_id=-1)]) == [
        file("c", broker_id=-1)
    ]


def test_a_stream_of_all_loggers_has_landed_if_it_did_as_another_log(empty: Warehouse, deliver: Deliver) -> None:
    """It may have been taken for a log of a single kind: its rows are not to come twice."""
    kinds = (FileKind.REQUEST_LOG, FileKind.STATE_CHANGE_LOG)
    deliver("console", "d1", *[file(kind.value, "all.log", kind=kind) for kind in kinds])

    console = [file(digest, f"{digest}.log", kind=FileKind.CONSOLE_LOG) for digest in ("request_log", "b")]
    server = [file(digest, f"{digest}.log") for digest in ("state_change_log", "c")]

    assert filter_new(empty, "console", [*console, *server]) == [console[1], server[1]]


def test_the_hour_that_comes_twice_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In autumn, of a zone that has such an hour; that which spring leaves out comes never."""
    times = ("2026-03-29 02:30", "2026-10-25 01:59", "2026-10-25 02:00", "2026-10-25 02:59", "2026-10-25 03:00")
    log = tmp_path / "broker-1" / "server.log"
    log.parent.mkdir()
    log.write_text("".join(f"[{time}:00,000] INFO a (b.C)\n" for time in times), encoding="utf-8")

    def told(zone: str, cluster_id: str | None = None) -> tuple[list[str], bool]:
        delivery = delivery_of(
            tmp_path, cluster_id=cluster_id, capture_id=None, timezone=zone, layout=None, redact=frozenset(),
            redact_key_file=None,
        )  # fmt: skip
        lines = capsys.readouterr().err.splitlines()
        return [line.split(";")[0].strip() for line in lines if "twice" in line], delivery.is_cluster_told

    assert told("Europe/Berlin") == (["2026-10-25 02:00 comes twice in Europe/Berlin"], False)
    assert told("UTC", "named") == ([], True)


def test_files_of_one_content_are_of_several_partitions(empty: Warehouse, deliver: Deliver) -> None:
    """Most partitions' epochs began at 0 and never changed; a dump made within its folder names none."""
    kind = FileKind.LEADER_EPOCH_CHECKPOINT
    told = [
        replace(file("a", f"broker-1/{place}/leader-epoch-checkpoint", kind=kind), is_told_by_name=True)
        for place in ("orders-0", "orders-1", "disk2/orders-1", "clicks-0")
    ]
    dumps = [
        replace(file("b", f"broker-1/{name}", kind=FileKind.SEGMENT_DUMP), is_told_by_name=is_told_by_name)
        for name, is_told_by_name in (("orders-0.txt", True), ("orders-1.txt.gz", True), ("orders-2.txt", False))
    ]
    deliver("alike", "first", told[1], dumps[2])

    assert filter_new(empty, "alike", [*told, *dumps]) == [told[0], told[3], dumps[0], dumps[1]]
    assert filter_new(empty, "other", [*told, *dumps]) == [told[0], told[1], told[3], *dumps]
    assert digest_of(told[:1]) != digest_of(told[1:2]) == digest_of(told[2:3])
    assert digest_of(dumps[2:]) == digest_of([replace(dumps[2], name="elsewhere/clicks-0.txt")])


def test_an_id_of_a_delivery_has_one_content_of_a_name(empty: Warehouse, deliver: Deliver) -> None:
    """Another one's rows would be taken for its; under an id of its own, another name, or not landed at all it may."""
    deliver("used", "nightly", file("a"))
    deliver("used", "died", file("b"), dies=True)
    require_unused(empty, "used", "nightly", [file("a"), file("b", "server.log.1")])
    for capture_id, cluster_id in (("other", "used"), ("died", "used"), ("nightly", "another cluster")):
        require_unused(empty, cluster_id, capture_id, [file("b")])

    with pytest.raises(CouldNotRunError, match=r"delivery nightly of cluster used .* another content of server\.log: "):
        require_unused(empty, "used", "nightly", [file("c", "server.log.1"), file("b")])


def test_a_finished_delivery_stays(empty: Warehouse, deliver: Deliver) -> None:
    """Nothing is taken back from a warehouse in order, nor from an empty one."""
    assert not withdraw_unfinished(empty, "finished")
    deliver("finished", "first", file("a"))

    assert not withdraw_unfinished(empty, "finished")
    assert events(empty, "finished") == [("first", "server.log")]


def test_an_unfinished_delivery_is_taken_back_and_can_come_again(empty: Warehouse, deliver: Deliver) -> None:
    """Only its rows go, not those of a delivery or a cluster beside it; its retry lands in full."""
    deliver("died", "first", file("a", "one.log"))
    deliver("beside", "first", file("a", "one.log"))
    deliver("died", "second", file("b", "two.log"), dies=True)

    assert withdraw_unfinished(empty, "died")
    assert events(empty, "died") == [("first", "one.log")]
    assert events(empty, "beside") == [("first", "one.log")]

    deliver("died", "second", file("b", "two.log"))
    assert not withdraw_unfinished(empty, "died")
    assert events(empty, "died") == [("first", "one.log"), ("second", "two.log")]


def test_a_warehouse_names_its_clusters(empty: Warehouse, deliver: Deliver) -> None:
    """All of them, or the one asked for; one without deliveries is an error."""
    deliver("named", "first", file("a"))

    assert "named" in landed_clusters(empty)
    assert landed_clusters(empty, "named") == ["named"]
    with pytest.raises(CouldNotRunError, match="nothing has landed for cluster absent"):
        landed_clusters(empty, "absent")


def test_the_mark_comes_last() -> None:
    """`source_files` is not among the tables that are written before it."""
    assert set(EVENT_TABLES) == set(LANDING_TABLES) - {SOURCE_FILES}
