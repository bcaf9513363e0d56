"""A partition with most of all events is replayed in stretches, and the tables are the same."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pyspark.sql import functions as F

from jobs.continuing import AFTER
from jobs.deliveries import landed_events
from jobs.generate_events import generate_cluster
from jobs.hot_partitions import HOT_ROWS, is_told
from jobs.reconstruct_timelines import write_timelines
from jobs.replay_marks import landed_until
from jobs.warehouse import Warehouse
from replay.releases import profile_for
from schemas import columns as C
from schemas.tables import BROKER_REGISTRATIONS, FETCH_EVENTS, LEADER_TIMELINE, PRODUCE_EVENTS, SETTINGS
from sources.synthetic.forms import forms_of
from sources.synthetic.scenario import Epoch, read_scenario
from tests.pieces import comparable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CLUSTER = "hot"
REQUESTS = (PRODUCE_EVENTS.name, FETCH_EVENTS.name)


@pytest.mark.spark
@pytest.mark.long
@pytest.mark.parametrize(("since", "stretches"), [(0, "9"), (100, "7")])
def test_a_hot_partition_is_cut(
    since: int, stretches: str, spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Several stretches, across an election; every row as in one piece. Request logs may begin later than the rest."""
    scenario = read_scenario(None, events=1_500, partitions=3, hot_share=0.9, epochs=(Epoch(), Epoch()))
    warehouse = Warehouse(spark, str(tmp_path / "lake"))
    generate_cluster(warehouse, forms_of(scenario), cluster_id=CLUSTER, capture_id="one")
    begun = F.lit("2026-01-01 00:00:00").cast("timestamp") + F.make_dt_interval(secs=F.lit(since))
    landed = {
        name: rows.where(F.col(C.EVENT_TIME) >= begun) if name in REQUESTS and since else rows
        for name, rows in landed_events(warehouse, CLUSTER).items()
    }
    write_timelines(warehouse, CLUSTER, landed, landed_until(warehouse), all_anew=True)
    whole = {table: comparable(warehouse.read(table), [CLUSTER]).localCheckpoint() for table in AFTER}
    assert "stretches" not in capsys.readouterr().err

    spark.conf.set(HOT_ROWS, "500")
    try:
        write_timelines(warehouse, CLUSTER, landed, landed_until(warehouse), all_anew=True)
    finally:
        spark.conf.unset(HOT_ROWS)

    assert re.findall(r"replay hot partitions.* (\d+) stretches", capsys.readouterr().err) == [stretches]
    if since:
        assert not whole[LEADER_TIMELINE].where(F.col(C.EXACTNESS) == "bounded").isEmpty()
    for table, rows in whole.items():
        pieces = comparable(warehouse.read(table), [CLUSTER])
        assert (table.name, pieces.exceptAll(rows).take(2), rows.exceptAll(pieces).take(2)) == (table.name, [], [])


@pytest.mark.spark
def test_what_no_line_tells_reaches_from_one_stretch_into_the_next(spark: SparkSession) -> None:
    """A small ISR's HW is bounded by what was appended long before; where no ISR is small nothing is asked."""
    setting = spark.createDataFrame([("min.insync.replicas", "")], "name string, topic string")
    of_topic = spark.createDataFrame([("min.insync.replicas", "orders")], "name string, topic string")
    broker = spark.createDataFrame([(1,)], "broker_id int")
    kraft, zookeeper = profile_for("4.1.0"), profile_for("2.8.2")
    cases = {
        (kraft, setting, broker): True, (kraft, of_topic, broker): False, (kraft, setting, broker.limit(0)): False,
        (zookeeper, of_topic, broker.limit(0)): True,
        (kraft.with_changes(has_outsiders=False), setting.limit(0), broker.limit(0)): True,
    }  # fmt: skip

    found = [is_told({SETTINGS.name: s, BROKER_REGISTRATIONS.name: b}, profile) for profile, s, b in cases]

    assert found == list(cases.values())
