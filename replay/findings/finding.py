"""Findings: the one shape in which every finder of incidents returns its rows."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from schemas import columns as C
from schemas import tables as T
from schemas.columns import NO_REPLICA, UNKNOWN_OFFSET
from schemas.kinds import IncidentKind, Severity

FOUND = tuple(c for c in T.INCIDENTS.columns if c != C.INCIDENT_ID)


def finding(
    rows: DataFrame,
    kind: IncidentKind | Column,
    severity: Severity | Column,
    evidence: Column,
    *,
    replica_id: Column | None = None,
    offsets: tuple[Column, Column] | None = None,
) -> DataFrame:
    """One row per row of `rows`, which have the partition key, capture_id, leader_epoch, started_at and ended_at.

    Without `offsets` the finding is of no range, and -1 stands for both ends. What ends by the clock of a later leader,
    which may be behind, ends no earlier than it began.
    """
    ended = F.when(F.col(C.ENDED_AT) < F.col(C.STARTED_AT), F.col(C.STARTED_AT)).otherwise(F.col(C.ENDED_AT))
    first, end = offsets or (F.lit(UNKNOWN_OFFSET), F.lit(UNKNOWN_OFFSET))
    values: dict[str, Column] = {
        C.KIND: F.lit(str(kind.value)) if isinstance(kind, IncidentKind) else kind,
        C.SEVERITY: F.lit(str(severity.value)) if isinstance(severity, Severity) else severity,
        C.REPLICA_ID: F.lit(NO_REPLICA) if replica_id is None else replica_id,
        C.FROM_OFFSET: first,
        C.TO_OFFSET: end,
        C.EVIDENCE: evidence,
        C.ENDED_AT: ended,
    }
    return rows.select(*[values.get(c, F.col(c)).cast(c.type).alias(c) for c in FOUND])


def text(pattern: str, *values: Column | str) -> Column:
    """Return `pattern` with each `{}` replaced by a value as SQL writes it; `?` where that is NULL."""
    parts = pattern.split("{}")
    texts = [(F.col(v) if isinstance(v, str) else v).cast("string") for v in values]
    pieces = [F.lit(parts[0])]
    for value, part in zip(texts, parts[1:], strict=True):
        pieces += [F.coalesce(value, F.lit("?")), F.lit(part)]
    return F.concat(*pieces)


def members(replicas: Column | str) -> Column:
    """Return an array of replica ids as words."""
    return F.concat(F.lit("["), F.array_join(F.array_sort(replicas).cast("array<string>"), ", "), F.lit("]"))


def seconds(start: Column, end: Column) -> Column:
    """Return the time between two timestamps as a text like `3.250 s`."""
    lasted = F.unix_micros(end) - F.unix_micros(start)
    # Clocks of two brokers: nothing lasts for less than no time.
    return F.concat(F.format_number(F.when(lasted < 0, 0).otherwise(lasted) / 1_000_000, 3), F.lit(" s"))


def until(start: Column, end: Column) -> Column:
    """Return how long something lasted, as `for 3.250 s`; `still` where it has no end."""
    return F.when(end.isNull(), "still").otherwise(F.concat(F.lit("for "), seconds(start, end)))


def with_id(found: DataFrame) -> DataFrame:
    """One row per finding, of `schemas.tables.INCIDENTS`: its id is a digest of what, where, whose, and when."""
    what = (C.KIND, *C.PARTITION_KEY, C.LEADER_EPOCH, C.REPLICA_ID, C.FROM_OFFSET, C.TO_OFFSET)
    named = [F.coalesce(F.col(c).cast("string"), F.lit("")) for c in what]
    when = F.coalesce(F.unix_micros(C.STARTED_AT).cast("string"), F.lit(""))
    # Neither a client nor a fetch session has a column of its own: the evidence names it.
    named_by_evidence = (IncidentKind.CONSUMER_READ_LOST_RECORDS.value, IncidentKind.FETCH_SESSION_GAP.value)
    whose = F.when(F.col(C.KIND).isin(*named_by_evidence), F.col(C.EVIDENCE))
    digest = F.substring(F.sha2(F.concat_ws("|", *named, when, whose), 256), 1, 32)
    return T.INCIDENTS.conform(found.withColumn(C.INCIDENT_ID, digest))
