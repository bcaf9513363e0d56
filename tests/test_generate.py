"""The synthetic cluster: what it says of itself is what the engine makes of its events; what cannot be is refused."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from jobs.cli import tidegauge
from jobs.errors import ExitCode
from jobs.generate_events import main, write_truth
from jobs.keeping import keeping
from replay.agreement.compared import TRUTH, agreement
from replay.agreement.verdict import summary
from schemas.tables import LANDING_TABLES
from sources.synthetic.forms import forms_of
from sources.synthetic.landing import Delivery, landing, source_files
from sources.synthetic.scenario import ScenarioError, read_scenario
from sources.synthetic.truth import truth
from tests.captured import timelines_of
from tests.frames import rows

SCENARIOS = Path(__file__).parent.parent / "examples" / "scenarios"


@pytest.mark.spark
@pytest.mark.long
@pytest.mark.parametrize(("name", "kinds", "cuts"), [("everything", 5, 4), ("steady", 4, 0)])
def test_the_engine_agrees_with_the_truth(spark: SparkSession, name: str, kinds: int, cuts: int) -> None:
    """Every HW step, remote LEO, follower's HW, append and truncation, with all faults or none, and not one more.

    With none, the engine leaves out what only a replica outside the ISR needs.
    """
    forms = forms_of(read_scenario(SCENARIOS / f"{name}.yaml", events=3_000, partitions=4, hot_share=0.4))
    landed = {table.name: rows(spark, table) for table in LANDING_TABLES}
    landed |= {name: frame.localCheckpoint() for name, frame in landing(spark, forms, Delivery("s", "s")).items()}
    with keeping() as keep:
        made = timelines_of(landed, keep)
        timelines = (made.leader_timeline, made.replica_timeline, made.truncations)
        values = keep(agreement(truth(spark, forms), *timelines, landed["broker_statements"]))
        summaries = summary(values).groupBy("what").agg(F.sum("stated"), F.sum("missing"), F.sum("extra")).collect()
        leaders = made.leader_timeline.groupBy("exactness").count().collect()
    found = {row[0]: tuple(row[1:]) for row in summaries}

    assert len(found) == kinds
    assert {what: wrong for what, (_, *wrong) in found.items() if wrong != [0, 0]} == {}
    assert found.get("truncate", (0,))[0] == cuts
    assert found["leader_hw"][0] > 400
    assert {row["exactness"] for row in leaders} == {"exact"}


@pytest.mark.spark
def test_truth_is_one_packed_file(spark: SparkSession, tmp_path: Path) -> None:
    """Of the columns that the comparison reads."""
    write_truth(truth(spark, forms_of(read_scenario(None, events=200, partitions=2))), tmp_path)
    with gzip.open(tmp_path / "truth.jsonl.gz", "rt") as lines:
        told = [json.loads(line) for line in lines]
    columns = {part.split()[0].strip("`") for part in TRUTH.split(", ")}

    assert {key for statement in told for key in statement} <= columns
    assert {"append", "leader_hw", "remote_leo", "follower_leo", "follower_hw"} <= {row["kind"] for row in told}
    assert [path.name for path in tmp_path.iterdir()] == ["truth.jsonl.gz"]


@pytest.mark.spark
def test_a_scenario_is_the_log_of_all_its_brokers(spark: SparkSession) -> None:
    """Each of them has delivered by it."""
    scenario = read_scenario(None, events=200, partitions=2, brokers=4)
    (file,) = source_files(spark, scenario, Delivery("s", "s"), "digest", 9).collect()

    assert (file["broker_id"], file["brokers"], file["gaps"], file["lines_read"]) == (-1, [1, 2, 3, 4], [], 9)


@pytest.mark.parametrize("path", sorted(SCENARIOS.glob("*.yaml")), ids=lambda path: path.stem)
def test_each_scenario_of_the_gallery_can_be(path: Path) -> None:
    """Its faults fit into a cluster of a hundred thousand events."""
    assert forms_of(read_scenario(path, events=100_000)).scenario.epochs


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("partitons: 3", "partitons: no such key"),
        ("epochs: [{freeze: {folower: 1}}]", "epochs.0.freeze.folower: no such key"),
        ("replicas: 9", "replicas: Input should be less than or equal to 5"),
        ("lags: [0, 2]", "lags: none may rise by more than one"),
        ("replicas: 2\nepochs: [{freeze: {}}]", "replicas: a freeze or a loss needs three"),
        ("epochs: [{loses: 3}]", "epochs: the last one has no successor"),
        ("epochs: [{freeze: {}}]\nlag_time_ms: 600000", "epochs.0.freeze: it lasts"),
        ("duration_seconds: 0.001", "duration_seconds: too short"),
        ("- 1", "it takes keys and values"),
        ("a: [", "no YAML"),
    ],
)
def test_a_scenario_that_cannot_be_is_refused_by_name(tmp_path: Path, text: str, said: str) -> None:
    """With the key that is wrong."""
    path = tmp_path / "wrong.yaml"
    path.write_text(text, encoding="utf-8")

    with pytest.raises(ScenarioError) as refused:
        forms_of(read_scenario(path))
    assert said in str(refused.value)


def test_a_wrong_scenario_is_a_usage_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Before Spark starts: exit code 64."""
    path = tmp_path / "wrong.yaml"
    path.write_text("partitons: 3", encoding="utf-8")

    assert main(["--scenario", str(path), "--warehouse", str(tmp_path / "lake")]) == ExitCode.USAGE
    assert "partitons: no such key" in capsys.readouterr().err
    told = CliRunner().invoke(tidegauge, ["generate", "--help"])
    assert told.exit_code == 0
    assert "Cluster's name. Default: 'default'." in " ".join(told.output.split())
