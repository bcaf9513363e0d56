"""The Spark session of a job: spark-submit's where it started us, else a local one configured from conf/."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import IO

from delta import configure_spark_with_delta_pip
from pyspark.logger import PySparkLogger
from pyspark.sql import SparkSession

from jobs.alone import in_turn
from jobs.command import DEBUG
from jobs.errors import CouldNotRunError
from jobs.jvm_classes import remember_classes
from jobs.local_settings import local_settings
from jobs.progress import say, step
from schemas.encoding import NO_DICTIONARY, numbers


def spark_session(app_name: str, *, warehouse: str | None, landing: int = 0, has_catalog: bool = False) -> SparkSession:
    """The session to work in: the active one, spark-submit's, or a new local one with Delta, in UTC.

    `landing` is about how many requests will land: with those in the warehouse, where that is on this machine, they
    decide whether it gets the settings of spark-small.conf. With `has_catalog` it knows what databases there are
    from one run to the next.
    """
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # workers must find the driver's packages
    spark = SparkSession.getActiveSession() or _new_session(app_name, warehouse, landing, has_catalog)
    # It prints every failed statement's error as JSON, beside the exception that says the same.
    PySparkLogger.getLogger("SQLQueryContextLogger").disabled = not os.environ.get(DEBUG)
    spark.conf.set("spark.sql.session.timeZone", "UTC")  # whatever a cluster's default is: all times are UTC
    for path in numbers():
        spark.conf.set(f"{NO_DICTIONARY}{path}", "false")
    remember_classes(spark)
    return spark


def describe(spark: SparkSession, what: str) -> None:
    """Name the next jobs in Spark's UI; over Spark Connect there is no SparkContext to name them in."""
    context = getattr(spark, "sparkContext", None)
    if context is not None:
        context.setJobDescription(what)


def _new_session(app_name: str, warehouse: str | None, landing: int, has_catalog: bool) -> SparkSession:
    """A session of our own: under spark-submit as submitted, else local with the settings of conf/."""
    builder = SparkSession.builder.appName(f"tidegauge {app_name}")
    if has_catalog:
        builder = builder.enableHiveSupport()
    if "PYSPARK_GATEWAY_PORT" in os.environ:  # set by spark-submit: master, settings and jars are its business
        spark = builder.getOrCreate()
        if "io.delta" not in (spark.conf.get("spark.sql.extensions", "") or ""):
            message = "Spark was started without Delta: spark-submit --properties-file conf/spark-cluster.conf …"
            raise CouldNotRunError(message)
        return spark
    for key, value in local_settings(warehouse, landing, has_catalog).items():
        builder = builder.config(key, value)
    with _fetching_jars_once(), step("start Spark"):
        return _start(configure_spark_with_delta_pip(builder))


@contextmanager
def _fetching_jars_once() -> Iterator[None]:
    """Let one process at a time have Delta's jars fetched: two in one cache spoil each other's downloads."""
    if _delta_is_fetched():
        yield
        return
    jars = f"tidegauge-{os.getuid()}-jars.lock"
    with in_turn(Path(tempfile.gettempdir()) / jars, "another run fetches Delta's jars: waiting for its end"):
        if not _delta_is_fetched():
            say("fetching Delta's jars, once (about 90 MB) …")
        yield


def _delta_is_fetched() -> bool:
    """Whether Ivy's cache has Delta of the installed version."""
    return any(Path.home().glob(f".ivy2*/jars/io.delta_delta-spark_*-{version('delta-spark')}.jar"))


def name_files_in_utf8() -> None:
    """Let Java name files as Python does: under LC_ALL=C, common in scripts, it knows no name that is not ASCII."""
    if os.environ.get("LC_ALL") in ("C", "POSIX"):
        os.environ["LC_ALL"] = "C.UTF-8"


def _start(builder: SparkSession.Builder) -> SparkSession:
    """Start the JVM with its chatter (Ivy's report, warnings of the JDK) put aside, shown if it does not start."""
    name_files_in_utf8()
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as chatter:
        try:
            with _stderr_to(chatter):
                return builder.getOrCreate()
        except Exception as error:
            chatter.seek(0)
            tail = [line.strip() for line in chatter.read().splitlines() if line.strip()][-20:]
            say("\n".join(tail))
            message = "Spark did not start; above is the end of what it said (Java 17 and, once, Maven Central needed)"
            raise CouldNotRunError(message) from error


@contextmanager
def _stderr_to(file: IO[str]) -> Iterator[None]:
    """Let processes started meanwhile inherit `file` as their stderr; with --debug they keep ours."""
    if os.environ.get(DEBUG):
        yield
        return
    ours = os.dup(2)
    os.dup2(file.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(ours, 2)
        os.close(ours)
