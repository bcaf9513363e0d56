"""A job as a cluster gets it: `spark-submit`, the archive, and a script away from the checkout."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pyspark
import pytest
from pyspark.sql import SparkSession

from jobs import __version__
from jobs.warehouse import Warehouse
from schemas.tables import INCIDENTS
from tests.conftest import FIRST_COMPILER_ONLY

ROOT = Path(__file__).parent.parent
SUBMIT = Path(pyspark.__file__).parent / "bin" / "spark-submit"

pytestmark = [pytest.mark.spark, pytest.mark.delta, pytest.mark.submit]


def submit(tmp_path: Path, job: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a job of the archive, its script copied away from the tree, on a master that spark-submit names."""
    made = subprocess.run(
        ["make", "zip", f"PYTHON={sys.executable}", f"DIST={tmp_path}"],
        cwd=ROOT, check=True, capture_output=True, text=True,
    )  # fmt: skip
    script = shutil.copy(ROOT / "jobs" / job, tmp_path)
    settings = ["--properties-file", str(ROOT / "conf" / "spark-cluster.conf"), "--conf", "spark.log.level=ERROR"]
    return subprocess.run(
        [str(SUBMIT), "--master", "local[1]", *settings, "--py-files", made.stdout.split()[-1], script, *arguments],
        cwd=tmp_path,
        env={**os.environ, **FIRST_COMPILER_ONLY, "PYSPARK_PYTHON": sys.executable, "PYTHONPATH": ""},
        check=False,
        capture_output=True,
        text=True,
        timeout=300,
    )


def test_a_submitted_job_runs_on_the_master_it_was_given(spark: SparkSession, tmp_path: Path) -> None:
    """Spark's settings are those of spark-submit, the packages those of the archive, the code is 0."""
    Warehouse(spark, str(tmp_path / "lake")).create(INCIDENTS)
    asked = "SELECT count(*) AS found, current_timezone() AS zone FROM incidents"
    done = submit(tmp_path, "sql_prompt.py", "--warehouse", str(tmp_path / "lake"), "-e", asked)

    assert done.returncode == 0, done.stderr
    assert [line.split() for line in done.stdout.splitlines()[-2:]] == [["found", "zone"], ["0", "UTC"]]


def test_a_submitted_job_ends_with_its_code(tmp_path: Path) -> None:
    """A job that could not run ends spark-submit with 3, and says why: on stdout, where Spark puts all a job prints."""
    done = submit(tmp_path, "ingest_events.py", str(tmp_path / "absent"), "--warehouse", str(tmp_path / "lake"))

    assert done.returncode == 3
    assert re.search(r"^tidegauge: .*absent: no such folder", done.stdout, re.MULTILINE)


def test_the_archive_is_named_by_the_version(tmp_path: Path) -> None:
    """Its name ends in .zip: Spark does not put a .whl on the executors' path."""
    subprocess.run(
        ["make", "zip", f"PYTHON={sys.executable}", f"DIST={tmp_path}"], cwd=ROOT, check=True, capture_output=True
    )

    assert [path.name for path in tmp_path.iterdir()] == [f"tidegauge-{__version__}.zip"]
