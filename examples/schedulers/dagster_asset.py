"""Dagster: the timelines as an asset, and the check as a check of it, with a result per rule in its metadata."""

from __future__ import annotations

import json
import subprocess

from dagster import AssetCheckResult, AssetCheckSeverity, Definitions, Failure, asset, asset_check

TIDEGAUGE = "/opt/tidegauge/.venv/bin/tidegauge"
WAREHOUSE = "/data/tidegauge/warehouse"
CAPTURE = "/data/kafka-logs/today"
INGEST = [TIDEGAUGE, "ingest", CAPTURE, "--warehouse", WAREHOUSE, "--cluster-id", "kafka-prod"]
RECONSTRUCT = [TIDEGAUGE, "reconstruct", "--warehouse", WAREHOUSE]
CHECK = [
    TIDEGAUGE, "check", "--warehouse", WAREHOUSE, "--max-age", "26h", "--since", "last", "--fail-on", "warn", "--json",
]  # fmt: skip


@asset
def timelines() -> None:
    """The leader and replica timelines of all that has landed."""
    for step in (INGEST, RECONSTRUCT):
        subprocess.run(step, check=True)


@asset_check(asset=timelines)
def protocol_holds() -> AssetCheckResult:
    """Exit code 0 passes; 1 and 2 do not, as a warning and as an error; anything else is a failure of the run."""
    done = subprocess.run(CHECK, check=False, capture_output=True, text=True)
    if done.returncode not in (0, 1, 2):
        raise Failure(description=done.stderr)
    results = [result for run in json.loads(done.stdout)["runs"] for result in run["check_results"]]
    return AssetCheckResult(
        passed=done.returncode == 0,
        severity=AssetCheckSeverity.WARN if done.returncode == 1 else AssetCheckSeverity.ERROR,
        metadata={result["rule"]: result["reason"] for result in results if result["status"] == "invalid"},
    )


definitions = Definitions(assets=[timelines], asset_checks=[protocol_holds])
