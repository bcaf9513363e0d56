"""Rows rebuilt from a history with something missing, beside the twin's, who knows everything."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from tests.engine import to_the_millisecond

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from tests.twin.histories import History

    Row = Mapping[str, Any]
    Pair = tuple[str, Row, Row]


def paired(drawn: Sequence[History], rebuilt: Mapping[str, Sequence[Row]]) -> list[Pair]:
    """Of each request in both: the history's name, the twin's row and the rebuilt one, of leaders' rows by history."""
    pairs = []
    for each in drawn:
        told = dict(_by_request(row for row in each.expected_leader if row["is_logged"] and not _is_again(row, each)))
        made = dict(_by_request(rebuilt[each.name]))
        pairs += [(each.name, told[key], made[key]) for key in sorted(told.keys() & made.keys())]
    return pairs


def outside(pairs: Iterable[Pair]) -> list[str]:
    """The rows whose bounds do not hold the true HW, a text each."""
    return [
        f"{name} epoch {made['leader_epoch']} {made['event_time']} {made['event_type']} of {made['replica_id']}: HW is"
        f" {told['high_watermark']}, not in [{made['high_watermark_low']}, {made['high_watermark_high']}]"
        f" {made['exactness']}; ISR {told['isr']}, rebuilt {made['isr']}; LEO {told['log_end_offset']}, rebuilt"
        f" {made['log_end_offset']}; remote {told['remote_log_end_offset']}, rebuilt {made['remote_log_end_offset']}"
        for name, told, made in pairs
        if not made["high_watermark_low"] <= told["high_watermark"] <= made["high_watermark_high"]
    ]


def _by_request(rows: Iterable[Row]) -> Iterator[tuple[tuple[Any, ...], Row]]:
    """Appends and fetches by epoch, time, kind and replica; those that share all of it are left out."""
    requests = [row for row in rows if row["event_type"] in ("APPEND", "FETCH")]
    keys = [
        (row["leader_epoch"], to_the_millisecond(row["event_time"]), row["event_type"], row["replica_id"])
        for row in requests
    ]
    once = Counter(keys)
    return ((key, row) for key, row in zip(keys, requests, strict=True) if once[key] == 1)


def _is_again(row: Row, of: History) -> bool:
    """Whether its leader began the epoch more than once: that its process restarted no request tells."""
    begins = [r for r in of.expected_leader if r["event_type"] == "BECOME_LEADER"]
    return sum(begin["leader_epoch"] == row["leader_epoch"] for begin in begins) > 1
