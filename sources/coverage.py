"""What a capture covers: from when to when each broker's log of each kind tells, where it stops, and what that allows.

Plain Python on the driver, from the minutes that have lines: known before anything is parsed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

from schemas.columns import NO_REPLICA
from schemas.files import QUIET_MINUTES, FileKind
from sources.source_file import SourceFile

MINUTE = timedelta(minutes=1)

QUIET = {kind: minutes * MINUTE for kind, minutes in QUIET_MINUTES.items()}

ALLOWS = {
    FileKind.REQUEST_LOG: "each step of HW and LEO",
    FileKind.SERVER_LOG: "ISRs, truncations, HW and LEO where lines state them, bounds between",
    FileKind.CONSOLE_LOG: "leaders, ISRs, truncations, and each step of HW and LEO",
    FileKind.STATE_CHANGE_LOG: "leaders, ISRs, HW and LEO at elections",
    FileKind.SEGMENT_DUMP: "which records the log held at the end",
    FileKind.METADATA_DUMP: "elections and ISRs as the controller decided them",
    FileKind.LEADER_EPOCH_CHECKPOINT: "where each leader epoch began",
    FileKind.HW_CHECKPOINT: "HW as last written to disk",
    FileKind.LOG_START_CHECKPOINT: "log start as last written to disk",
    FileKind.ABOUT: "version and settings",
    FileKind.UNKNOWN: "nothing: of no known kind",
}


@dataclass(frozen=True)
class Coverage:
    """First and last minute in UTC, and the gaps between; None and none where no line has a time."""

    first: datetime | None = None
    last: datetime | None = None
    gaps: tuple[tuple[datetime, datetime], ...] = ()


@dataclass(frozen=True)
class Found:
    """What there is of one kind and broker."""

    kind: FileKind
    brokers: tuple[int, ...]
    files: int
    covered: Coverage

    @property
    def allows(self) -> str:
        """What it tells, and from when to when."""
        told = ALLOWS[self.kind]
        return f"{told}, but for {len(self.covered.gaps)} gaps" if self.covered.gaps else told


def coverage(minutes: Iterable[str], kind: FileKind, timezone: str, requests: Iterable[str] = ()) -> Coverage:
    """The span of some minutes of local time, and what is missing in it; `requests` are those that have requests."""
    times = _instants(minutes, timezone)
    if not times:
        return Coverage()
    ends = (times[0], times[-1])
    heard = times if kind is not FileKind.CONSOLE_LOG else sorted({*ends, *_instants(requests, timezone)})
    quiet = QUIET.get(kind)
    gaps = tuple((a, b) for a, b in pairwise(heard) if quiet is not None and b - a > quiet)
    return Coverage(*ends, gaps)


def found(files: Iterable[SourceFile], timezone: str) -> list[Found]:
    """What there is, by kind and broker; a gap is one of all files together, so that rotation makes none."""
    groups: dict[tuple[FileKind, tuple[int, ...]], list[SourceFile]] = defaultdict(list)
    for file in files:
        own = (file.broker_id,) if file.broker_id != NO_REPLICA else tuple(sorted(file.brokers))
        groups[file.kind, own].append(file)
    return [
        Found(kind, brokers, len(group), _coverage_of(group, kind, timezone))
        for (kind, brokers), group in sorted(groups.items())
    ]


def repeated(files: Iterable[SourceFile], timezone: str) -> list[str]:
    """The hours, such as `2026-10-25 02`, in which logs have lines, and which the zone has twice: clocks went back."""
    minutes: set[str] = set().union(*(file.minutes for file in files))
    zone = ZoneInfo(timezone)
    return sorted({minute[:13] for minute in minutes if _is_time(minute) and _comes_twice(minute, zone)})


def _comes_twice(minute: str, zone: ZoneInfo) -> bool:
    """Of a minute that comes once, or never, the second is no further behind than the first."""
    first, second = (_local(minute, zone).replace(fold=fold).utcoffset() for fold in (0, 1))
    return first is not None and second is not None and first > second


def _coverage_of(group: list[SourceFile], kind: FileKind, timezone: str) -> Coverage:
    minutes: set[str] = set().union(*(file.minutes for file in group))
    return coverage(minutes, kind, timezone, set().union(*(file.request_minutes for file in group)))


def _is_time(minute: str) -> bool:
    try:
        datetime.strptime(minute, "%Y-%m-%d %H:%M")  # noqa: DTZ007 - the zone comes later
    except ValueError:
        return False
    return True


def _instants(minutes: Iterable[str], timezone: str) -> list[datetime]:
    zone = ZoneInfo(timezone)
    return sorted(_instant(minute, zone) for minute in minutes if _is_time(minute))


def _instant(minute: str, zone: ZoneInfo) -> datetime:
    return _local(minute, zone).astimezone(UTC)


def _local(minute: str, zone: ZoneInfo) -> datetime:
    return datetime.strptime(minute, "%Y-%m-%d %H:%M").replace(tzinfo=zone)
