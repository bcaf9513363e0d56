"""`tidegauge generate`: a synthetic cluster into the landing tables, and its truth beside them if asked."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Sequence
from pathlib import Path

import click
from pyspark.sql import DataFrame

from jobs.alone import alone
from jobs.command import DEFAULT_CLUSTER_ID, capture_option, cluster_option, debug_option, options, run
from jobs.deliveries import EVENT_TABLES, digest_of, filter_new, next_transaction
from jobs.opening import open_warehouse, warehouse_option
from jobs.places import Home
from jobs.progress import print_table, say, step
from jobs.run_config import Configured
from jobs.taking_back import withdraw_unfinished
from jobs.warehouse import Warehouse
from schemas.columns import NO_REPLICA
from schemas.files import FileKind
from schemas.tables import SOURCE_FILES
from sources.source_file import SourceFile
from sources.synthetic.forms import Forms, forms_of
from sources.synthetic.landing import Delivery, landing, source_files
from sources.synthetic.part import WHOLE, Part
from sources.synthetic.scenario import Scenario, ScenarioError, read_scenario
from sources.synthetic.truth import truth as truth_of


def generate_cluster(
    warehouse: Warehouse, forms: Forms, *, cluster_id: str, capture_id: str | None, part: Part = WHOLE
) -> dict[str, int]:
    """Rows by table that landed; none where the same part of the scenario had landed before."""
    for table in (*EVENT_TABLES, SOURCE_FILES):
        warehouse.create(table)
    withdraw_unfinished(warehouse, cluster_id)
    file = _scenario_file(forms.scenario, part)
    if not filter_new(warehouse, cluster_id, [file]):
        say("  this scenario has landed already")
        return {}
    delivery = Delivery(cluster_id, capture_id or digest_of([file]), file.name)
    transaction = next_transaction(warehouse, cluster_id, [file])
    of_all = landing(warehouse.spark, forms, delivery)
    frames = {name: part.of(rows, forms.scenario) for name, rows in of_all.items()}
    rows = {}
    for table in EVENT_TABLES:
        if table.name in frames:
            with step(table.name) as writing:
                writing.rows = rows[table.name] = warehouse.append(table, frames[table.name], transaction).rows
    told = source_files(warehouse.spark, forms.scenario, delivery, file.digest, sum(rows.values()))
    return rows | {SOURCE_FILES.name: warehouse.append(SOURCE_FILES, told, transaction).rows}


def _scenario_file(scenario: Scenario, part: Part) -> SourceFile:
    """The scenario, or a part of it, as a file of a delivery: the same one lands once."""
    told = scenario.model_dump_json() + ("" if part == WHOLE else part.name)
    digest = hashlib.sha256(told.encode()).hexdigest()
    return SourceFile(Path(part.name), part.name, FileKind.SCENARIO, NO_REPLICA, digest)


def write_truth(statements: DataFrame, folder: Path) -> None:
    """Write statements as `folder`/truth.jsonl.gz: packed parts one after another are a packed file."""
    parts = folder.absolute() / "truth.parts"
    with step("truth.jsonl.gz"):
        statements.write.mode("overwrite").option("compression", "gzip").json(str(parts))
        with (folder / "truth.jsonl.gz").open("wb") as whole:
            for part in sorted(parts.glob("part-*.gz")):
                with part.open("rb") as packed:
                    shutil.copyfileobj(packed, whole)
        shutil.rmtree(parts)


@click.command(
    "generate",
    cls=Configured,
    epilog="Example: tidegauge generate --events 1000000 --partitions 100 --warehouse /tmp/lake",
)
@click.option(
    "--scenario", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="YAML file of a scenario."
)
@click.option("--events", type=int, metavar="N", help="Appends and followers' fetches, nearly. Default: 1,000,000.")
@click.option("--partitions", type=int, metavar="N", help="Partitions. Default: 12.")
@click.option("--hot-share", type=float, metavar="SHARE", help="Share of all events that partition 0 has.")
@click.option("--seed", type=int, metavar="N", help="Another seed is another cluster.")
@click.option(
    "--since", type=float, default=0.0, metavar="SHARE", help="Land what happens from this share of the time on."
)
@click.option(
    "--until", type=float, default=1.0, metavar="SHARE", help="Land what happens before this share of the time."
)
@click.option(
    "--truth",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for truth.jsonl.gz, for `agree`.",
)
@options(warehouse_option, cluster_option(f"'{DEFAULT_CLUSTER_ID}'"), capture_option, debug_option)
def generate(
    scenario: Path | None, truth: Path | None, warehouse: Home, cluster_id: str | None, capture_id: str | None,
    since: float, until: float, **given: float | None,
) -> None:  # fmt: skip
    """Land the events of a synthetic cluster, of any size, with faults as a scenario says.

    What is given on the command line takes the place of what the file says. The same scenario lands once, or part by
    part: --until 0.9 and later --since 0.9 are two deliveries of one cluster.
    """
    try:
        forms, part = forms_of(read_scenario(scenario, **given)), Part(since, until)
    except ScenarioError as error:
        raise click.UsageError(str(error)) from error
    target = open_warehouse("generate", warehouse, landing=forms.scenario.events, makes=True)
    with alone(target.path):
        rows = generate_cluster(
            target, forms, cluster_id=cluster_id or DEFAULT_CLUSTER_ID, capture_id=capture_id, part=part
        )
    if truth is not None:
        truth.mkdir(parents=True, exist_ok=True)
        write_truth(truth_of(target.spark, forms), truth)
    print_table(("table", "rows landed"), [(name, f"{count:,}") for name, count in rows.items()])


def main(argv: Sequence[str] | None = None) -> int:
    """Run the job and return its exit code."""
    return run(generate, argv)


if __name__ == "__main__":
    raise SystemExit(main())
