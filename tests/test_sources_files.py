"""Which files a capture has, what they are, and what is wrong with them as files."""

from __future__ import annotations

import bz2
import errno
import gzip
import lzma
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from schemas.files import FileKind
from sources.capture_folder import capture_root
from sources.errors import CaptureError
from sources.files import discover
from sources.packing import GZIP_UNNAMED, NOT_GZIP, NOT_TEXT, PACKED, TRUNCATED
from sources.source_file import SourceFile, byte_lines
from sources.stated_cluster import stated_cluster_id

STATE_CHANGE = b"[2026-11-21 10:36:40,815] INFO [Broker id=1] Transitioning 1 partition(s) (state.change.logger)\n"
STARTING = (
    b"[2026-11-21 10:36:38,337] INFO [BrokerLifecycleManager id=2] Incarnation Z26 of broker 2 in cluster "
    b"2WJtuVaeSIqjeG9A4BIH_Q is now STARTING. (kafka.server.BrokerLifecycleManager)\n"
)
BARE = b"Dumping 00000000000000000000.log\nLog starting offset: 0\nbaseOffset: 1 lastOffset: 1 count: 1\n"
NO_OP = b'| offset: 1 CreateTime: 1 headerKeys: [] payload: {"type":"NO_OP_RECORD","version":0,"data":{}}\n'
SERVER = b"[2026-11-21 10:36:40,815] INFO starting (kafka.server.KafkaServer)\n"


def put(root: Path, name: str, content: bytes = SERVER) -> Path:
    """A file of a capture."""
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    return path


def found(root: Path) -> dict[str, SourceFile]:
    """The files by name."""
    return {file.name: file for file in discover(root)}


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("kafka-request.log", FileKind.REQUEST_LOG),
        ("kafka-request.log.gz", FileKind.REQUEST_LOG),
        ("kafka-request.log.1", FileKind.REQUEST_LOG),
        ("kafka-request.log.2026-11-21-10", FileKind.REQUEST_LOG),
        ("kafka-request.log.2026-11-21-10.gz", FileKind.REQUEST_LOG),
        ("state-change.log-20261121.gz", FileKind.STATE_CHANGE_LOG),
        ("server.log.2026-11-21T10:00", FileKind.SERVER_LOG),
        ("leader-epoch-checkpoints.json", FileKind.LEADER_EPOCH_CHECKPOINT),
        ("orders-0/leader-epoch-checkpoint", FileKind.LEADER_EPOCH_CHECKPOINT),
        ("replication-offset-checkpoint", FileKind.HW_CHECKPOINT),
        ("log-start-offset-checkpoint", FileKind.LOG_START_CHECKPOINT),
        ("about.json", FileKind.ABOUT),
    ],
)
def test_a_name_tells_the_kind_with_rotation_and_gzip(tmp_path: Path, name: str, kind: FileKind) -> None:
    """Brokers rotate their logs and people pack them."""
    put(tmp_path, f"broker-7/{name}", b"\n")

    (file,) = discover(tmp_path)

    assert (file.kind, file.broker_id, file.problem) == (kind, 7, None)


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"Dumping /data/__cluster_metadata-0/000.log\nLog starting offset: 0\n", FileKind.METADATA_DUMP),
        (b"Dumping /data/orders-0/000.log\nStarting offset: 0\n", FileKind.SEGMENT_DUMP),
        (BARE + NO_OP, FileKind.METADATA_DUMP),
        (BARE + b'| offset: 1 CreateTime: 1 keySize: -1 payload: {"type":"ORDER"}\n', FileKind.SEGMENT_DUMP),
        (b"baseOffset: 0 lastOffset: 1 count: 2\n", FileKind.SEGMENT_DUMP),
        (b"[2026-11-21 10:36:40,815] DEBUG Completed request:{} (kafka.request.logger)\n", FileKind.REQUEST_LOG),
        (b"\xef\xbb\xbf" + STATE_CHANGE, FileKind.STATE_CHANGE_LOG),
        (b"2026-11-21 10:36:40,815 INFO starting (kafka.server.KafkaServer) [main]\n", FileKind.SERVER_LOG),
        (b"to whom it may concern\n", FileKind.UNKNOWN),
    ],
)
def test_content_tells_the_kind_where_the_name_does_not(tmp_path: Path, content: bytes, kind: FileKind) -> None:
    """Dumps have any name; a log may have been renamed."""
    put(tmp_path, "about.json", b"{}")
    put(tmp_path, "notes.txt", content)

    assert found(tmp_path)["notes.txt"].kind is kind


@pytest.mark.parametrize(
    ("name", "content", "partition"),
    [
        ("orders-0/leader-epoch-checkpoint", b"0\n1\n0 0\n", "orders-0"),
        ("leader-epoch-checkpoint", b"0\n1\n0 0\n", ""),
        ("leader-epoch-checkpoints.json", b'{"orders-0": ["0", "1", "0 0"]}', ""),
        ("segments/orders-0/00000000000000000000.txt", BARE, "orders-0"),
        ("segments/a-b-3/orders-0.txt.gz", BARE, "orders-0"),
        ("segments/orders-0.txt", BARE.replace(b"Dumping ", b"Dumping /data/clicks-1/"), ""),
        ("segments/orders-0.txt", BARE.replace(b"Dumping ", b"Dumping C:\\data\\clicks-1\\"), ""),
        ("orders-0/server.log", SERVER, ""),
    ],
)
def test_a_name_tells_the_partition_where_nothing_else_does(
    tmp_path: Path, name: str, content: bytes, partition: str
) -> None:
    """Then two files of one content are two."""
    put(tmp_path, f"broker-7/{name}", content)

    (file,) = discover(tmp_path)

    assert file.named_partition == partition


def test_what_a_test_cluster_knew_of_itself_is_never_read(tmp_path: Path) -> None:
    """Truth is for comparison."""
    for name in ("truth.jsonl.gz", "acked.jsonl", "trace/broker-1/server.log", "broker-1/server.log"):
        put(tmp_path, name)

    assert list(found(tmp_path)) == ["broker-1/server.log"]


def test_the_folder_with_capture_in_it_is_taken_as_that(tmp_path: Path) -> None:
    """`examples/captures/failover` and `…/failover/capture` are the same."""
    put(tmp_path, "run/capture/broker-1/server.log")

    assert capture_root(tmp_path / "run") == capture_root(tmp_path / "run" / "capture") == tmp_path / "run" / "capture"


def test_a_way_back_in_a_path_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Spark names a file by its path without `..`: by another name its lines would be nobody's."""
    put(tmp_path, "run/broker-1/server.log")
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    (file,) = discover(capture_root("../run"))

    assert file.path == tmp_path / "run" / "broker-1" / "server.log"


def test_a_folder_without_brokers_files_is_an_error(tmp_path: Path) -> None:
    """An empty input never passes."""
    with pytest.raises(CaptureError, match="no such folder"):
        capture_root(tmp_path / "nowhere")
    with pytest.raises(CaptureError, match="nothing to read among 0 files"):
        discover(tmp_path)
    put(tmp_path, "notes.txt", b"hello")
    with pytest.raises(CaptureError, match="nothing to read among 1 files"):
        discover(tmp_path)


def test_a_digest_is_of_the_content_and_not_of_the_packing(tmp_path: Path) -> None:
    """A file that was packed since is the same file."""
    put(tmp_path, "broker-1/server.log")
    put(tmp_path, "broker-1/server.log.1.gz")
    put(tmp_path, "broker-1/server.log.2", SERVER * 2)

    plain, packed, other = discover(tmp_path)

    assert plain.digest == packed.digest != other.digest


def test_problems_of_files_are_told_and_not_raised(tmp_path: Path) -> None:
    """A damaged file does not stop the others."""
    whole = gzip.compress(STATE_CHANGE * 5000)
    put(tmp_path, "state-change.log", b"")
    (tmp_path / "state-change.log.1.gz").write_bytes(whole[: len(whole) // 2])
    put(tmp_path, "server.log", b"\x00\x01\x02" * 100)
    (tmp_path / "server.log.2.gz").write_bytes(SERVER)
    (tmp_path / "server.log.3").write_bytes(whole)
    (tmp_path / "server.log.4.bz2").write_bytes(bz2.compress(SERVER))
    (tmp_path / "server.log.5.xz").write_bytes(lzma.compress(SERVER))

    files = found(tmp_path)

    assert {name: file.problem for name, file in files.items()} == {
        "state-change.log": None,
        "state-change.log.1.gz": TRUNCATED,
        "server.log": NOT_TEXT,
        "server.log.2.gz": NOT_GZIP,
        "server.log.3": GZIP_UNNAMED,
        "server.log.4.bz2": PACKED[b"BZh"],
        "server.log.5.xz": PACKED[b"\xfd7zXZ"],
    }
    assert {name for name, file in files.items() if file.is_readable} == {"state-change.log", "state-change.log.1.gz"}
    assert next(byte_lines(files["state-change.log.1.gz"])) == STATE_CHANGE.strip()


def test_a_folder_that_may_not_be_read_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A broker's logs do not go missing unsaid."""
    put(tmp_path, "broker-1/server.log")
    closed = put(tmp_path, "broker-2/server.log").parent
    scan = os.scandir

    def may_not(folder: str) -> Iterator[os.DirEntry[str]]:  # nothing is closed to root, who runs tests
        if Path(folder) == closed:
            raise PermissionError(errno.EACCES, "Permission denied", folder)
        return scan(folder)

    monkeypatch.setattr(os, "scandir", may_not)
    with pytest.raises(PermissionError, match="broker-2"):
        discover(tmp_path)


def test_a_link_to_a_parent_is_no_loop(tmp_path: Path) -> None:
    """Nor does one to what lies around the capture lead out of it."""
    put(tmp_path, "beside.log")
    put(tmp_path, "capture/broker-1/server.log")
    for name, place in (("again", tmp_path / "capture"), ("around", tmp_path)):
        (tmp_path / "capture" / "broker-1" / name).symlink_to(place)

    assert list(found(tmp_path / "capture")) == ["broker-1/server.log"]


def test_a_link_to_a_folder_is_that_folder(tmp_path: Path) -> None:
    """`ln -s /var/log/kafka broker-2` is how a capture is put together; what lies in it already is not read twice."""
    put(tmp_path, "elsewhere/kafka/server.log", STARTING)
    put(tmp_path, "capture/broker-1/server.log")
    (tmp_path / "capture" / "broker-2").symlink_to(tmp_path / "elsewhere" / "kafka")
    (tmp_path / "capture" / "a-first").symlink_to(tmp_path / "capture" / "broker-1")

    assert {file.name: file.broker_id for file in found(tmp_path / "capture").values()} == {
        "broker-1/server.log": 1, "broker-2/server.log": 2
    }  # fmt: skip


@pytest.mark.parametrize(
    "line",
    [
        b"[2026-11-21 10:49:17,175] INFO Cluster ID = 2WJtuVaeSIqjeG9A4BIH_Q (kafka.server.KafkaServer)\n",
        STARTING,
    ],
)
def test_a_broker_says_its_cluster(tmp_path: Path, line: bytes) -> None:
    """With ZooKeeper and with KRaft; without such a line it is not known."""
    put(tmp_path, "broker-1/server.log.gz", SERVER + line)
    put(tmp_path, "broker-2/server.log", SERVER)

    assert stated_cluster_id(discover(tmp_path)) == "2WJtuVaeSIqjeG9A4BIH_Q"
    assert stated_cluster_id(discover(tmp_path / "broker-2")) is None
