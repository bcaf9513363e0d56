"""Logs that end while their brokers lead on: what those did then is between bounds."""

from __future__ import annotations

import gzip
from collections.abc import Mapping, Sequence
from pathlib import Path
from shutil import copytree, ignore_patterns

import pytest
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from jobs.ended_logs import say_whose_logs_ended, with_early_ends
from jobs.keeping import keeping
from replay.events.early_ends import EARLY_ENDS
from replay.events.ended_logs import ENDED, ends_in_silence
from replay.events.heard import AT_US, HEARD_UNTIL_US
from replay.events.untold import ADDED, with_untold_leaderships
from replay.keep import as_it_is
from schemas import columns as C
from schemas import tables as T
from schemas.kinds import StatementKind as S
from tests.bounds import leader_high_watermarks, leader_intervals, outside, replica_intervals, replica_values
from tests.captured import landed_from, timelines_of
from tests.conftest import CAPTURES
from tests.frames import rows
from tests.test_replay_silence import BEGIN, HERE, at, statement
from tests.truth import truth_of

pytestmark = pytest.mark.spark

LEADS, FOLLOWS = "become_leader", "become_follower"
LOGS_END = {1: 10, 2: 100, 3: 97}
"""The second of each broker's last request."""


def tables(
    spark: SparkSession,
    changes: list[tuple[int, int, int, int, list[int]]],
    deletions: Sequence[tuple[int, int, int]] = (),
) -> Mapping[str, DataFrame]:
    """Logs that end, with lines of roles: partition, second, broker that writes, leader and ISR of the next epoch.

    An epoch has the number of the second in which it began. `deletions` of logs: partition, second, broker.
    """
    fetched = [{**HERE, "broker_id": b, "replica_id": 2, "event_time": at(s)} for b, s in LOGS_END.items()]
    roles = [
        {
            **HERE, "partition": partition, "event_time": at(second), "broker_id": broker, "leader_id": leader,
            "leader_epoch": second, "isr": isr, "change_kind": LEADS if broker == leader else FOLLOWS,
            "source_file": "state-change.log", "source_line": line,
        }
        for line, (partition, second, broker, leader, isr) in enumerate(changes)
    ]  # fmt: skip
    said = [statement(S.LOG_DELETED, at_, -1, partition=of, broker_id=broker) for of, at_, broker in deletions]
    return {
        T.FETCH_EVENTS.name: rows(spark, T.FETCH_EVENTS, *fetched),
        T.LEADER_CHANGES.name: rows(spark, T.LEADER_CHANGES, *roles),
        T.BROKER_STATEMENTS.name: rows(spark, T.BROKER_STATEMENTS, *said),
    } | {table.name: rows(spark, table) for table in (T.PRODUCE_EVENTS, T.METADATA_CHANGES)}


def second(of: str) -> Column:
    """Return the second of the story of a time in microseconds."""
    return (F.col(of) - F.unix_micros(F.lit(BEGIN))) / 1_000_000


def test_a_leader_whose_log_ended_was_asked_on(spark: SparkSession) -> None:
    """Until another one leads, if not so soon that it may have died; and if others are in its ISR.

    One that has begun to lead three seconds ago was not asked yet.
    """
    both, alone = [1, 2], [1]
    landed = tables(
        spark,
        [
            (0, 1, 1, 1, both), (1, 1, 1, 1, alone), (2, 1, 1, 1, both), (2, 25, 2, 2, both), (3, 1, 1, 1, both),
            (3, 60, 2, 2, both), (4, 1, 2, 2, both), (5, 1, 3, 3, [3, 2]), (6, 97, 1, 1, both),
        ],
    )  # fmt: skip

    found = ends_in_silence(landed).select(C.PARTITION, C.LEADER_EPOCH, second(HEARD_UNTIL_US), second(AT_US))
    assert [tuple(row) for row in found.orderBy(C.PARTITION).collect()] == [(0, 1, 10.0, 100.0), (3, 1, 10.0, 60.0)]


def test_of_a_deleted_topic_nobody_was_asked(spark: SparkSession) -> None:
    """Whose log its leader deleted: not what a follower deletes, nor what the leader deleted before it led."""
    changes = [(partition, 5, 1, 1, [1, 2]) for partition in range(5)]
    deletions = [(0, 9, 1), (1, 12, 1), (2, 60, 1), (3, 9, 2), (4, 3, 1)]
    landed = tables(spark, changes, deletions)

    found = ends_in_silence(landed).select(C.PARTITION, second(HEARD_UNTIL_US), second(AT_US))
    assert [tuple(row) for row in found.orderBy(C.PARTITION).collect()] == [
        (2, 10.0, 60.0), (3, 10.0, 100.0), (4, 10.0, 100.0),
    ]  # fmt: skip


def test_it_is_said_whose_log_ended(spark: SparkSession, capsys: pytest.CaptureFixture[str]) -> None:
    """Of how many partitions, and since when."""
    changes = [(0, 1, 1, 1, [1, 2]), (1, 1, 1, 1, [1, 2]), (2, 1, 2, 2, [1, 2])]
    say_whose_logs_ended(ends_in_silence(tables(spark, changes)))

    told = (
        "the request log of broker 1 ends at 2026-11-21 10:00:10 UTC, bounded from there: 2 partitions that it leads on"
    )
    assert capsys.readouterr().err.strip() == told


def test_a_leadership_after_all_lines_of_its_leader_is_made_up(spark: SparkSession) -> None:
    """1 is named by a follower: at 40 s, and must have lived; at 15 s it may have died, for 2 follows it soon."""
    both = [1, 2]
    landed = tables(
        spark,
        [
            (0, 1, 1, 1, both), (0, 20, 2, 2, both), (0, 40, 2, 1, both),
            (1, 1, 1, 1, both), (1, 15, 2, 1, both), (1, 25, 2, 2, both),
            (2, 1, 2, 2, both), (2, 5, 3, 1, both),
        ],
    )  # fmt: skip
    made = with_untold_leaderships(landed)[ADDED]

    columns = (C.PARTITION, C.LEADER_EPOCH, C.BROKER_ID, C.LEADER_ID, C.CHANGE_KIND)
    found = [tuple(row) for row in made.select(*columns).orderBy(*columns).collect()]
    assert found == [(0, 20, 1, 2, FOLLOWS), (0, 40, 1, 1, LEADS)]


def test_where_no_log_ends_early_nothing_is_looked_for(spark: SparkSession) -> None:
    """As in most deliveries: 3 ends three seconds before 2, and a broker without a request log with its last line."""
    changes = [(0, 1, 2, 2, [2, 3]), (0, 60, 3, 3, [2, 3]), (1, 98, 4, 2, [2, 4])]
    landed = tables(spark, changes)
    requests = landed[T.FETCH_EVENTS.name]
    none = with_early_ends({**landed, T.FETCH_EVENTS.name: requests.where("broker_id <> 1")}, as_it_is)
    some = with_early_ends(landed, as_it_is)

    assert (none[EARLY_ENDS].isEmpty(), none[ENDED].isEmpty(), none[ENDED].columns) == (
        True, True, ends_in_silence(landed).columns,
    )  # fmt: skip
    assert [row[C.BROKER_ID] for row in some[EARLY_ENDS].collect()] == [1]
    assert ENDED not in some


def without_the_end(capture: Path, into: Path, broker: int, until: str) -> Path:
    """The capture without dumps of segments; what the broker wrote from a time on is lost."""
    copytree(capture, into, ignore=ignore_patterns("segments"))
    for log in (into / f"broker-{broker}").glob("*.log.gz"):
        with gzip.open(log, "rt", encoding="utf-8") as lines:
            kept = [line for line in lines if not (line.startswith("[2") and line[1:] >= until)]
        log.write_bytes(gzip.compress("".join(kept).encode()))
    return into


@pytest.mark.captured
@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "broker", "until"), [("isr_shrink", 1, "2026-11-21 10:35:57"), ("failover", 2, "2026-11-21 10:37:10")]
)
def test_what_a_lost_end_would_tell_is_within_bounds(
    spark: SparkSession, tmp_path: Path, name: str, broker: int, until: str
) -> None:
    """But for some milliseconds, of which a whole capture has as many; a thousand and more were not."""
    tables = landed_from(spark, without_the_end(CAPTURES / name / "capture", tmp_path / "capture", broker, until), name)
    with keeping() as keep:
        timelines = timelines_of(tables, keep)
        leader, replica = (
            [row.asDict() for row in rows.where(~F.startswith(C.TOPIC, F.lit("__"))).collect()]
            for rows in (timelines.leader_timeline, timelines.replica_timeline)
        )

    said, states = truth_of(CAPTURES / name), replica_intervals(replica)
    high_watermarks = outside(leader_high_watermarks(said), leader_intervals(leader), "high_watermark")
    of_replicas = [outside(replica_values(said, what), states, what) for what in ("log_end_offset", "high_watermark")]
    assert sum(1 for it in (high_watermarks, *of_replicas) for _ in it) < 100
