"""What a leader says while its request log is silent, as literal rows."""

from __future__ import annotations

from typing import Any

from tests.literal_lines import begins, line

Row = dict[str, Any]


def begun(topic: str, leo: int, hw: int | None, **begin: Any) -> list[Row]:
    """Broker 1 leads, and the line that states what it has; before 2.4 no line states the HW."""
    stated = {"became_leader_log_end_offset": leo} | ({} if hw is None else {"became_leader_high_watermark": hw})
    return [begins(topic, **begin), *said(topic, 0, **stated)]


def said(topic: str, ms: float, **kinds: int) -> list[Row]:
    """One line of the leader that states offsets."""
    of_line = line(topic, ms)
    return [of_line | {"kind": kind, "offset": offset} for kind, offset in kinds.items()]


def becomes(topic: str, ms: float, isr: list[int], kind: str = "isr_updated", epoch: int = 1) -> Row:
    """A change that the leader applied."""
    return line(topic, ms, change_kind=kind, leader_id=1, isr=isr, partition_epoch=epoch)


def follows(topic: str, ms: float, leo: int, hw: int) -> list[Row]:
    """Broker 1 becomes a follower of 2 in the next epoch, and its line states its log."""
    change = {"change_kind": "become_follower", "leader_id": 2, "isr": [], "partition_epoch": 9, "leader_epoch": 1}
    stated = {"became_follower_log_end_offset": leo, "became_follower_high_watermark": hw}
    return [line(topic, ms, **change), *[row | {"leader_epoch": 1} for row in said(topic, ms, **stated)]]
