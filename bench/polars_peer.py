"""The plain job in Polars, as `bench.kernel` has it: the order given, the committed ISR alone, no evidence."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl
import pyarrow as pa

from bench.kernel import APPEND, FETCH, ISR, LEADS
from bench.wide import LEADERS, REPLICAS

EPOCH = ["partition", "epoch"]


def events(files: dict[str, list[str]], slots: int) -> pl.LazyFrame:
    """One row per event of a leadership, with what is given of it."""
    changes = pl.scan_parquet(files["leader_changes"]).filter(
        pl.col("change_kind").is_in(["become_leader", "isr_updated"])
    )
    statements = pl.scan_parquet(files["broker_statements"])
    key = ["partition", pl.col("leader_epoch").alias("epoch")]
    said = [
        statements.filter(pl.col("kind") == f"became_leader_{what}").select(*key, pl.col("offset").alias(name))
        for what, name in (("log_end_offset", "start_leo"), ("high_watermark", "start_hw"))
    ]
    begun = changes.filter(pl.col("change_kind") == "become_leader").select(
        *key, pl.col("replicas").list.sort().alias("slots"), "leader_id"
    )
    leaders = begun.join(said[0], on=EPOCH).join(said[1], on=EPOCH)

    def rows(frame: pl.LazyFrame, kind: int | pl.Expr, **given: pl.Expr) -> pl.LazyFrame:
        nothing = {"replica_id": pl.lit(-1, pl.Int32), "leo": None, "asked": None, "told": None, "isr": None}
        types = {"leo": pl.Int64, "asked": pl.Int64, "told": pl.Int64, "isr": pl.List(pl.Int32)}
        columns = {name: given.get(name, pl.lit(None, types[name]) if value is None else value) for name, value in nothing.items()}  # noqa: E501 # fmt: skip
        shown = pl.lit(kind) if isinstance(kind, int) else kind
        return frame.select(*key, pl.col("event_time").alias("us"), shown.cast(pl.Int8).alias("kind"), **columns)

    appends = rows(pl.scan_parquet(files["produce_events"]), APPEND, leo=pl.col("last_offset") + 1)
    fetched = pl.scan_parquet(files["fetch_events"]).filter(
        (pl.col("diverging_epoch") < 0) & (pl.col("replica_id") >= 0)
    )
    fetches = rows(
        fetched, FETCH, replica_id=pl.col("replica_id"), asked=pl.col("fetch_offset"),
        told=pl.col("response_high_watermark"),
    )  # fmt: skip
    begins = pl.when(pl.col("change_kind") == "become_leader").then(LEADS).otherwise(ISR)
    told = rows(changes, begins, isr=pl.col("isr"))
    known = pl.concat([appends, fetches, told]).join(leaders, on=EPOCH)
    ids = [pl.col("slots").list.get(i, null_on_oob=True).alias(f"id_{i}") for i in range(slots)]
    return known.with_columns(*ids).drop("slots").sort("partition", "epoch", "us")


def timelines(files: dict[str, list[str]], slots: int) -> Iterator[tuple[str, pa.RecordBatchReader]]:
    """Both timelines, one after the other."""
    begins = pl.col("kind") == LEADS
    leos = [
        pl.when(begins).then(-1).when(pl.col("replica_id") == pl.col(f"id_{i}")).then("asked")
        .forward_fill().over(EPOCH).alias(f"leo_{i}")
        for i in range(slots)
    ]  # fmt: skip
    carried = events(files, slots).with_columns(
        *leos,
        pl.max_horizontal("start_leo", pl.col("leo").cum_max().forward_fill().over(EPOCH)).alias("log_end"),
        pl.col("isr").forward_fill().over(EPOCH).alias("in_sync"),
        pl.col("asked").shift(-1).over([*EPOCH, "replica_id"]).alias("next_asked"),
    )
    held = [
        pl.when((pl.col("leader_id") != pl.col(f"id_{i}")) & pl.col("in_sync").list.contains(pl.col(f"id_{i}")))
        .then(f"leo_{i}").otherwise("log_end")
        for i in range(slots)
    ]  # fmt: skip
    least = pl.min_horizontal("log_end", *held).cum_max().over(EPOCH)
    states = carried.with_columns(pl.max_horizontal("start_hw", least).alias("hw")).collect()
    names = ["partition", "epoch", "us", "kind", "leader_id", "replica_id", "log_end", "in_sync", "hw"]
    leaders = states.with_columns(
        pl.when(pl.col("leader_id") != pl.col(f"id_{i}")).then(f"leo_{i}").alias(f"leo_{i}") for i in range(slots)
    ).select(*names, *[f"leo_{i}" for i in range(slots)])
    yield LEADERS, leaders.to_arrow().to_reader()
    own = states.select("partition", pl.col("leader_id").alias("replica_id"), "epoch", "us", pl.col("log_end").alias("leo"), "hw")  # noqa: E501 # fmt: skip
    after = pl.coalesce("next_asked", "asked")
    followers = states.filter(pl.col("kind") == FETCH).select(
        "partition", "replica_id", "epoch", "us", after.alias("leo"), pl.min_horizontal("told", after).alias("hw")
    )
    yield REPLICAS, pl.concat([own, followers]).to_arrow().to_reader()
