"""`make bench`: events into both timelines, against the floor and other engines, interleaved; a table, then JSON."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

import click
from deltalake import DeltaTable

from bench import arrow_variant
from bench.checksums import sums_of
from bench.costs import Cost, EventLog, least
from bench.inputs import SCENARIO, SIZES, bench_session, landed, scenario_of
from bench.peer import cost_of
from bench.spark_variants import engine, floor, in_one_piece
from bench.transactions import put_in_transactions
from jobs.progress import print_table, say
from jobs.warehouse import Warehouse
from schemas.tables import LEADER_TIMELINE, REPLICA_TIMELINE

COLUMNS = (
    "what", "CPU s", "of floor", "µs an event", "wall s", "jobs", "exchanges", "of all rows", "shuffle MiB",
    "spill MiB", "peak MiB", "longest task s",
)  # fmt: skip
KERNELS = {"apply_in_arrow": arrow_variant.in_arrow, "apply_in_pandas": arrow_variant.in_pandas}
RATIOS = {**{name: name for name in KERNELS}, "duckdb": "duckdb_peer", "polars": "polars_peer"}
Variants = Mapping[str, Callable[[], Cost]]


def variants_of(
    warehouse: Warehouse, log: EventLog, work: Path, events: int, *, is_hot: bool, peers: bool, loop: bool
) -> Variants:
    """What is compared: each cleans up, works, and says what it cost. The engine is first, the floor writes as much."""

    def of_spark(name: str, run: Callable[[Path], None]) -> Cost:
        shutil.rmtree(work / name, ignore_errors=True)
        return log.cost_of(lambda: run(work / name), events)

    def of_peer(name: str) -> Cost:
        shutil.rmtree(work / name, ignore_errors=True)
        return cost_of(name, Path(warehouse.path), work / name)

    def as_many_rows(target: Path) -> None:
        floor(warehouse, target, DeltaTable(work / "engine" / REPLICA_TIMELINE.name).count() / events)

    ours: dict[str, Callable[[], Cost]] = {
        "engine": partial(of_spark, "engine", partial(engine, warehouse)),
        "floor": partial(of_spark, "floor", as_many_rows),
    }
    if is_hot:
        ours["in_one_piece"] = partial(of_spark, "in_one_piece", partial(in_one_piece, warehouse))
    if not peers:
        return ours
    others = ("duckdb_peer", "polars_peer", *(("loop_peer",) if loop else ()))
    kernels = {name: partial(of_spark, name, partial(run, warehouse)) for name, run in KERNELS.items()}
    return ours | kernels | {name: partial(of_peer, name) for name in others}


def measured(variants: Variants, rounds: int) -> dict[str, Cost]:
    """The cheapest run of each variant, one after the other in every round."""
    costs: dict[str, list[Cost]] = {name: [] for name in variants}
    for number in range(rounds):
        for name, run in variants.items():
            costs[name].append(run())
            say(f"  round {number + 1}: {name:<16} {costs[name][-1].cpu_seconds:8.1f} s of CPU")
    return {name: least(of_variant) for name, of_variant in costs.items()}


def line_of(name: str, cost: Cost, base: float, events: int) -> Sequence[str]:
    """A line of the table."""
    return (
        name, f"{cost.cpu_seconds:.1f}", f"{cost.cpu_seconds / base:.2f}", f"{cost.cpu_seconds / events * 1e6:.2f}",
        f"{cost.wall_seconds:.1f}", str(cost.jobs), str(cost.exchanges), str(cost.large_exchanges),
        f"{cost.shuffle_mib:.0f}", f"{cost.spill_mib:.0f}", f"{cost.peak_mib:.0f}", f"{cost.longest_seconds:.1f}",
    )  # fmt: skip


def are_equal(variants: Sequence[str], work: Path) -> bool:
    """Whether all wrote the same values; what each wrote is printed."""
    sums = {name: sums_of(name, work / name) for name in variants if name != "floor"}
    for name, found in sums.items():
        say(f"  checksum: {name:<16} {found}")
    return len(set(sums.values())) == 1


@click.command("bench")
@click.option("--size", type=click.Choice(list(SIZES)), default="medium", show_default=True)
@click.option("--rounds", type=int, default=2, show_default=True, help="Runs of each variant; the cheapest counts.")
@click.option("--hot-share", type=float, default=0.0, help="Share of all events that one partition has.")
@click.option("--scenario", type=click.Path(exists=True, path_type=Path), default=SCENARIO, help="Of the cluster.")
@click.option("--transactions", is_flag=True, help="Every append is one of a transaction, which no peer knows of.")
@click.option("--peers/--no-peers", default=True, help="Other engines too.")
@click.option("--work", type=click.Path(path_type=Path), default=Path("build/bench"), show_default=True)
def main(size: str, rounds: int, hot_share: float, scenario: Path, transactions: bool, peers: bool, work: Path) -> None:
    """Measure CPU: of events into both timelines, of what Spark takes to write as much, of other engines.

    The exit code is 1 where two variants wrote different values.
    """
    scratch = work.absolute() / "run"
    shutil.rmtree(scratch, ignore_errors=True)
    spark = bench_session(scratch)

    def made(of: str, share: float) -> tuple[Warehouse, int]:
        folder = work.absolute() / f"{scenario.stem}-{of}-{share}{'-transactions' if transactions else ''}"
        found = landed(spark, folder, scenario_of(scenario, of, share))
        if transactions:
            put_in_transactions(found[0])
        return found

    warehouse, events = made(size, hot_share)
    if size != "tiny":  # Of so few events only what is written counts, not what it cost.
        engine(made("tiny", 0.0)[0], scratch / "warm-up")
    log = EventLog(spark, scratch / "events")
    variants = variants_of(
        warehouse, log, scratch, events, is_hot=hot_share > 0, peers=peers, loop=size in ("tiny", "small")
    )
    costs = measured(variants, rounds)
    leaders, replicas = (DeltaTable(scratch / "engine" / t.name).count() for t in (LEADER_TIMELINE, REPLICA_TIMELINE))
    say(f"  {events:,} events, {leaders:,} rows of leader_timeline, {replicas:,} of replica_timeline")
    base, ours = costs["floor"].cpu_seconds, costs["engine"].cpu_seconds
    print_table(COLUMNS, [line_of(name, cost, base, events) for name, cost in costs.items()])
    spark.stop()
    is_equal = are_equal(list(costs), scratch)
    ratios = {f"ratio_to_{name}": costs[key].cpu_seconds for name, key in RATIOS.items() if key in costs}
    figures = {name: round(ours / other, 3) for name, other in ({"ratio_to_floor": base} | ratios).items()}
    print(json.dumps({"size": size, "events": events, "same_output": is_equal, **figures}))
    raise SystemExit(0 if is_equal else 1)


if __name__ == "__main__":
    main()
