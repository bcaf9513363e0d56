"""The right side of a story's line: what is known, and whether the twin agrees."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields

from tests.twin.model import Cluster
from tests.twin.notation import NotationError, numbers


@dataclass(frozen=True)
class Known:
    """What the right side says; None and empty say nothing."""

    log_end_offset: dict[int, int] = field(default_factory=dict)
    """The leader's LEO and each remote LEO by replica; -1 not heard from."""
    high_watermark: int | None = None
    isr: frozenset[int] | None = None
    maximal_isr: frozenset[int] | None = None
    log_start_offset: int | None = None
    last_stable_offset: int | None = None
    is_under_min_isr: bool | None = None
    has_leader: bool | None = None
    replicas: dict[int, tuple[int, int]] = field(default_factory=dict)
    """A replica's own (LEO, HW)."""
    lost: dict[int, tuple[int, int]] = field(default_factory=dict)
    """The range [from, to) that a replica cut off its log."""
    response_high_watermark: int | None = None
    """The HW in the response to the last fetch that was answered; -1 in an error."""
    is_omitted: bool | None = None
    error_code: int | None = None
    diverging: tuple[int, int] | None = None
    produce_error_code: int | None = None
    differs: tuple[int, int, int] | None = None
    """Two replicas and the first offset at which their logs hold different records."""

    def disputes(self, cluster: Cluster) -> list[str]:
        """Where the twin knows something else."""
        told = told_by(cluster)
        if self.differs is not None:
            told["differs"] = (*self.differs[:2], _first_difference(cluster, *self.differs[:2]))
        return [
            f"{f.name}: the story says {said}, the twin {told.get(f.name)}"
            for f in fields(self)
            if (said := getattr(self, f.name)) not in (None, {}) and not _agree(said, told.get(f.name))
        ]


def _agree(said: object, told: object) -> bool:
    if isinstance(said, dict) and isinstance(told, dict):
        return all(told.get(key) == value for key, value in said.items())
    return said == told


def _first_difference(cluster: Cluster, left: int, right: int) -> int | None:
    pairs = zip(cluster.brokers[left].log.records, cluster.brokers[right].log.records, strict=False)
    return next((offset for offset, (mine, yours) in enumerate(pairs) if mine != yours), None)


def told_by(cluster: Cluster) -> dict[str, object]:
    """What the twin knows now, by the names of `Known`."""
    rows = cluster.rows
    fetches, produces = rows.landing["fetch_events"], rows.landing["produce_events"]
    told: dict[str, object] = {
        "has_leader": False,
        "replicas": {b.id: (b.log.log_end_offset, b.log.high_watermark) for b in cluster.brokers.values()},
        "lost": {row["replica_id"]: (row["to_offset"], row["from_offset"]) for row in rows.truncations},
    }
    if fetches:
        last = fetches[-1]
        told |= {"response_high_watermark": last["response_high_watermark"], "error_code": last["error_code"]}
        told |= {"diverging": (last["diverging_epoch"], last["diverging_end_offset"])}
        told |= {"is_omitted": last["records_size"] == -1}
    if produces:
        told["produce_error_code"] = produces[-1]["error_code"]
    broker = cluster.brokers.get(cluster.controller.leader)
    if broker is None or broker.leading is None:
        return told
    leader, log = broker.leading, broker.log
    remotes = {replica_id: remote.log_end_offset for replica_id, remote in leader.remotes.items()}
    return told | {
        "has_leader": True,
        "log_end_offset": {broker.id: log.log_end_offset, **remotes},
        "high_watermark": log.high_watermark,
        "isr": leader.isr,
        "maximal_isr": leader.maximal_isr,
        "log_start_offset": log.log_start_offset,
        "last_stable_offset": log.last_stable_offset,
        "is_under_min_isr": leader.is_under_min_isr,
    }


OFFSET = r"(?:\d+|\?)"
WORDS: tuple[tuple[str, str], ...] = (
    ("replicas", r"replica (\d+): leo (\d+) hw (\d+)"),
    ("differs", r"(\d+) and (\d+) differ at (\d+)"),
    ("lost", r"lost (\d+): (\d+) to (\d+)"),
    ("response_high_watermark", rf"response hw ({OFFSET})"),
    ("is_omitted", r"response omitted"),
    ("produce_error_code", r"produce error (\d+)"),
    ("error_code", r"error (\d+)"),
    ("diverging", r"diverges (\d+) at (\d+)"),
    ("maximal_isr", r"maximal isr (\d+(?: \d+(?!\d*:| and))*)"),
    ("isr", r"isr (\d+(?: \d+(?!\d*:| and))*)"),
    ("high_watermark", r"hw (\d+)"),
    ("last_stable_offset", r"lso (\d+)"),
    ("log_start_offset", r"log start (\d+)"),
    ("is_under_min_isr", r"(under|at) min isr"),
    ("has_leader", r"no leader"),
    ("log_end_offset", rf"(\d+):({OFFSET})"),
)


def _offset(text: str) -> int:
    return -1 if text == "?" else int(text)


def read_known(text: str) -> Known:
    """What a right side says."""
    by_replica: dict[str, dict[int, object]] = {"log_end_offset": {}, "replicas": {}, "lost": {}}
    said: dict[str, object] = {}
    rest = text.strip()
    while rest:
        name, match = _first(rest)
        rest = rest[match.end() :].lstrip(" ,")
        if name == "log_end_offset":
            by_replica[name][int(match[1])] = _offset(match[2])
        elif name in by_replica:
            by_replica[name][int(match[1])] = (int(match[2]), int(match[3]))
        else:
            said[name] = _value(name, match)
    return Known(**by_replica, **said)  # type: ignore[arg-type]


def _first(text: str) -> tuple[str, re.Match[str]]:
    for name, pattern in WORDS:
        match = re.match(pattern, text)
        if match is not None:
            return name, match
    raise NotationError(f"nothing is known like {text!r}")


def _value(name: str, match: re.Match[str]) -> object:
    if name in ("isr", "maximal_isr"):
        return frozenset(numbers(match[1]))
    if name in ("diverging", "differs"):
        return numbers(" ".join(match.groups()))
    if name == "is_under_min_isr":
        return match[1] == "under"
    if name in ("has_leader", "is_omitted"):
        return name == "is_omitted"
    return _offset(match[1])
