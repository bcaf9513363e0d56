"""Findings on literal rows: each topic is a small history of its own, all of them looked through in one Spark job."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

import pytest
from pyspark.sql import Row, SparkSession
from pyspark.sql import functions as F

from jobs.keeping import keeping
from replay.findings.incidents import incidents
from replay.profile import Profile, Truncation
from schemas import tables as T
from tests.checked_rows import Given, at, became_leader
from tests.frames import rows
from tests.incident_histories import HISTORIES, of
from tests.incident_ranges import BELOW, CLEAN_RANGES, COMMITTED, SHORTER, UNCOMMITTED, UNKNOWN

pytestmark = pytest.mark.spark


def _spoken() -> Profile:
    """Of one topic the followers truncate to their HWs."""
    to_the_hw = F.when(F.col("topic") == "left_apart", Truncation.HIGH_WATERMARK.value)
    return Profile(truncation=to_the_hw.otherwise(Truncation.FETCH_DIVERGENCE.value))


@pytest.fixture(scope="module")
def found(spark: SparkSession) -> Mapping[str, list[Row]]:
    """Every finding by topic; those of no partition under the empty one."""
    given: dict[T.Table, list[Given]] = defaultdict(list)
    for topic, history in HISTORIES.items():
        for table, told in of(topic, history).items():
            given[table] += [{**became_leader(0, 1), **row} if table is T.TRUNCATIONS else row for row in told]
    tables = {table: rows(spark, table, *given[table]) for table in (*T.LANDING_TABLES, *T.TIMELINE_TABLES)}
    landed = {table.name: tables[table] for table in T.LANDING_TABLES}
    timelines = (tables[table] for table in (T.LEADER_TIMELINE, T.REPLICA_TIMELINE, T.TRUNCATIONS))
    by_topic: dict[str, list[Row]] = defaultdict(list)
    with keeping() as keep:
        for row in incidents(landed, *timelines, _spoken(), keep).collect():  # type: ignore[arg-type,misc]
            by_topic[row["topic"]].append(row)
    return by_topic


def of_kind(found: Mapping[str, list[Row]], topic: str, kind: str) -> list[Row]:
    """The topic's findings of a kind, as they began."""
    return sorted((r for r in found[topic] if r["kind"] == kind), key=lambda r: (r["started_at"], r["replica_id"]))


def the(found: Mapping[str, list[Row]], topic: str, kind: str) -> Row:
    """The topic's one finding of a kind."""
    (only,) = of_kind(found, topic, kind)
    return only


def test_each_range_gone_is_told_once_with_its_class(found: Mapping[str, list[Row]]) -> None:
    """Split at the HW, unknown between its bounds or where a leader left no file; nothing where nothing is gone."""
    ranges = {
        topic: {(r["kind"], r["from_offset"], r["to_offset"]) for r in of_topic if "RECORDS_LOST" in r["kind"]}
        for topic, of_topic in found.items()
    }

    assert {topic: ranges.get(topic, set()) for topic in CLEAN_RANGES} == CLEAN_RANGES
    assert {topic for topic, gone in ranges.items() if gone} == {topic for topic, gone in CLEAN_RANGES.items() if gone}


def test_a_loss_names_election_replicas_and_what_producers_were_told(found: Mapping[str, list[Row]]) -> None:
    """The evidence alone answers a post-mortem's first questions."""
    gone = the(found, "ledger", COMMITTED)
    assert (gone["leader_epoch"], gone["replica_id"], gone["severity"]) == (2, 3, "critical")
    assert "election of leader 3 in epoch 2" in gone["evidence"]
    assert "leader 2 of epoch 1 had records up to 11" in gone["evidence"]
    assert "replica 1 in epoch 2 ([10, 11) by high_watermark)" in gone["evidence"]
    assert "1 acknowledged with acks=-1" in gone["evidence"]

    told = the(found, "split", UNCOMMITTED)
    assert "(unclean)" in told["evidence"]
    assert "1 acknowledged with acks=1, 1 not acknowledged (acks=-1, error 7)" in told["evidence"]
    assert told["severity"] == "warning"
    assert "leader 9 of epoch 1 left no file" in the(found, "silent", UNKNOWN)["evidence"]
    assert "no PRODUCE line" in the(found, "in_flight", UNCOMMITTED)["evidence"]


def test_unclean_elections_and_regressed_high_watermarks(found: Mapping[str, list[Row]]) -> None:
    """Metadata's word on the election; a lower HW is a warning only where the records are not in the new log."""
    assert the(found, "split", "UNCLEAN_ELECTION")["replica_id"] == 2
    regressed = of_kind(found, "ledger", "HIGH_WATERMARK_REGRESSED")
    assert [(r["leader_epoch"], r["from_offset"], r["to_offset"], r["severity"]) for r in regressed] == [
        (1, 10, 11, "info"),
        (2, 10, 11, "warning"),
    ]


def test_what_no_line_tells_is_not_said(found: Mapping[str, list[Row]]) -> None:
    """Of a leader whose LEO is unknown: whether it held what it has not committed yet."""
    regressed = the(found, "leo_unknown", "HIGH_WATERMARK_REGRESSED")
    assert regressed["severity"] == "info"
    assert "no line tells whether it held the records between" in regressed["evidence"]
    assert "leader 1 of epoch 0 had records up to 10" in the(found, "begin_untold", COMMITTED)["evidence"]


def test_nothing_ends_before_it_began(found: Mapping[str, list[Row]]) -> None:
    """Though the clock of the next leader says so."""
    kinds = ("ISR_SHRUNK", "UNDER_MIN_ISR", "HIGH_WATERMARK_STALLED", "NO_LEADER")
    behind = {kind: the(found, "clock_behind", kind) for kind in kinds}

    lasted = {kind: (row["ended_at"] - row["started_at"]).total_seconds() for kind, row in behind.items()}
    assert lasted == {"ISR_SHRUNK": 0, "UNDER_MIN_ISR": 0, "HIGH_WATERMARK_STALLED": 2, "NO_LEADER": 0}
    assert not [row["evidence"] for row in found["clock_behind"] if "-" in row["evidence"].replace("acks=-1", "")]


def test_recovering_is_no_word_on_the_later_elections(found: Mapping[str, list[Row]]) -> None:
    """It lasts until the leader changes the ISR: a leader from the ISR was elected cleanly, whatever is carried."""
    kind = "UNCLEAN_ELECTION"
    unclean = {topic: [r["leader_epoch"] for r in of_kind(found, topic, kind)] for topic in HISTORIES}

    assert {topic: epochs for topic, epochs in unclean.items() if epochs} == {
        "split": [1],
        "recovering": [1],
        "recovering_again": [1, 3],
        "eligible": [1],
        "not_eligible": [2, 4],
        "shrunk_by_the_controller": [1],
        "recovering_by_lines": [1],
        "isr_not_up_to_date": [1],
        "inferred": [1],
    }
    severities = {topic: {r["severity"] for r in of_kind(found, topic, kind)} for topic in HISTORIES if unclean[topic]}
    assert severities.pop("inferred") == {"warning"}  # since 4.0 it may have been an eligible one
    assert {*map(tuple, severities.values())} == {("critical",)}


def test_cuts_below_the_partitions_high_watermark(found: Mapping[str, list[Row]]) -> None:
    """Judged by the partition's HW and not the replica's own; a cut at it or above is none."""
    cut = the(found, "ledger", BELOW)
    assert (cut["replica_id"], cut["from_offset"], cut["to_offset"], cut["severity"]) == (1, 10, 11, "critical")
    assert not of_kind(found, "in_flight", BELOW)


def test_the_story_of_the_isr(found: Mapping[str, list[Row]]) -> None:
    """Who left until when, who joined, and for how long the ISR was too small."""
    shrunk = of_kind(found, "isr", "ISR_SHRUNK")
    assert [(r["replica_id"], r["started_at"], r["ended_at"]) for r in shrunk] == [
        (3, at(2).replace(tzinfo=None), at(8).replace(tzinfo=None)),
        (2, at(3).replace(tzinfo=None), at(8).replace(tzinfo=None)),
    ]
    assert [r["replica_id"] for r in of_kind(found, "isr", "ISR_EXPANDED")] == [2, 3]
    assert "out for 5.000 s" in of_kind(found, "isr", "ISR_EXPANDED")[0]["evidence"]
    under = the(found, "isr", "UNDER_MIN_ISR")
    assert (under["started_at"], under["ended_at"]) == tuple(at(s).replace(tzinfo=None) for s in (3, 8))


def test_who_held_the_high_watermark_back(found: Mapping[str, list[Row]]) -> None:
    """A stall names the replica and the reason; a member that should have left the ISR is told too."""
    stalled = the(found, "stalled", "HIGH_WATERMARK_STALLED")
    assert (stalled["replica_id"], stalled["from_offset"], stalled["to_offset"]) == (2, 5, 9)
    assert stalled["severity"] == "info"
    assert "for 2.000 s" in stalled["evidence"]
    assert "[2] did not fetch" in stalled["evidence"]
    stale = the(found, "stale", "STALE_ISR_MEMBER")
    assert stale["replica_id"] == 2
    assert the(found, "stale", "HIGH_WATERMARK_STALLED")["severity"] == "warning"


def test_times_without_a_leader(found: Mapping[str, list[Row]]) -> None:
    """From the epoch without a leader to the next with one; critical where nobody was told to stop."""
    planned = the(found, "told_to_stop", "NO_LEADER")
    assert (planned["leader_epoch"], planned["severity"]) == (1, "info")
    assert planned["evidence"].endswith("the last was 5, which was told to stop")
    gap = the(found, "leaderless", "NO_LEADER")
    assert (gap["leader_epoch"], gap["severity"]) == (1, "critical")
    assert "for 10.000 s" in gap["evidence"]
    assert gap["evidence"].endswith("the last was 1")


def test_consumers_of_what_is_gone(found: Mapping[str, list[Row]]) -> None:
    """The client that was given the record, and not the one that stopped before it."""
    read = the(found, "ledger", "CONSUMER_READ_LOST_RECORDS")
    assert "client reader read [10, 11)" in read["evidence"]
    assert (read["replica_id"], read["severity"]) == (-1, "critical")


def test_a_consumer_has_read_what_its_next_position_says(found: Mapping[str, list[Row]]) -> None:
    """Up to the LSO under read_committed; what no later position tells it may have read, up to the HW."""
    reads = of_kind(found, "consumed", "CONSUMER_READ_LOST_RECORDS")
    told = {r["evidence"].split(" before")[0]: (r["severity"], r["from_offset"], r["to_offset"]) for r in reads}

    assert told == {
        "client went_on read [2, 3)": ("critical", 2, 3),
        "client beyond read [2, 5)": ("critical", 2, 5),
        "client last may have read [2, 5)": ("warning", 2, 5),
        "client set_back may have read [2, 5)": ("warning", 2, 5),
    }


def test_divergence_that_no_cut_ended(found: Mapping[str, list[Row]]) -> None:
    """A former leader that fetches on over its own records."""
    apart = the(found, "diverged", "LOG_DIVERGENCE")
    assert (apart["replica_id"], apart["from_offset"], apart["to_offset"]) == (1, 9, 10)
    assert (apart["ended_at"], apart["severity"]) == (None, "critical")


def test_truncation_to_the_hw_leaves_a_follower_apart(found: Mapping[str, list[Row]]) -> None:
    """One that was never the leader: it asks for what lies beyond, and others at its offsets are appended meanwhile."""
    apart = of_kind(found, "left_apart", "LOG_DIVERGENCE")

    assert [(r["replica_id"], r["from_offset"], r["to_offset"], r["severity"]) for r in apart] == [
        (1, 9, 10, "warning"),
        (3, 9, 10, "critical"),
    ]
    assert "below its HW 10" in apart[1]["evidence"]


def test_divergence_ends_with_the_cut_of_who_has_to(found: Mapping[str, list[Row]]) -> None:
    """A former leader that leads again, or fetches from one with its own log, cuts nothing: the one in between does."""
    apart = of_kind(found, "led_again", "LOG_DIVERGENCE")
    assert [(r["replica_id"], r["severity"]) for r in apart] == [(1, "info"), (2, "info")]
    assert {r["ended_at"] for r in apart} == {at(25).replace(tzinfo=None)}
    apart = of_kind(found, "led_by_another", "LOG_DIVERGENCE")
    assert [(r["replica_id"], r["severity"]) for r in apart] == [(1, "warning"), (2, "warning")]


def test_a_log_that_begins_shorter_was_cut_only_if_it_was_longer(found: Mapping[str, list[Row]]) -> None:
    """A leader from outside the ISR may never have had what lies below the HW."""
    silent = {topic: of_kind(found, topic, "SILENT_TRUNCATION") for topic in SHORTER}
    told = {topic: (r["from_offset"], r["to_offset"], r["severity"]) for topic, rows in silent.items() for r in rows}

    assert told == {"was_in_the_isr": (6, 8, "critical"), "had_more": (6, 7, "critical")}
    assert "in the ISR of a leader with HW 8" in silent["was_in_the_isr"][0]["evidence"]


def test_contradictions_are_told_and_not_resolved(found: Mapping[str, list[Row]]) -> None:
    """Each with its evidence; numbers that a run of implied fetches skips are no gap."""
    assert "2 leaders of epoch 3" in the(found, "two_leaders", "TWO_LEADERS_IN_ONE_EPOCH")["evidence"]
    assert the(found, "stranger", "ISR_MEMBER_IS_NO_REPLICA")["replica_id"] == 7
    assert "ISR_MEMBER_IS_NO_REPLICA" not in {row["kind"] for row in found.get("leaving", ())}
    back = the(found, "back", "OFFSET_WENT_BACK")
    assert (back["replica_id"], back["from_offset"], back["to_offset"]) == (2, 6, 8)
    assert "request 5 follows 2" in the(found, "", "FETCH_SESSION_GAP")["evidence"]


def test_every_finding_has_its_own_id(found: Mapping[str, list[Row]]) -> None:
    """The id is the grain of `incidents`."""
    ids = [row["incident_id"] for of_topic in found.values() for row in of_topic]
    assert len(ids) == len(set(ids)) > 20
