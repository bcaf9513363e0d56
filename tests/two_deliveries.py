"""Stories that are delivered in two parts: the line `another delivery` says where the second begins."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from tests.story import Story, tell
from tests.twin.rows import DAWN, Row

DELIVERIES = Path(__file__).parent / "deliveries"
MARK = "another delivery"

GONE_ON = {
    "a_leader_that_returns_knows_whom_it_knew", "a_line_alone_tells_of_a_cut", "a_replica_outside_is_behind",
    "an_isr_too_small_since_long_ago", "a_transaction_is_open_across", "a_transaction_has_two_leaders",
    "a_transaction_never_ends", "a_transaction_that_was_over_is_open_again", "a_marker_is_lost_by_an_unclean_election",
    "nothing_tells_whose_transactions_are", "a_killed_leader_is_back_long_after", "a_former_leader_leads_again",
    "a_transaction_is_in_a_log_that_was_away",
}  # fmt: skip
"""Those that are gone on with."""
Landing = dict[str, list[Row]]


@dataclass(frozen=True)
class Delivered:
    """A story, and when the last line of its first delivery was written."""

    story: Story
    until: datetime


def _lines_are_lost(landing: Landing, until: datetime) -> None:
    """Between the first fetch of 3 and the next delivery."""
    of_three = [row for row in landing["fetch_events"] if row["replica_id"] == 3 and row["event_time"] < until]
    landing["fetch_events"] = [row for row in landing["fetch_events"] if row not in of_three[1:]]


def _a_setting_is_told(landing: Landing, until: datetime) -> None:
    """By 1 before all, by 2 late."""
    setting, *_ = [row for row in landing["settings"] if row["name"] == "min.insync.replicas"]
    said = [(1, "1", DAWN), (2, "2", until + timedelta(seconds=1))]
    landing["settings"] = [row for row in landing["settings"] if row is not setting]
    landing["settings"] += [
        setting | {"topic": "", "broker_id": broker, "value": value, "event_time": at} for broker, value, at in said
    ]


def _another_leads(landing: Landing, until: datetime) -> None:
    """Says a line of 2."""
    begin = next(row for row in landing["leader_changes"] if row["change_kind"] == "become_leader")
    later = {"event_time": until + timedelta(seconds=1), "source_line": 99}
    landing["leader_changes"].append(begin | later | {"broker_id": 2, "leader_id": 2})


def _nothing_tells_whose(landing: Landing, _: datetime) -> None:
    """A request names no producer, and of a marker only a dump tells."""
    requests = [row for row in landing["produce_events"] if not row["is_control"]]
    landing["produce_events"] = [row | {"producer_id": -1} for row in requests]


def _no_setting_is_told(landing: Landing, _: datetime) -> None:
    """The brokers started weeks before."""
    landing["settings"] = []


EDITS: dict[str, Callable[[Landing, datetime], None]] = {
    "lines_are_lost_in_between": _lines_are_lost,
    "a_setting_is_first_told_late": _a_setting_is_told,
    "two_lines_tell_of_leaders_of_one_epoch": _another_leads,
    "nothing_tells_whose_transactions_are": _nothing_tells_whose,
    "that_an_isr_is_enough_is_told_long_ago": _no_setting_is_told,
}
"""What the twin never does to its logs."""


def load(path: Path) -> Delivered:
    """The story of a file."""
    lines = path.read_text(encoding="utf-8").splitlines()
    mark = lines.index(MARK)
    story = tell(path.stem, "\n".join("" if line == MARK else line for line in lines))
    until = max(each.event_time for each in story.expected if each.line_no <= mark)
    if edit := EDITS.get(path.stem):
        edit(story.landing, until)
    return Delivered(story, until)


def all_of_them() -> list[Delivered]:
    """Every story there is."""
    return [load(path) for path in sorted(DELIVERIES.glob("*.txt"))]
