"""The engine against the dumb twin: random histories with faults, many in one job, no mismatch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pytest

from replay.events.leaderships import leaderships, roles_with_loads
from replay.events.tenures import tenure_facts
from replay.releases import profile_for
from schemas import columns as C
from schemas.kinds import StatementKind
from tests.engine import (
    Disagreement,
    by_topic,
    disagreement,
    each_by_its_own,
    landed_from,
    profile,
    replayed,
    to_the_millisecond,
)
from tests.rebuilt import Answers, Logs, asked, logs_of
from tests.told import Told, retold
from tests.twin.histories import History, combined, history
from tests.twin.log import UNKNOWN
from tests.twin.profile import OTHER_PROFILES
from tests.twin.rows import Row

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FEW, OTHERS, SOME, MANY = range(60), range(60, 84), range(140), range(520)
SILENT = range(40)
SHORTER = ("has_returns", "has_long_tenures", "has_unstated_starts")
ONCE_WRONG = (234, 283, 390, 432, 441, 446, 548, 1442, 2956, 4731)
"""A diverging response without records, from beyond its leader's log (234); a log made to start within a batch that a
later leader wrote (283), that was cut there (548), or that was written twice in an epoch (1442); an answer to a process
that had ended (441); a replica caught up the lag time ago to the millisecond (2956), or told of an epoch after it had
fetched in it (4731); an answer in the next epoch of the same leader (432); followers that have cut their logs by a
role of which their leader is told later (446); a change the leader asked for, told again as it restarts (390)."""
MOST_REPLICAS = 6
"""Five replicas, and one that a reassignment adds."""


def replayed_alone(spark: SparkSession, drawn: list[History], **facts: bool) -> list[str]:
    """What differs; all histories are one Spark job, with what is known of them all."""
    return disagreements(drawn, retold(spark, drawn, combined(drawn), slots=MOST_REPLICAS, **facts))


def disagreements(drawn: list[History], told: Mapping[str, Told]) -> list[str]:
    """What differs, a history a text."""
    different = ((each, differing(each, told[each.name].leader)) for each in drawn)
    found = [f"{how}\n{each.text()}" for each, how in different if how]
    found += [f"{row}\n{each.text()}" for each in drawn for row in never_had(each, told[each.name].replica)]
    of_each = ((each, cut) for each in drawn for cut in differing_cuts(each, told[each.name].truncations))
    return found + [f"{cut}\n{each.text()}" for each, cut in of_each]


def differing(each: History, rebuilt: list[Row]) -> Disagreement | None:
    """What differs of the leader rows; but for the LSO where logs were cut to the HW.

    Such a log may hold records of two leaders by turns, of which no leader's log tells; and when logs were cut so there
    were no transactions (KIP-98 came with KIP-101).
    """
    but_for = ("last_stable_offset",) if each.profile.truncation == "high_watermark" else ()
    return disagreement(each.name, each.expected_leader, rebuilt, but_for=but_for)


def differing_cuts(each: History, rebuilt: list[Row]) -> list[str]:
    """The truncations, each by its replica, where it cut to and its method, that only one of the two has.

    But for what a process lost as it ended: that it had it may be known to nobody.
    """

    def counted(rows: list[Row]) -> Counter[tuple[int, int, str]]:
        return Counter((row["replica_id"], row["to_offset"], row["method"]) for row in rows)

    expected, found = counted(each.expected_truncations), counted(rebuilt)
    missing = [cut for cut in expected - found if cut[2] != "restart"]
    extra = [f"rebuilt, not truncated: {cut}" for cut in found - expected]
    return [f"truncated, not rebuilt: {cut}" for cut in missing] + extra


def never_had(each: History, rebuilt: list[Row]) -> list[Row]:
    """The rebuilt states of replicas, called exact, with a LEO that the twin's replica has never had by then.

    By then is by the leadership, or by the clock: one that was deposed may go on. Or that its leader recorded: of a
    fetch from within a batch (KAFKA-17803) that is what is shown. Or that it loaded, and cut at once. No HWs: whether
    a follower took a response without records, no log may tell.
    """

    def had(row: Row) -> set[int]:
        end = to_the_millisecond(max(row["valid_from"], row["valid_to"])) if row["valid_to"] else None

        def is_by_then(one: Row) -> bool:
            by_the_clock = end is None or to_the_millisecond(one["event_time"]) <= end
            return by_the_clock or one["leader_epoch"] < row["leader_epoch"]

        own = [one for one in each.expected_replica if one["replica_id"] == row["replica_id"] and is_by_then(one)]
        loaded = (one for one in each.landing["broker_statements"] if one["kind"] == StatementKind.LOADED_LEO.value)
        said = (one["offset"] for one in loaded if one["broker_id"] == row["replica_id"])
        return {UNKNOWN, *said, *(one[name] for one in own for name in ("log_end_offset", "remote_log_end_offset"))}

    return [row for row in rebuilt if row["exactness"] == "exact" and row["log_end_offset"] not in had(row)]


def of_all_protocols() -> list[History]:
    """Of up to 200 steps each."""
    of_others = [history(seed, profile=OTHER_PROFILES[seed % len(OTHER_PROFILES)]) for seed in OTHERS]
    return [*[history(seed) for seed in (*FEW, *ONCE_WRONG)], *of_others]


@asked
def few() -> Logs:
    """Their logs."""
    return logs_of(of_all_protocols(), MOST_REPLICAS)


@pytest.mark.spark
def test_histories_agree_with_the_twin(rebuilt: Answers) -> None:
    """Of all protocols: every leader row equals the twin's, no replica has what it had not."""
    found = disagreements(of_all_protocols(), rebuilt[few])

    assert not found, "\n\n".join(found[:3])


@pytest.mark.long
@pytest.mark.spark
def test_histories_with_short_tenures_agree_with_the_twin(spark: SparkSession) -> None:
    """The shorter plan of those in which no process led twice in a row, and every line states its LEO."""
    drawn = {each.name: each for each in map(history, SOME)}
    landed = landed_from(spark, combined(list(drawn.values())))
    facts = [row.asDict() for row in tenure_facts(leaderships(roles_with_loads(landed))).collect()]
    short = [drawn[row.pop(C.CLUSTER_ID)] for row in facts if not any(row[name] for name in SHORTER)]
    found = replayed_alone(spark, short, **dict.fromkeys(SHORTER, False))

    assert len(short) > 5
    assert sum(len(each.expected_leader) for each in short) > 500
    assert not found, "\n\n".join(found[:3])


@asked
def silent() -> Logs:
    """Histories without any line that states the HW of a role."""
    drawn = [history(seed) for seed in SILENT]
    landing = combined(drawn)
    stated = (StatementKind.BECAME_LEADER_HW.value, StatementKind.BECAME_FOLLOWER_HW.value)
    landing["broker_statements"] = [row for row in landing["broker_statements"] if row["kind"] not in stated]
    return logs_of(drawn, MOST_REPLICAS, landing)


@pytest.mark.spark
def test_histories_without_stated_high_watermarks_agree_with_the_twin(rebuilt: Answers) -> None:
    """Before 2.4.1 no line states the HW of a role: what a leader begins with is carried from its role before."""
    drawn, told = [history(seed) for seed in SILENT], rebuilt[silent]

    assert [str(d) for each in drawn if (d := differing(each, told[each.name].leader))] == []


@pytest.mark.spark
@pytest.mark.long
def test_many_histories_agree_with_the_twin(spark: SparkSession) -> None:
    """Five hundred and twenty, and as many by the rules of each release that seeds do not draw."""
    found = replayed_alone(spark, [history(seed) for seed in MANY])
    for other in OTHER_PROFILES:
        found += replayed_alone(spark, [history(seed, profile=other) for seed in MANY])

    assert not found, f"{len(found)} differ\n\n" + "\n\n".join(found[:3])


def renamed(rows: list[Row], names: dict[int, int]) -> list[Row]:
    """Rows with the replicas' ids changed, wherever they stand."""
    single, many = {"broker_id", "replica_id", "leader_id"}, {"isr", "replicas", "adding_replicas", "removing_replicas"}

    def value(key: str, old: Any) -> Any:
        if key in many and old is not None:
            return [names.get(one, one) for one in old]
        return names.get(old, old) if key in single else old

    return [{key: value(key, old) for key, old in row.items()} for row in rows]


@pytest.mark.spark
@pytest.mark.long
def test_names_of_replicas_do_not_matter(spark: SparkSession) -> None:
    """With ids turned around, the timelines are the twin's with ids turned around."""
    names = {id_: 10 - id_ for id_ in range(1, 10)}
    newest = profile_for("4.1.0", "4.1", 10_000)
    drawn = [history(seed) for seed in FEW]
    alike = [d for d in drawn if profile(d) == newest]
    landing = {table: renamed(rows, names) for table, rows in combined(alike).items()}
    with replayed(spark, landing, 6, newest) as timelines:
        rebuilt = by_topic(timelines.leader_timeline)
    found = []
    for one in alike:
        expected = renamed(one.expected_leader, names)
        for row in expected:
            row["remote_log_end_offset"] = {names[id_]: leo for id_, leo in row["remote_log_end_offset"].items()}
            row["maximal_isr"] = {names[id_] for id_ in row["maximal_isr"]}
        found += [str(different)] if (different := disagreement(one.name, expected, rebuilt[one.name])) else []

    assert len(alike) > 5
    assert found == []


def in_two_deliveries(landing: dict[str, list[Row]]) -> dict[str, list[Row]]:
    """The same rows, of which every second second came with another delivery."""

    def named(row: Row) -> Row:
        time = row.get("event_time")
        return {**row, "capture_id": "second" if time is not None and time.second % 2 else "first"}

    return {table: [named(row) for row in rows] for table, rows in landing.items()}


@pytest.mark.spark
@pytest.mark.long
def test_a_cut_and_continued_capture_changes_nothing(spark: SparkSession) -> None:
    """All deliveries of a cluster are one history, wherever they were cut."""
    drawn = [history(seed) for seed in FEW]
    spoken = each_by_its_own({each.name: profile(each) for each in drawn})
    with replayed(spark, in_two_deliveries(combined(drawn)), MOST_REPLICAS, spoken) as timelines:
        rebuilt = by_topic(timelines.leader_timeline)

    assert {row["capture_id"] for rows in rebuilt.values() for row in rows} == {"first", "second"}
    assert [str(d) for each in drawn if (d := differing(each, rebuilt[each.name]))] == []


@pytest.mark.spark
@pytest.mark.long
def test_the_metadata_log_stands_in_for_the_brokers(spark: SparkSession) -> None:
    """Without any broker's word on leaders and ISRs, each leadership is there, and each remote LEO it was told."""
    newest = profile_for("4.1.0", "4.1", 10_000)
    drawn = [d for d in map(history, FEW) if d.profile.kafka_version.startswith("4")]
    landing = {**combined(drawn), "leader_changes": []}
    with replayed(spark, landing, 6, newest) as timelines:
        rebuilt = by_topic(timelines.leader_timeline)
    for one in drawn:
        told = {row["leader_epoch"] for row in one.expected_leader if row["event_type"] == "FETCH" and row["is_logged"]}
        made = {row["leader_epoch"] for row in rebuilt[one.name] if row["event_type"] == "FETCH"}
        assert told == made
