"""`tidegauge capture`: a real Kafka cluster, loaded, broken in a named way, and written down as a capture."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import click

import cluster.chaos
import cluster.elections
import cluster.operations
import cluster.upkeep  # noqa: F401 - declares them
from cluster.capture import capture as run_scenario
from cluster.capture import lasting
from cluster.distribution import Distribution
from cluster.errors import ClusterError
from cluster.releases import DEFAULT_VERSION, resolve
from cluster.scenario import SCENARIOS
from jobs.command import debug_option, options, run
from jobs.errors import CouldNotRunError
from jobs.progress import print_table, say
from jobs.run_config import Configured


def _list(context: click.Context, _option: click.Parameter, wanted: bool) -> None:
    """Print the scenarios and end."""
    if wanted:
        print_table(("scenario", "what happens"), [(one.name, one.says) for one in SCENARIOS.values()])
        context.exit()


@click.command("capture", cls=Configured, epilog="Example: tidegauge capture unclean_election --out /tmp/capture")
@options(
    click.argument("scenario", type=click.Choice(sorted(SCENARIOS)), metavar="SCENARIO"),
    click.option("--out", "target", required=True, metavar="DIR", type=click.Path(path_type=Path), help="New folder."),
    click.option("--kafka-version", default=DEFAULT_VERSION, show_default=True, metavar="VERSION"),
    click.option(
        "--upgrade-to", metavar="VERSION", help="What rolling_restart starts brokers as. Default: as they were."
    ),
    click.option("--brokers", type=click.Choice(["3", "5"]), default="3", show_default=True),
    click.option("--seconds", type=click.FloatRange(5, 3600), help="Least length. Default: the scenario's own."),
    click.option("--seed", type=int, default=1, show_default=True, help="Of the load, and of drawn faults."),
    click.option("--keep-trace", is_flag=True, help="Keep the brokers' DEBUG and TRACE lines as DIR/trace."),
    click.option("--list", is_flag=True, is_eager=True, expose_value=False, callback=_list, help="List the scenarios."),
    debug_option,
)
def capture(
    scenario: str,
    target: Path,
    kafka_version: str,
    upgrade_to: str | None,
    brokers: str,
    seconds: float | None,
    seed: int,
    keep_trace: bool,
) -> None:
    """Start a real Kafka on loopback, load it, break it, stop it, and write what an operator would have.

    That is DIR/capture, in the layout that `tidegauge pipeline` reads. Beside it are DIR/truth.jsonl.gz, the brokers'
    own DEBUG and TRACE statements to compare with, and DIR/acked.jsonl.gz, what the producers were told. The jars come
    from Maven Central, once a version (45 MB).
    """
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise CouldNotRunError(f"{target} is there already: a capture goes into a new folder.")
    try:
        with _ended_like_interrupted():
            distribution = _found(kafka_version)
            upgrade = _found(upgrade_to) if upgrade_to else None
            play = lasting(SCENARIOS[scenario], seconds)
            captured = run_scenario(
                play, distribution, target, brokers=int(brokers), seed=seed, keep_trace=keep_trace, say=say,
                upgrade=upgrade,
            )  # fmt: skip
    except (ClusterError, OSError) as error:  # OSError: a full disk
        raise CouldNotRunError(str(error)) from error
    click.echo(f"{target}: {captured.acked:,} records acknowledged, {captured.statements:,} statements of the brokers")


def _found(kafka_version: str) -> Distribution:
    """The jars of a release, here or from where they are published."""
    say(f"Kafka {kafka_version}: looking for its jars, or fetching them …")
    return resolve(kafka_version)


@contextmanager
def _ended_like_interrupted() -> Iterator[None]:
    """SIGTERM and a closed terminal end the brokers as Ctrl-C does."""

    def interrupt(_number: int, _frame: FrameType | None) -> Any:
        raise KeyboardInterrupt

    before = {number: signal.signal(number, interrupt) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the job and return its exit code."""
    return run(capture, argv)


if __name__ == "__main__":
    raise SystemExit(main())
