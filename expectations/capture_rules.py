"""Rules of the capture itself: every line is accounted for, nobody's logs are missing, and clocks agree."""

from __future__ import annotations

from datetime import datetime

from expectations.capture_subjects import (
    BROKERS,
    CLOCKS,
    FILES,
    LANDED_LINES,
    LAST_EVENT,
    LAST_EVENTS,
    READ_FILES,
    TIMES,
)
from expectations.invariant import Invariant
from replay.clocks.ahead import TOGETHER_US
from replay.clocks.bounds import AT_LEAST_US
from schemas import columns as C
from schemas.kinds import Severity

# fmt: off
CAPTURE_RULES = (
    Invariant(
        "EveryLineIsAccountedFor", READ_FILES,
        holds=f"{C.LINES_READ} = {C.LINES_LANDED} + {C.LINES_REJECTED} + {C.LINES_IGNORED}",
        observed=(C.LINES_READ, C.LINES_LANDED, C.LINES_REJECTED, C.LINES_IGNORED), severity=Severity.CRITICAL,
        why="A line that is neither landed, rejected nor ignored by name is evidence lost without a word.",
        source="docs/tables.md, source_files: read = landed + rejected + ignored",
        what_to_do="A defect of tidegauge: report it, with the file.",
    ),
    Invariant(
        "NoLineWasRejected", READ_FILES,
        holds=f"{C.LINES_REJECTED} = 0",
        observed=(C.LINES_REJECTED, C.LINES_READ), severity=Severity.WARNING,
        why="A rejected line should have given an event: the timelines lack it.",
        source="docs/tables.md, source_files: read = landed + rejected + ignored",
        what_to_do="Read `rejected_lines`: a torn last line is harmless, a format that is not known needs another tidegauge.",
    ),
    Invariant(
        "NoLineLandsTwice", LANDED_LINES,
        holds=f"{TIMES} = 1",
        observed=(TIMES,), severity=Severity.CRITICAL,
        why="A line is one append of a partition: landed twice, it would count twice; a producer's retry is a line of its own.",
        source="docs/adr/0016",
        what_to_do="Somebody else wrote to `produce_events`, or a delivery landed twice: ingest into a new warehouse.",
    ),
    Invariant(
        "EveryReplicaDeliveredItsLogs", BROKERS,
        holds=f"{FILES} > 0",
        observed=(C.BROKER_ID, FILES), severity=Severity.WARNING,
        why="What a broker did that delivered no file is known only as far as others tell.",
        source="docs/adr/0008, silence",
        what_to_do="Add the folder of the broker to the capture and ingest it: new files continue the history.",
    ),
    Invariant(
        "ClocksOfBrokersAgree", CLOCKS,
        holds=f"{AT_LEAST_US} <= {TOGETHER_US}",
        observed=(AT_LEAST_US,), severity=Severity.WARNING,
        # A tenth of a second: requests and lines take as long.
        why="What came first by the protocol came first by the clocks too, if they are one.",
        source="KIP-320 CurrentLeaderEpoch; ReplicaManager makeFollowers",
        what_to_do="Compare the two brokers' time (ntpq, chronyc) and the time zone of their logs. The replay reckons with clocks "
        "that differ by the same all the time; of one that was set meanwhile it does not.",
    ),
)
# fmt: on


def is_fresh(since: datetime) -> Invariant:
    """Return the rule of --max-age: the last event, or the last line of any file, is not older than `since`."""
    return Invariant(
        "EventsAreFresh", LAST_EVENTS,
        holds=f"{LAST_EVENT} >= TIMESTAMP '{since:%Y-%m-%d %H:%M:%S}Z'",
        demands=f"{LAST_EVENT} >= now - max_age",
        observed=(LAST_EVENT,), severity=Severity.CRITICAL,
        why="A check of last week's events says nothing of tonight.",
        source="option --max-age",
        what_to_do="The delivery of logs has stopped, or the ingest has: `sources_found` tells when each broker's last line was.",
    )  # fmt: skip
