"""Each wording of state-change.log and server.log, literally (tests/wordings/); and what cannot be used."""

from __future__ import annotations

from datetime import datetime

import pytest
from pyspark.sql import SparkSession

from schemas import columns as C
from schemas.files import FileKind
from sources import broker_log
from sources.broker_settings import setting_rows
from sources.line_patterns import WORDINGS
from sources.server_log import statement_rows
from sources.state_change_log import leader_change_rows
from tests.log_lines import by_line, examples, lines_of, stamped, verdicts

pytestmark = pytest.mark.spark

STATE, PARTITION = "state.change.logger", "kafka.cluster.Partition"
CHANGE = (
    C.CHANGE_KIND, C.LEADER_EPOCH, C.PARTITION_EPOCH, C.LEADER_ID, C.ISR, C.REPLICAS, C.IS_UNCLEAN,
)  # fmt: skip
FOLLOWER = (
    "[Broker id=5] Follower t-0 starts at leader epoch 7 from offset 11 with partition epoch 9 and high watermark 10. "
    "Current leader is 3. Previous leader epoch was 6."
)


def test_each_wording_of_a_change_gives_its_row(spark: SparkSession) -> None:
    """0.11 to 4.3: what the line tells is in the row, what it does not is unknown."""
    lines, expected = zip(*examples("changes.txt"), strict=True)
    parsed = broker_log.parse(lines_of(spark, lines), "UTC")
    changes = leader_change_rows(parsed)

    assert [" | ".join(map(str, row)) for row in by_line(changes, *CHANGE)] == list(expected)
    assert set(by_line(changes, C.TOPIC, C.PARTITION, C.BROKER_ID)) == {("a-b.c_d", 0, 2)}
    assert set(by_line(parsed, "outcome", C.EVENT_TIME)) == {("landed", datetime(2026, 11, 21, 10, 36, 42, 604000))}  # noqa: DTZ001


def test_each_wording_of_an_offset_gives_its_statements(spark: SparkSession) -> None:
    """A line may state several offsets, of several replicas."""
    lines, expected = zip(*examples("statements.txt"), strict=True)
    parsed = broker_log.parse(lines_of(spark, lines), "UTC")
    rows = by_line(statement_rows(parsed), C.SOURCE_LINE, C.KIND, C.OFFSET, C.REPLICA_ID)

    stated = [" | ".join(f"{k} {o} {r}" for at, k, o, r in rows if at == n) for n in range(1, len(lines) + 1)]
    assert stated == list(expected)


def test_every_line_has_one_outcome(spark: SparkSession) -> None:
    """What is not wanted is ignored by a name, what is cut or impossible is rejected."""
    lines, expected = zip(*examples("outcomes.txt"), strict=True)

    assert verdicts(broker_log.parse(lines_of(spark, lines), "UTC")) == list(expected)


def test_every_wording_has_an_example(spark: SparkSession) -> None:
    """A wording that no literal line shows is a guess."""
    lines = [line for name in ("changes.txt", "statements.txt", "outcomes.txt") for line, _ in examples(name)]
    used = broker_log.parse(lines_of(spark, lines), "UTC").select("wording.name", "wording.regex").distinct().collect()

    assert {(wording.name, wording.regex) for wording in WORDINGS} == {tuple(row) for row in used} - {(None, None)}


def test_fetchers_start_where_their_lines_say(spark: SparkSession) -> None:
    """Several partitions a line; the epoch and the offset changed places in 2.7."""
    lines = [line for line, _ in examples("outcomes.txt") if "Added fetcher" in line]
    starts = statement_rows(broker_log.parse(lines_of(spark, lines), "UTC"))

    told = by_line(starts, C.TOPIC, C.TOPIC_ID, C.PARTITION, C.LEADER_EPOCH, C.OFFSET)
    assert told == [
        ("a-b.c_d", "1vDJC378Tw2AvQYNxpXPlg", 1, 0, 177), ("t", "", 0, 1, 246),
        ("a-b.c_d", "", 1, 0, 177), ("t", "", 0, 1, 246),
    ]  # fmt: skip


def test_settings_are_told_by_their_lines(spark: SparkSession) -> None:
    """A change tells all overrides: one that is missing is NULL; a block's settings have the time of its first line."""
    lines = [line for line, _ in examples("outcomes.txt")]
    rows = by_line(setting_rows(broker_log.parse(lines_of(spark, lines), "UTC")), C.BROKER_ID, C.TOPIC, C.NAME, C.VALUE)

    assert [row for row in rows if row[2] not in ("unclean.leader.election.enable", "message.format.version")] == [
        (2, "t", "min.insync.replicas", "2"),
        (2, "t", "min.insync.replicas", None),
        (-1, "", "min.insync.replicas", "1"),
        (2, "", "min.insync.replicas", "3"),
        (2, "t", "min.insync.replicas", "2"),
        (2, "t", "min.insync.replicas", "2"),
        (2, "", "kafka.version", "4.1.0"),
        (2, "t", "min.insync.replicas", "2"),
        (2, "", "replica.lag.time.max.ms", "3000"),
    ]


def test_what_a_change_of_a_broker_leaves_out_is_as_it_was(spark: SparkSession) -> None:
    """Its own file may set it: the block that is logged after each such change tells. A topic's change tells all."""
    cluster, of_broker, of_topic = (
        stamped(
            f"[DynamicConfigPublisher broker id=2] Updating {whose}", "kafka.server.metadata.DynamicConfigPublisher"
        )
        for whose in (
            "cluster configuration : unclean.leader.election.enable -> true",
            "broker 2 with new configuration : log.retention.ms -> 1",
            "topic t with new configuration : retention.ms -> 1",
        )
    )
    block = "KafkaConfig values: \v\tmin.insync.replicas = 2"
    parsed = broker_log.parse(lines_of(spark, [cluster, of_broker, of_topic, stamped(block, "KafkaConfig")]), "UTC")

    assert by_line(setting_rows(parsed), C.BROKER_ID, C.TOPIC, C.NAME, C.VALUE) == [
        (-1, "", "unclean.leader.election.enable", "true"),
        (2, "t", "message.format.version", None),
        (2, "t", "min.insync.replicas", None),
        (2, "t", "unclean.leader.election.enable", None),
        (2, "", "min.insync.replicas", "2"),
    ]
    assert verdicts(parsed)[1] == "ignored: no setting that bears on replication"


def test_a_block_of_settings_has_the_time_above_it(spark: SparkSession) -> None:
    """Its lines have none of their own."""
    lines = ["[2026-11-21 10:00:00,000] INFO KafkaConfig values: ", "\treplica.lag.time.max.ms = 3000"]
    alone = broker_log.parse(lines_of(spark, lines[1:]), "UTC")

    assert by_line(setting_rows(broker_log.parse(lines_of(spark, lines), "UTC")), C.EVENT_TIME) == [
        (datetime(2026, 11, 21, 10, 0, 0),)  # noqa: DTZ001
    ]
    assert by_line(setting_rows(alone), C.EVENT_TIME) == [(None,)]


def test_times_are_of_the_zone_that_is_named(spark: SparkSession) -> None:
    """Lines have no zone, and the session's is none of their business."""
    parsed = broker_log.parse(lines_of(spark, [stamped(FOLLOWER, STATE)]), "Europe/Berlin")

    assert by_line(parsed, C.EVENT_TIME) == [(datetime(2026, 11, 21, 9, 36, 42, 604000),)]  # noqa: DTZ001


def test_other_layouts_of_log4j_are_read(spark: SparkSession) -> None:
    """Without brackets and with the thread at the end: Strimzi's."""
    lines = [f"2026-11-21 10:36:42,604 INFO {FOLLOWER} ({STATE}) [control-plane-handler-0]"]

    assert verdicts(broker_log.parse(lines_of(spark, lines), "UTC")) == ["landed"]


def test_a_file_outside_of_a_brokers_folder_names_its_broker_itself(spark: SparkSession) -> None:
    """The folder wins where there is one."""
    lines = [stamped(FOLLOWER, STATE)]

    assert by_line(broker_log.parse(lines_of(spark, lines, broker=-1), "UTC"), C.BROKER_ID) == [(5,)]
    assert by_line(broker_log.parse(lines_of(spark, lines, broker=2), "UTC"), C.BROKER_ID) == [(2,)]


def test_messages_of_the_state_change_log_have_one_line_each(spark: SparkSession) -> None:
    """So one without its logger was cut, wherever."""
    lines = ["[2026-11-21 10:36:42,604] INFO [Broker id=5] Foll", "[2026-11-21 10:36:42,604] INFO [Broker id=5] Foll"]
    state_changes = broker_log.parse(lines_of(spark, lines[:1], FileKind.STATE_CHANGE_LOG), "UTC")

    assert verdicts(state_changes) == ["rejected: cut line or unknown wording"]
    assert verdicts(broker_log.parse(lines_of(spark, lines[1:]), "UTC")) == ["ignored: first line of a message"]


def test_no_lines_give_no_rows(spark: SparkSession) -> None:
    """An empty frame passes through."""
    parsed = broker_log.parse(lines_of(spark, []), "UTC")

    assert by_line(parsed) == by_line(leader_change_rows(parsed)) == by_line(statement_rows(parsed)) == []
