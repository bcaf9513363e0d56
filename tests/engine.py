"""The engine on rows in memory: histories and stories replayed, many in one Spark job, and held against the twin."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F

from jobs.keeping import keeping
from replay.assignment import assignments
from replay.profile import Profile
from replay.releases import profile_for
from replay.timelines import Timelines, reconstruct
from schemas import columns as C
from schemas.tables import FETCH_EVENTS, LANDING_TABLES
from tests.frames import rows
from tests.sessions import with_unbroken
from tests.story import Story
from tests.twin.histories import History

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from pyspark.sql import DataFrame, SparkSession

Row = Mapping[str, Any]
SHOWN = ("APPEND", "FETCH", "BECOME_LEADER", "ISR_CHANGE", "LOG_START", "WITNESS")
NOT_ROWS = ("isr_shrink_proposed", "isr_change_rejected")
"""Changes the twin tells that commit nothing: a timeline has no row for them."""


def profile(told: History | Story) -> Profile:
    """The engine's profile of a history or story."""
    return profile_for(told.profile.kafka_version, told.profile.protocol_version, told.lag_ms)


def each_by_its_own(profiles: Mapping[str, Profile]) -> Profile:
    """One profile for many clusters, by cluster id: planning a replay costs more than running hundreds of histories."""
    rules = {}
    stages = [one.name for one in fields(Profile) if one.name.startswith("has_")]
    for rule in (one for one in fields(Profile) if one.name not in stages):
        clusters_of = defaultdict(list)
        for cluster_id, spoken in profiles.items():
            clusters_of[getattr(spoken, rule.name)].append(cluster_id)
        chosen, *others = clusters_of
        for value in others:
            chosen = F.when(F.col(C.CLUSTER_ID).isin(clusters_of[value]), F.lit(value)).otherwise(F.lit(chosen))
        rules[rule.name] = chosen
    # Not rules but stages more: all go through them if one must.
    return replace(
        Profile(**rules), **{stage: any(getattr(spoken, stage) for spoken in profiles.values()) for stage in stages}
    )


def landed_from(spark: SparkSession, landing: Mapping[str, Sequence[Row]]) -> dict[str, DataFrame]:
    """Landing rows as the tables a replay takes."""
    given = {**landing, FETCH_EVENTS.name: with_unbroken(landing.get(FETCH_EVENTS.name, ()))}
    return {table.name: rows(spark, table, *given.get(table.name, ())) for table in LANDING_TABLES}


def transactions_in(landing: Mapping[str, Sequence[Row]]) -> dict[str, bool]:
    """Whether there are transactions, and some of producers that nothing tells: by the fields of a profile."""
    appends = landing.get("produce_events", ())
    untold = (r for r in appends if r["is_transactional"] is not False and not r["is_control"] and r["producer_id"] < 0)
    return {
        "has_transactions": any(row["is_transactional"] for row in appends),
        "has_untold_transactions": any(row["base_offset"] >= 0 for row in untold),
    }


@contextmanager
def replayed(
    spark: SparkSession, landing: Mapping[str, Sequence[Row]], slots: int, spoken: Profile
) -> Iterator[Timelines]:
    """The timelines of landing rows; what the engine reads twice is kept while they are looked at."""
    landed = landed_from(spark, landing)
    spoken = replace(spoken, **transactions_in(landing))
    with keeping() as keep:
        yield reconstruct(landed, keep(assignments(landed)), slots, spoken, keep)


def in_order(frame: DataFrame) -> list[dict[str, Any]]:
    """The rows of a timeline, or of the truncations, in the order of leader epoch and event, or of time."""
    order = ("leader_epoch", "event_seq" if "event_seq" in frame.columns else "event_time")
    rows = sorted(frame.collect(), key=lambda row: [row[name] for name in order])
    return [row.asDict(recursive=True) for row in rows]


def by_topic(frame: DataFrame) -> dict[str, list[dict[str, Any]]]:
    """The same by topic."""
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in in_order(frame):
        found[row["topic"]].append(row)
    return found


def to_the_millisecond(time: datetime) -> datetime:
    """The twin's clock ticks in milliseconds; the engine adds a share of the time a request was worked on."""
    return time.replace(microsecond=time.microsecond // 1000 * 1000, tzinfo=None)


def _key(row: Row) -> tuple[Any, ...]:
    return row["leader_epoch"], to_the_millisecond(row["event_time"]), row["event_type"], row["replica_id"]


@dataclass
class Disagreement:
    """The first places where a rebuilt leader timeline and the twin differ."""

    of: str
    found: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return "\n".join([self.of, *self.found[:5]])


OFFSETS = ("log_end_offset", "high_watermark", "log_start_offset", "last_stable_offset")


def disagreement(
    name: str, expected: Iterable[Row], rebuilt: Iterable[Row], *, but_for: Sequence[str] = ()
) -> Disagreement | None:
    """What differs between the twin's leader rows and the engine's, `but_for` some columns; None where nothing does.

    No offset may be unknown: of each, some row that landed tells. The log start a leadership begins with is in its
    first response, else in its leader's own lines or in what it stated when it fetched.
    """
    told = {
        _key(row): row
        for row in expected
        if row["event_type"] in SHOWN and row["is_logged"] and row["change_kind"] not in NOT_ROWS
    }
    made = {_key(row): row for row in rebuilt if row["event_type"] in SHOWN}
    different = Disagreement(name)
    for key in sorted(told.keys() | made.keys(), key=str):
        if key not in made or key not in told:
            different.found.append(f"{'missing' if key in told else 'extra'}: {key}")
            continue
        different.found.extend(_values(key, told[key], made[key], but_for))
    return different if different.found else None


def _values(key: tuple[Any, ...], told: Row, made: Row, but_for: Sequence[str]) -> Iterator[str]:
    for column in (*OFFSETS, "remote_log_end_offset", "min_isr", "is_under_min_isr"):
        if column not in but_for and told[column] != made[column]:
            yield f"{key}: {column} is {made[column]}, the twin says {told[column]}"
    for column in ("isr", "maximal_isr"):
        if set(told[column]) != set(made[column] or ()):
            yield f"{key}: {column} is {made[column]}, the twin says {told[column]}"
