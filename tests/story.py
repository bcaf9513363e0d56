"""Stories: what happens to a partition on the left of the bar, what is known after it on the right.

    1 leads epoch 0, replicas 1 2, isr 1 2 | 1:0  2:?  hw 0
    append 5                               | 1:5  2:?  hw 0
    2 fetches at 0                         | 1:5  2:0  hw 0  replica 2: leo 5 hw 0

The left side is played by the twin, which gives the rows that the brokers' logs would hold. The right side is written
by hand and is what must be rebuilt from those rows. On the right, in any order:

    1:5 2:?              the leader's LEO and each remote LEO; ? is not heard from
    hw 4, isr 1 2        the leader's HW and committed ISR
    maximal isr 1 2 3    with a replica whose joining is in flight
    log start 3, lso 4   the leader's log start offset and LSO
    under min isr        the committed ISR is too small; "at min isr" that it is not
    replica 2: leo 5 hw 4   a replica's own log
    response hw 4, response omitted, error 74, diverges 0 at 5   of the last fetch that was answered
    produce error 19     of the last append that was answered
    lost 2: 5 to 8       the last cut a replica has made: [5, 8) is off its log
    1 and 2 differ at 5  the first offset at which two logs hold different records
    no leader            nobody leads

Lines before the first event set the stage: `kafka 2.8.2, protocol 0.10.2`, `lag 30 s`, `min isr 2`. A line that begins
with `p1:` or `p0 p2:` is about those partitions only. Each step takes a millisecond, and so does each response.
A replica's first fetch may be at any offset of the leader's log: it had the records before. How much a response held
follows from the replica's next fetch.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from pages import scenarios
from tests.twin.commands import Command, CommitIsr, Fetch, Truncate
from tests.twin.faults import Elect, Kill, NoLeader, Restart, SetReplicas, Tell
from tests.twin.model import Clock, Cluster
from tests.twin.notation import NotationError, read
from tests.twin.play import begin, finish, play
from tests.twin.profile import Profile
from tests.twin.rows import Row, at
from tests.twin.words import Known, read_known

MAY_CUT = (Kill, Restart, Elect, NoLeader, SetReplicas, Tell, Truncate)
"""After these, the next fetch of a replica may be where it is because its log was cut."""

SCENARIOS = scenarios.SCENARIOS


@dataclass(frozen=True)
class Line:
    """A line of a story: what happens to one partition, and what is then known of it."""

    line_no: int
    text: str
    partition: int
    command: Command
    known: Known


@dataclass(frozen=True)
class Expected:
    """What is known when all that a line tells has happened: as of `event_time`, which is its last effect."""

    line_no: int
    text: str
    partition: int
    begun_at: datetime
    event_time: datetime
    known: Known


@dataclass
class Story:
    """A story that has been played."""

    name: str
    comment: str
    profile: Profile
    lag_ms: int
    landing: dict[str, list[Row]] = field(default_factory=dict)
    expected: list[Expected] = field(default_factory=list)
    disputes: list[str] = field(default_factory=list)
    clusters: dict[int, Cluster] = field(default_factory=dict)


@dataclass
class _Stage:
    kafka_version: str = "4.1.0"
    protocol_version: str = "4.1"
    lag_ms: int = 30_000
    min_isr: int = 1

    def set(self, text: str) -> bool:
        """Take a line that sets the stage; False if it is something that happens."""
        if match := re.fullmatch(r"kafka ([\d.]+)(?:, protocol ([\d.]+))?", text):
            self.kafka_version = match[1]
            self.protocol_version = match[2] or match[1]
        elif match := re.fullmatch(r"lag (\d+) s", text):
            self.lag_ms = int(match[1]) * 1000
        elif match := re.fullmatch(r"min isr (\d+)", text):
            self.min_isr = int(match[1])
        else:
            return False
        return True


def parse(text: str) -> tuple[str, _Stage, list[Line]]:
    """The comment, the stage and the lines of a story."""
    comment, stage, lines = [], _Stage(), list[Line]()
    for line_no, raw in enumerate(text.splitlines(), start=1):
        if raw.lstrip().startswith("#"):
            comment.append(raw.lstrip("# "))
            continue
        left, _, right = (part.strip() for part in raw.partition("|"))
        if not left or (not lines and stage.set(left)):
            continue
        prefix = re.match(r"((?:p\d+ ?)+): *", left)
        partitions = [int(p[1:]) for p in prefix[1].split()] if prefix else [0]
        try:
            command, known = read(left[prefix.end() :] if prefix else left), read_known(right)
        except NotationError as error:
            raise NotationError(f"line {line_no}: {error}") from error
        lines += [Line(line_no, raw, partition, command, known) for partition in partitions]
    return "\n".join(comment), stage, _with_gets(lines)


def _with_gets(lines: list[Line]) -> list[Line]:
    """A response held what lies between its fetch and the replica's next one, where nothing else explains that."""
    inferred = list(lines)
    for i, line in enumerate(lines):
        fetch = line.command
        if isinstance(fetch, Fetch) and fetch.gets is None:
            following = _next_fetch(lines[i + 1 :], line.partition, fetch.replica)
            if following is not None and following.offset > fetch.offset:
                inferred[i] = replace(line, command=replace(fetch, gets=following.offset - fetch.offset))
    return inferred


def _next_fetch(lines: Sequence[Line], partition: int, replica_id: int) -> Fetch | None:
    for line in lines:
        command = line.command
        if line.partition == partition and isinstance(command, Fetch) and command.replica == replica_id:
            return command
        by_metadata = isinstance(command, CommitIsr) and command.by_metadata  # may begin a new epoch
        if line.partition == partition and (by_metadata or isinstance(command, MAY_CUT)):
            return None
    return None


def tell(name: str, text: str) -> Story:
    """Play a story. Where the twin does not agree with the right side, that is a dispute."""
    comment, stage, lines = parse(text)
    profile = Profile(stage.kafka_version, stage.protocol_version)
    story, clock = Story(name, comment, profile, stage.lag_ms), Clock()
    for line in lines:
        if line.partition not in story.clusters:
            story.clusters[line.partition] = begin(
                name, profile, stage.lag_ms, stage.min_isr, partition=line.partition, clock=clock
            )
        cluster = story.clusters[line.partition]
        begun_at = at(clock.now)
        _give_what_it_had(cluster, line.command)
        play(cluster, line.command)
        story.expected.append(Expected(line.line_no, line.text, line.partition, begun_at, at(clock.now), line.known))
        story.disputes += [
            f"{name}:{line.line_no}: {line.text.strip()}\n    {dispute}" for dispute in line.known.disputes(cluster)
        ]
    for cluster in story.clusters.values():
        finish(cluster)
        for table, rows in cluster.rows.landing.items():
            story.landing.setdefault(table, []).extend(rows)
    return story


def _give_what_it_had(cluster: Cluster, command: Command) -> None:
    """The records a replica must have had before the story, by its first fetch."""
    if not isinstance(command, Fetch) or cluster.controller.leader not in cluster.brokers:
        return
    follower, leader = cluster.brokers[command.replica], cluster.brokers[cluster.controller.leader]
    is_first = follower.fetcher is not None and follower.fetcher.session_epoch < 0 and follower.incarnation == 0
    missing = command.offset - follower.log.log_end_offset
    if is_first and missing > 0 and follower.log.epochs == []:
        follower.log.append(leader.log.read(follower.log.log_end_offset, missing))


def load(path: Path) -> Story:
    """The story of a file."""
    return tell(path.stem, path.read_text(encoding="utf-8"))
