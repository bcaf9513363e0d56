"""What all tests share: one Spark session, and an environment that is the same on every machine."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

# Before anything imports great_expectations, which sends usage analytics otherwise.
os.environ["GX_ANALYTICS_ENABLED"] = "false"
# Before the JVM starts: workers must be this interpreter, not the first python3 of the PATH.
os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
# `collect` gives naive times of the machine's zone; with UTC a test may write them as the tables mean them.
os.environ["TZ"] = "UTC"
time.tzset()
# The settings of the tests' session, each with its reason.
os.environ["TIDEGAUGE_SPARK_CONF"] = str(Path(__file__).parent.parent / "conf" / "spark-test.conf")

import pytest  # noqa: E402 - the environment comes first

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from jobs.warehouse import Warehouse
    from tests.captured import Tables
    from tests.rebuilt import Answers

FIRST_COMPILER_ONLY = {
    "JDK_JAVA_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:MetaspaceSize=300m",
}
"""Environment of a JVM that lives for a minute: what Java's second compiler makes comes too late to pay."""
CAPTURES = Path(__file__).parent.parent / "examples" / "captures"
STARTED = time.monotonic()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Give a run an end."""
    parser.addoption("--minutes", type=float, help="begin no test later than so many minutes after the run's start")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Leave out, and say so, what would begin after the run's end: before its fixtures, which take most of the time."""
    minutes = item.config.getoption("--minutes")
    if minutes is not None and time.monotonic() - STARTED > 60 * minutes:
        pytest.skip(f"the {minutes:g} minutes of this run are over")


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """The one session of the run: starting Spark costs more than all small tests together."""
    from jobs.session import spark_session

    session = spark_session("tests", warehouse=str(tmp_path_factory.mktemp("spark-warehouse")))
    yield session
    session.stop()


@pytest.fixture
def captures() -> Path:
    """The bundled captures of real clusters."""
    return CAPTURES


@pytest.fixture(scope="session")
def landed_capture(spark: SparkSession) -> Callable[[str], Tables]:
    """The landing tables of a bundled capture by its name: each is landed once in a run, for every test."""
    from tests.captured import landed_from

    return cache(lambda name: landed_from(spark, CAPTURES / name / "capture", name))


@pytest.fixture(scope="session")
def rebuilt(spark: SparkSession) -> Iterator[Answers]:
    """What the engine makes of all logs that the modules of the run have `asked` it of: a replay or two for all."""
    from tests.rebuilt import Answers

    with ExitStack() as stack:
        yield Answers(spark, stack)


@pytest.fixture(scope="session")
def loss(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    """A warehouse with a lost record and a rejected line, and no incidents yet: tests work on copies."""
    from schemas import tables as T
    from tests.checked_rows import lost, read_file
    from tests.checked_warehouse import store

    history = {table: given for table, given in lost().items() if table is not T.INCIDENTS}
    return store(spark, tmp_path_factory.mktemp("loss"), history | {T.SOURCE_FILES: [read_file(landed=7, rejected=1)]})
