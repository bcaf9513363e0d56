"""A drawn story beside the timelines that were rebuilt of its logs: line by line, word by word."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from pyspark.sql import SparkSession

from tests.engine import each_by_its_own, in_order, profile, replayed, to_the_millisecond
from tests.story import Expected, Story
from tests.twin.fetching import OUT_OF_RANGE
from tests.twin.histories import History
from tests.twin.words import Known

Row = dict[str, Any]


class Told:
    """What was rebuilt of one story."""

    def __init__(self) -> None:
        self.leader: list[Row] = []
        self.replica: list[Row] = []
        self.truncations: list[Row] = []

    def at(self, expected: Expected) -> dict[str, object]:
        """What the timelines know at the end of a line, by the names of `Known`."""
        known: dict[str, object] = {"replicas": {}}
        if leader := self._last(self.leader, expected, "event_time"):
            known |= {name: leader[name] for name in ("high_watermark", "log_start_offset", "last_stable_offset")}
            known["is_under_min_isr"] = leader["is_under_min_isr"]
            known["isr"], known["maximal_isr"] = frozenset(leader["isr"] or ()), frozenset(leader["maximal_isr"] or ())
            known["log_end_offset"] = leader["remote_log_end_offset"] | {leader["leader_id"]: leader["log_end_offset"]}
        for replica in {row["replica_id"] for row in self.replica}:
            own = [row for row in self.replica if row["replica_id"] == replica]
            if state := self._last(own, expected, "valid_from"):
                known["replicas"][replica] = state  # type: ignore[index]
        return known

    @staticmethod
    def _is_past(row: Row, expected: Expected, time: str) -> bool:
        moment: datetime = row[time]
        end = expected.event_time.replace(tzinfo=None)
        return row["partition"] == expected.partition and to_the_millisecond(moment) <= end

    def _last(self, rows: Iterable[Row], expected: Expected, time: str) -> Row | None:
        past = [row for row in rows if self._is_past(row, expected, time)]
        return max(past, key=lambda row: (row["leader_epoch"], row["event_seq"]), default=None)


TABLES = {"leader": "leader_timeline", "replica": "replica_timeline", "truncations": "truncations"}


def retold(
    spark: SparkSession,
    stories: Iterable[Story | History],
    landing: Mapping[str, Sequence[Row]],
    of: Iterable[str] = tuple(TABLES),
    slots: int = 5,
    **facts: bool,
) -> dict[str, Told]:
    """What is rebuilt of each story's `landing`, all in one replay: the tables named in `of`."""
    by_story: dict[str, Told] = defaultdict(Told)
    spoken = each_by_its_own({story.name: profile(story) for story in stories}).with_changes(**facts)
    with replayed(spark, landing, slots, spoken) as timelines:
        for name in of:
            for row in in_order(getattr(timelines, TABLES[name])):
                getattr(by_story[row["cluster_id"]], name).append(row)
    return by_story


REBUILT = (
    "log_end_offset", "high_watermark", "isr", "maximal_isr", "log_start_offset", "last_stable_offset",
    "is_under_min_isr", "replicas",
)  # fmt: skip
"""The words of a right side that are on a timeline; the rest is about a response, which is landed as it was."""


def disputes(story: Story, rebuilt: Told, words: Iterable[str] = REBUILT) -> Iterator[str]:
    """Where the timelines know something else than a line says in one of these words.

    A refusal is no event of the timeline, which shows it with the next one. That a follower cut its log, or started
    again, `replica_timeline` shows with its next fetch; `truncations` tells of every cut.
    """
    silent: set[int] = set()
    for expected in story.expected:
        known, (left, *_) = rebuilt.at(expected), expected.text.split("|")
        silent |= _cut_or_restarted(left, expected.known)
        if (fetch := re.search(r"(\d+) fetches", left)) and not _is_refused(expected.known):
            silent.discard(int(fetch[1]))
        for name in words:
            said = getattr(expected.known, name)
            if said is None or (name == "maximal_isr" and "reject" in left):
                continue
            made = known.get(name)
            if isinstance(said, dict) and isinstance(made, dict):
                said = {key: value for key, value in said.items() if name != "replicas" or key not in silent}
                made = {key: _of_replica(value, made.get(key)) for key, value in said.items()}
            if said != made:
                yield f"{expected.line_no}: {expected.text.strip()}\n {name}: {made} is rebuilt, not {said}"


def cuts_not_made(story: Story, rebuilt: Told) -> Iterator[str]:
    """Where a line tells of a truncation that `truncations` does not have."""
    made = {(cut["replica_id"], cut["to_offset"], cut["from_offset"]) for cut in rebuilt.truncations}
    for expected in story.expected:
        for replica, cut in expected.known.lost.items():
            if (replica, *cut) not in made:
                yield f"{expected.line_no}: {expected.text.strip()}\n {made} are rebuilt"


def _cut_or_restarted(left: str, known: Known) -> set[int]:
    """The replicas whose log is not what it was, and who have not fetched since."""
    found = re.search(r"restart (\d+)|(\d+) truncates|(\d+) fetches", left)
    who = {int(group) for group in found.groups() if group} if found else set()
    return {*known.lost, *(who if "fetches" not in left or _is_refused(known) else ())}


def _is_refused(known: Known) -> bool:
    """Whether a fetch was answered so that its follower does something to its log: it diverges, or is out of range."""
    return known.diverging is not None or known.error_code == OUT_OF_RANGE


def _of_replica(said: object, made: object) -> object:
    """A state as (LEO, HW); what is said, where the timeline says it does not know better and its bounds hold that.

    A LEO of -1 is unknown: no request of the replica tells it.
    """
    if not isinstance(made, dict):
        return made
    bounds = [(made[f"{name}_low"], made[f"{name}_high"]) for name in ("log_end_offset", "high_watermark")]
    is_open = made["exactness"] == "bounded" and isinstance(said, tuple)
    if made["log_end_offset"] < 0:
        return said
    if is_open and all(low <= value <= high for (low, high), value in zip(bounds, said, strict=True)):
        return said
    return made["log_end_offset"], made["high_watermark"]
