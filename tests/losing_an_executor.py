"""A script for a cluster: it keeps a small stage, kills an executor, and reads the stage again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

from pyspark.sql import SparkSession

from jobs.keeping import keeping
from jobs.session import spark_session


def executors(spark: SparkSession) -> list[int]:
    """The process ids of the application's executors."""
    command = f"CoarseGrainedExecutorBackend.*--app-id {spark.sparkContext.applicationId}"
    found = subprocess.run(["pgrep", "-f", command], check=True, capture_output=True, text=True)
    return [int(number) for number in found.stdout.split()]


def main() -> None:
    """Say how many rows the stage had before and after."""
    spark = spark_session("losing an executor", warehouse=None)
    with keeping() as keep:
        stage = keep(spark.range(1000).repartition(4), is_small=True)
        before, (first, *others) = stage.count(), executors(spark)
        os.kill(first, signal.SIGKILL)
        sys.stdout.write(f"{before} of {1 + len(others)} executors, {stage.count()} of {len(others)}\n")


if __name__ == "__main__":
    main()
