"""`reconstruct` after another delivery: it goes on from the last replay, or says why it does not."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pyspark.sql import functions as F

from jobs import reconstruct_timelines
from jobs.commits import Transaction
from jobs.continuing import AFTER, continued
from jobs.deliveries import landed_events
from jobs.errors import CouldNotRunError
from jobs.generate_events import generate_cluster
from jobs.keeping import keeping
from jobs.new_rows import MustReplayAllError
from jobs.reconstruct_timelines import reconstruct_cluster, write_timelines
from jobs.replay_marks import has_only_grown, landed_until, last_mark, require_all_replayed
from jobs.warehouse import Warehouse
from jobs.whole_replay import Replay
from schemas import columns as C
from schemas.tables import FETCH_EVENTS, LEADER_CHANGES, LEADER_TIMELINE, PRODUCE_EVENTS, REPLICA_TIMELINE, SOURCE_FILES
from sources.synthetic.forms import Forms, forms_of
from sources.synthetic.part import Part
from sources.synthetic.scenario import Epoch, Freeze, Scenario, read_scenario
from tests.pieces import comparable

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

CLUSTER, CUT = "here", 0.8
LINE = (*C.PARTITION_KEY, C.SOURCE_FILE, C.SOURCE_LINE)


@pytest.fixture(scope="module")
def forms() -> Forms:
    """A follower is frozen and comes back; then a leader loses what nobody else had, and returns."""
    epochs = (Epoch(freeze=Freeze()), Epoch(loses=2), Epoch())
    return forms_of(read_scenario(None, events=1_200, partitions=2, epochs=epochs, lag_time_ms=2_000))


def replay(warehouse: Warehouse, *, all_anew: bool = False) -> dict[str, int]:
    """Rows written by table."""
    until = landed_until(warehouse)
    return write_timelines(warehouse, CLUSTER, landed_events(warehouse, CLUSTER), until, all_anew=all_anew)[0]


@pytest.fixture(scope="module")
def first_part(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory, forms: Forms) -> Path:
    """A warehouse with the first four fifths, replayed; tests work on copies."""
    folder = tmp_path_factory.mktemp("first") / "lake"
    warehouse = Warehouse(spark, str(folder))
    generate_cluster(warehouse, forms, cluster_id=CLUSTER, capture_id="first", part=Part(0, CUT))
    replay(warehouse)
    return folder


@pytest.fixture
def warehouse(spark: SparkSession, first_part: Path, tmp_path: Path) -> Warehouse:
    """A copy of it."""
    return Warehouse(spark, str(shutil.copytree(first_part, tmp_path / "lake")))


def as_replayed_anew(warehouse: Warehouse) -> None:
    """What stands is every row of every timeline that a replay of everything makes."""
    gone_on = {table: comparable(warehouse.read(table), [CLUSTER]).localCheckpoint() for table in AFTER}
    replay(warehouse, all_anew=True)

    for table, two in gone_on.items():
        one = comparable(warehouse.read(table), [CLUSTER])
        assert (table.name, two.exceptAll(one).take(2), one.exceptAll(two).take(2)) == (table.name, [], [])


@contextmanager
def going_on(warehouse: Warehouse) -> Iterator[Replay]:
    """How a replay goes on."""
    with keeping() as keep:
        yield continued(warehouse, CLUSTER, landed_events(warehouse, CLUSTER), keep)


def test_another_delivery_is_gone_on_with(
    warehouse: Warehouse, forms: Forms, capsys: pytest.CaptureFixture[str]
) -> None:
    """The rows before the moment are not written again; and each request that was served has its one row."""
    before = warehouse.read(LEADER_TIMELINE).count()
    generate_cluster(warehouse, forms, cluster_id=CLUSTER, capture_id="second", part=Part(CUT, 1))
    written = replay(warehouse)

    assert "goes on from 2026-01-01 00:0" in capsys.readouterr().err
    assert written[LEADER_TIMELINE.name] < before / 2
    served = warehouse.read(FETCH_EVENTS).where("replica_id >= 0 AND error_code = 0 AND diverging_epoch < 0")
    requests = warehouse.read(PRODUCE_EVENTS).select(*LINE).unionByName(served.select(*LINE)).localCheckpoint()
    told = warehouse.read(LEADER_TIMELINE).where("event_type IN ('APPEND', 'FETCH')").select(*LINE).localCheckpoint()
    assert (told.exceptAll(requests).take(2), requests.exceptAll(told).take(2)) == ([], [])


@pytest.mark.long
def test_what_is_gone_on_with_is_a_replay_of_everything(warehouse: Warehouse, forms: Forms) -> None:
    """Every row of every timeline."""
    generate_cluster(warehouse, forms, cluster_id=CLUSTER, capture_id="second", part=Part(CUT, 1))
    replay(warehouse)
    as_replayed_anew(warehouse)


@dataclass(frozen=True)
class Behind(Part):
    """A part in which one broker's log ends twelve seconds before the others'."""

    broker: int = 3

    def of(self, rows: DataFrame, scenario: Scenario) -> DataFrame:
        """Of that broker what is of the same time less twelve seconds."""
        if C.BROKER_ID not in rows.columns:
            return super().of(rows, scenario)
        since, until = (share - 0.02 if 0 < share < 1 else share for share in (self.since, self.until))
        is_behind = F.col(C.BROKER_ID) == self.broker
        others = super().of(rows.where(~is_behind), scenario)
        return others.unionByName(Part(since, until).of(rows.where(is_behind), scenario))


@pytest.mark.long
def test_logs_that_end_at_different_times_are_gone_on_with(spark: SparkSession, tmp_path: Path, forms: Forms) -> None:
    """The end of the shorter one is bounded, until the next delivery tells it."""
    lake = Warehouse(spark, str(tmp_path / "lake"))
    generate_cluster(lake, forms, cluster_id=CLUSTER, capture_id="first", part=Behind(0, CUT))
    replay(lake)
    assert lake.read(LEADER_TIMELINE).where("event_type = 'WITNESS' AND exactness = 'bounded'").count() == 3
    generate_cluster(lake, forms, cluster_id=CLUSTER, capture_id="second", part=Behind(CUT, 1))
    with going_on(lake) as found:
        assert found.after is not None
    replay(lake)
    as_replayed_anew(lake)


@pytest.mark.long
def test_a_third_delivery_is_gone_on_with_from_the_second(warehouse: Warehouse, forms: Forms) -> None:
    """Each replay leaves the mark that the next one needs."""
    generate_cluster(warehouse, forms, cluster_id=CLUSTER, capture_id="second", part=Part(CUT, 0.9))
    replay(warehouse)
    generate_cluster(warehouse, forms, cluster_id=CLUSTER, capture_id="third", part=Part(0.9, 1))

    with going_on(warehouse) as found:
        assert found.after is not None
        assert found.after.minute == 8  # of ten minutes
        assert found.timelines.leader_timeline.agg(F.min("event_time") > F.lit(found.after)).first() == (True,)


def test_nothing_new_is_replayed_whole(warehouse: Warehouse) -> None:
    """Whoever runs it again without anything new wants the tables made anew."""
    with pytest.raises(MustReplayAllError, match="nothing new"), going_on(warehouse):
        pass


def test_a_late_file_reaches_far_back(warehouse: Warehouse) -> None:
    """Its rows are from before the end of what stands."""
    late = warehouse.read(PRODUCE_EVENTS).orderBy("event_time").limit(1).withColumn("capture_id", F.lit("late"))
    told = warehouse.read(SOURCE_FILES).withColumns({"capture_id": F.lit("late"), "digest": F.lit("late")})
    for table, rows in ((PRODUCE_EVENTS, late), (SOURCE_FILES, told)):
        warehouse.append(table, rows, Transaction(f"ingest {CLUSTER} late", 99))

    with pytest.raises(MustReplayAllError, match="far back"), going_on(warehouse):
        pass


@pytest.mark.long
def test_clocks_that_are_apart_reach_far(warehouse: Warehouse) -> None:
    """A follower asks in an epoch five seconds before it takes its role in it, by the clocks: all is put on one."""
    late = {"capture_id": F.lit("late"), "leader_epoch": F.lit(99)}
    last = (
        warehouse.read(FETCH_EVENTS).where("replica_id >= 0").orderBy(F.desc("event_time")).limit(1).localCheckpoint()
    )
    asked = last.withColumns({**late, "current_leader_epoch": F.lit(99)})
    when = F.col("event_time") + F.expr("INTERVAL 5 SECONDS")
    told = last.select(
        "cluster_id", "topic", "topic_id", "partition", F.col("replica_id").alias("broker_id"), when.alias("event_time")
    )
    roles = warehouse.read(LEADER_CHANGES).where("change_kind = 'become_follower'").limit(1)
    role = roles.drop(*told.columns).crossJoin(told).withColumns(late).select(*roles.columns)
    files = warehouse.read(SOURCE_FILES).withColumns({"capture_id": F.lit("late"), "digest": F.lit("late")})
    for table, rows in ((FETCH_EVENTS, asked), (LEADER_CHANGES, role), (SOURCE_FILES, files)):
        warehouse.append(table, rows, Transaction(f"ingest {CLUSTER} late", 99))

    with pytest.raises(MustReplayAllError, match="clocks are apart"), going_on(warehouse):
        pass


def test_a_delivery_that_grew_is_replayed_whole(warehouse: Warehouse, forms: Forms) -> None:
    """Which of its rows are new nobody can tell."""
    generate_cluster(warehouse, forms, cluster_id=CLUSTER, capture_id="first", part=Part(CUT, 1))

    with pytest.raises(MustReplayAllError, match="more files"), going_on(warehouse):
        pass


def test_changed_rows_are_no_growth(warehouse: Warehouse) -> None:
    """Somebody deleted landed rows: then everything is replayed."""
    mark = last_mark(warehouse, CLUSTER)
    assert mark is not None
    assert has_only_grown(warehouse, mark)

    warehouse.delete(PRODUCE_EVENTS, CLUSTER, F.col("base_offset") == 0)
    assert not has_only_grown(warehouse, mark)


def test_a_replay_that_died_left_no_mark(warehouse: Warehouse) -> None:
    """Between its first table and its last: they bear two marks, or one bears none."""
    rows = warehouse.read(REPLICA_TIMELINE)
    warehouse.replace(REPLICA_TIMELINE, rows, CLUSTER)

    assert last_mark(warehouse, CLUSTER) is None


@pytest.mark.long
def test_a_delivery_that_lands_meanwhile_is_not_claimed(warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in an object store, where none waits for another: the next replay reads it, and a check waits for that."""

    def landing(target: Warehouse, cluster_id: str) -> dict[str, DataFrame]:
        landed = landed_events(target, cluster_id)
        told = target.read(SOURCE_FILES).withColumns({"capture_id": F.lit("late"), "digest": F.lit("late")})
        target.append(SOURCE_FILES, told, Transaction(f"ingest {CLUSTER} late", 99))
        return landed

    monkeypatch.setattr(reconstruct_timelines, "landed_events", landing)
    reconstruct_cluster(warehouse, CLUSTER)

    with pytest.raises(CouldNotRunError, match="has landed since"):
        require_all_replayed(warehouse, CLUSTER)
    monkeypatch.undo()
    reconstruct_cluster(warehouse, CLUSTER)
    require_all_replayed(warehouse, CLUSTER)


@pytest.mark.long
def test_timelines_that_were_tampered_with_are_replayed_whole(warehouse: Warehouse, forms: Forms) -> None:
    """What stands at the moment is compared with what the requests give."""
    note = warehouse.commits(REPLICA_TIMELINE, limit=1)[0].note
    turned = warehouse.read(REPLICA_TIMELINE).withColumn("in_isr", ~F.col("in_isr"))
    warehouse.replace(REPLICA_TIMELINE, turned, CLUSTER, note=note)
    generate_cluster(warehouse, forms, cluster_id=CLUSTER, capture_id="second", part=Part(CUT, 1))

    with pytest.raises(MustReplayAllError, match="not found again"), going_on(warehouse):
        pass
