"""Captures without a request log: what INFO lines alone tell is right, and what they do not tell is bounded."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from jobs.keeping import keeping
from jobs.replay_inputs import made_whole, profile_of, slots_of
from replay.assignment import assignments
from replay.findings.incidents import incidents
from replay.timelines import reconstruct
from schemas.columns import NO_BOUND
from tests.bounds import (
    at_once,
    leader_high_watermarks,
    leader_intervals,
    outside,
    replica_intervals,
    replica_values,
)
from tests.captured import Tables, landed_from
from tests.conftest import CAPTURES
from tests.info_view import info_view
from tests.truth import cuts, truth_of

pytestmark = [pytest.mark.spark, pytest.mark.captured]

Rows = dict[str, list[dict[str, Any]]]

LOST = {
    "failover": [("clicks", 0, 165, 246), ("clicks", 0, 884, 936), ("clicks", 1, 1181, 1237), ("orders", 1, 624, 625)],
    "hw_truncation": [("ledger", 0, 10, 11)],
}
"""Ranges that are gone, by the captures' own README."""


@contextmanager
def replayed(landed: Tables) -> Iterator[Rows]:
    """The timelines and incidents as rows, without internal topics."""
    with keeping() as keep:
        landed = made_whole(landed, keep)
        assigned = keep(assignments(landed))
        profile = profile_of(landed, assigned)
        told = reconstruct(landed, assigned, slots_of(assigned), profile, keep)
        frames = {name: frame.localCheckpoint() for name, frame in vars(told).items()}
        found = incidents(landed, *frames.values(), profile, keep)
        yield {
            name: [row.asDict() for row in frame.where("NOT startswith(topic, '__')").collect()]
            for name, frame in {**frames, "incidents": found}.items()
        }


def hold_against_truth(rows: Rows, truth: list[dict[str, Any]]) -> None:
    """Every value a broker said lies between the bounds in force at its time, and every truncation is found."""
    led = outside(leader_high_watermarks(truth), leader_intervals(rows["leader_timeline"]), "high_watermark")
    assert list(led) == []
    states = replica_intervals(rows["replica_timeline"])
    for what in ("log_end_offset", "high_watermark"):
        said = replica_values(truth, what)
        assert set(said) <= set(states)
        assert list(outside(said, states, what)) == []
    assert list(at_once(rows["replica_timeline"])) == []
    assert {(r["topic"], r["partition"], r["replica_id"], r["to_offset"]) for r in rows["truncations"]} == cuts(truth)
    begun = {(r["topic"], r["partition"], r["epoch"], r["broker"]) for r in truth if r["kind"] == "become_leader"}
    told = [r for r in rows["leader_timeline"] if r["event_type"] == "BECOME_LEADER"]
    assert {(r["topic"], r["partition"], r["leader_epoch"], r["leader_id"]) for r in told} == begun


def lost(rows: Rows) -> list[tuple[Any, ...]]:
    """The ranges that are gone, of whatever class."""
    found = [row for row in rows["incidents"] if "RECORDS_LOST" in row["kind"] and row["from_offset"] >= 0]
    return sorted((r["topic"], r["partition"], r["from_offset"], r["to_offset"]) for r in found)


def isr_steps(rows: Rows) -> dict[tuple[Any, ...], list[tuple[int, ...]]]:
    """Per partition and epoch the ISRs its leader knew, each once in a row."""
    steps: dict[tuple[Any, ...], list[tuple[int, ...]]] = {}
    for row in sorted(rows["leader_timeline"], key=_place):
        known = steps.setdefault((row["topic"], row["partition"], row["leader_epoch"]), [])
        if row["isr"] is not None and known[-1:] != [tuple(row["isr"])]:
            known.append(tuple(row["isr"]))
    return steps


def _last_rows(rows: Rows) -> list[dict[str, Any]]:
    """The last row of each partition: only a dump bounds the LEO there."""
    last = {(r["topic"], r["partition"]): r for r in sorted(rows["leader_timeline"], key=_place)}
    return list(last.values())


def _place(row: Mapping[str, Any]) -> tuple[int, int]:
    return row["leader_epoch"], row["event_seq"]


@pytest.mark.long
def test_info_lines_alone_bound_what_they_do_not_tell(spark: SparkSession, tmp_path: Path) -> None:
    """Elections, truncations and losses of the failover are all found; nothing is called exact that is not."""
    capture = CAPTURES / "failover"
    landed = landed_from(spark, info_view(capture / "capture", tmp_path, beside=False), "info")

    with replayed(landed) as rows:
        hold_against_truth(rows, truth_of(capture))
        assert lost(rows) == LOST["failover"]
        assert {r["kind"] for r in rows["incidents"]}.isdisjoint(
            {"HIGH_WATERMARK_STALLED", "STALE_ISR_MEMBER", "OFFSET_WENT_BACK", "SILENT_TRUNCATION"}
        )
        stated = [r for r in rows["leader_timeline"] if r["event_type"] == "WITNESS" and r["exactness"] == "stated"]
        assert any(leo >= 0 for r in stated for leo in r["remote_log_end_offset"].values())
        assert {r["exactness"] for r in rows["replica_timeline"] if r["role"] == "FOLLOWER"} == {"stated", "bounded"}


@pytest.mark.long
@pytest.mark.parametrize("beside", [False, True], ids=["alone", "with_dumps"])
@pytest.mark.parametrize("name", ["steady", "isr_shrink", "failover", "hw_truncation", "epoch_truncation"])
def test_bounds_hold_and_the_story_is_that_of_the_full_capture(
    spark: SparkSession, landed_capture: Callable[[str], Tables], tmp_path: Path, name: str, beside: bool
) -> None:
    """Leader epochs, ISR changes and truncations are those of the full capture, the losses no fewer."""
    capture = CAPTURES / name
    view = info_view(capture / "capture", tmp_path, beside=beside)

    with replayed(landed_from(spark, view, "info")) as rows, replayed(landed_capture(name)) as full:
        hold_against_truth(rows, truth_of(capture))
        assert lost(rows) == LOST.get(name, [])
        assert isr_steps(rows) == isr_steps(full)
        assert {r["kind"] for r in rows["incidents"] if "LOST" in r["kind"]} <= {
            "RECORDS_LOST_UNKNOWN_IF_COMMITTED", "COMMITTED_RECORDS_LOST",
        }  # fmt: skip
        assert beside == any(r["log_end_offset_high"] < NO_BOUND for r in _last_rows(rows))
