"""The small files: checkpoints and about.json."""

from __future__ import annotations

from pathlib import Path

import pytest

from sources.files import discover
from sources.small_files import read_small_files
from sources.told import Told


def read(root: Path, name: str, content: str) -> Told:
    """What one file tells."""
    path = root / "broker-2" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")
    return read_small_files(discover(root))


def outcomes(told: Told) -> list[str]:
    """What became of each line, in order."""
    assert [row[1] for row in told.outcomes] == list(range(1, len(told.outcomes) + 1))
    return [": ".join(word for word in row[5:] if word) for row in told.outcomes]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("replication-offset-checkpoint", "checkpoint_high_watermark"),
        ("log-start-offset-checkpoint", "checkpoint_log_start_offset"),
    ],
)
def test_offset_checkpoints_state_an_offset_a_line(tmp_path: Path, name: str, kind: str) -> None:
    """Two lines of head; a line that is no entry is rejected."""
    told = read(tmp_path, name, "0\n3\na-b.c 7 1379\n__cluster_metadata 0 9\norders 1\n\n")

    assert told.statements == [(kind, 2, "a-b.c", "", 7, -1, None, 1379, -1, f"broker-2/{name}", 3)]
    assert outcomes(told) == [
        "ignored: version or count", "ignored: version or count", "landed", "ignored: metadata partition",
        "rejected: no entry of a checkpoint", "ignored: blank line",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        ('{"a-b-0": ["0", "2", "0 0", "2 11", ""], "t-1": ["0", "1", "3 7", ""]}', (1, 1, 1)),
        ('{\n"a-b-0": [\n"0",\n"2",\n"0 0",\n"2 11",\n""\n],\n"t-1": ["0", "1",\n"3 7"]\n}\n', (5, 6, 10)),
    ],
)
def test_leader_epochs_of_all_partitions_in_one_json(tmp_path: Path, content: str, lines: tuple[int, ...]) -> None:
    """On one line or on many: each entry has the line it is on."""
    told = read(tmp_path, "leader-epoch-checkpoints.json", content)

    file = "broker-2/leader-epoch-checkpoints.json"
    entries = [("a-b", 0, 0, 0), ("a-b", 0, 2, 11), ("t", 1, 3, 7)]
    assert told.epoch_starts == [
        (2, topic, "", partition, epoch, start, file, line)
        for (topic, partition, epoch, start), line in zip(entries, lines, strict=True)
    ]
    assert [row[1] for row in told.outcomes if row[5] == "landed"] == sorted(set(lines))


def test_a_leader_epoch_checkpoint_as_on_disk(tmp_path: Path) -> None:
    """Its folder names the partition."""
    told = read(tmp_path, "a-b-0/leader-epoch-checkpoint", "0\n1\n4 165\nx\n")

    assert told.epoch_starts == [(2, "a-b", "", 0, 4, 165, "broker-2/a-b-0/leader-epoch-checkpoint", 3)]
    assert outcomes(told)[2:] == ["landed", "rejected: no entry of a checkpoint"]


def test_a_brokers_folder_is_no_partitions(tmp_path: Path) -> None:
    """`broker-2/leader-epoch-checkpoint` is of a partition that nobody knows."""
    told = read(tmp_path, "leader-epoch-checkpoint", "0\n1\n4 165\n")

    assert told.epoch_starts == []
    assert [row[-1] for row in told.outcomes][2] == "checkpoint of no known partition"


def test_what_is_no_json_is_rejected_line_by_line(tmp_path: Path) -> None:
    """Cut, or a list: nothing of it is used."""
    told = read(tmp_path, "leader-epoch-checkpoints.json", '{"a-0": ["0",\n"1", "0 0')

    assert told.epoch_starts == []
    assert outcomes(told) == ["rejected: not JSON"] * 2


def test_a_strange_entry_in_the_json_is_rejected(tmp_path: Path) -> None:
    """The others of the file are used."""
    told = read(tmp_path, "leader-epoch-checkpoints.json", '{"a-0": ["0", "1",\n"0 zero",\n"1 5"]}')

    assert outcomes(told) == ["ignored: structure", "rejected: no entry of a checkpoint", "landed"]


def test_about_tells_the_version_and_settings(tmp_path: Path) -> None:
    """For all brokers alike."""
    text = '{\n"kafka": "4.1.0",\n"brokers": [1],\n"config": {\n"replica.lag.time.max.ms": 3000\n}}'
    told = read(tmp_path, "about.json", text)

    assert [row[:4] for row in told.settings] == [
        (-1, "", "kafka.version", "4.1.0"),
        (-1, "", "replica.lag.time.max.ms", "3000"),
    ]
    assert outcomes(told) == [
        "ignored: no setting",
        "landed",
        *["ignored: no setting"] * 2,
        "landed",
        "ignored: no setting",
    ]


@pytest.mark.parametrize("name", ["leader-epoch-checkpoints.json", "about.json"])
@pytest.mark.parametrize("content", ["[" * 100_000, '{"a":' * 50_000])
def test_json_deeper_than_a_stack_is_no_json(tmp_path: Path, name: str, content: str) -> None:
    """And no crash."""
    assert outcomes(read(tmp_path, name, content)) == ["rejected: not JSON"]


def test_a_partition_with_too_many_digits_is_none(tmp_path: Path) -> None:
    """Its number would fit no column."""
    told = read(tmp_path, "leader-epoch-checkpoints.json", '{"t-99999999999": ["0", "1", "0 0"]}')

    assert told.epoch_starts == []
    assert outcomes(told) == ["rejected: no entry of a checkpoint"]


def test_an_offset_is_none_below_minus_one(tmp_path: Path) -> None:
    """And its line no entry."""
    told = read(tmp_path, "replication-offset-checkpoint", "0\n2\nt 0 -1\nt 1 -15\n")

    assert [row[7] for row in told.statements] == [-1]
    assert outcomes(told)[-1] == "rejected: no entry of a checkpoint"
