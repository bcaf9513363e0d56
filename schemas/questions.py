"""The report's questions: each an SQL query over tables and views, shown beside its answer."""

from __future__ import annotations

from dataclasses import dataclass

from schemas.tables import INCIDENTS, LEADER_TIMELINE, TRUNCATIONS, Table


@dataclass(frozen=True)
class Question:
    """A section of the report: its title, the query of one cluster (`:cluster`), what to say if there is no row."""

    title: str
    reads: Table
    """The table the query needs, of a view that which it is made of."""
    sql: str
    if_none: str
    note: str = ""


LOST = Question(
    "What was lost",
    INCIDENTS,
    """\
SELECT kind, topic, partition, from_offset, to_offset, to_offset - from_offset AS records, started_at, evidence
FROM incidents
WHERE cluster_id = :cluster AND kind LIKE '%RECORDS_LOST%'
ORDER BY kind, topic, partition, from_offset""",
    "No record was lost that these logs tell of.",
    "Ranges [from, to) that the log of a later elected leader does not hold. Committed: below the highest HW any leader"
    " had reached.",
)
HAPPENED = Question(
    "What happened",
    INCIDENTS,
    """\
SELECT started_at, severity, kind, topic, partition, replica_id, from_offset, to_offset, evidence
FROM incidents
WHERE cluster_id = :cluster AND severity <> 'info'
ORDER BY started_at, topic, partition, kind""",
    "Nothing that calls for attention.",
    "Warnings and worse, in the order of time.",
)
CUTS = Question(
    "Truncations",
    TRUNCATIONS,
    """\
SELECT event_time, topic, partition, replica_id, leader_epoch, from_offset, to_offset, high_watermark_before,
       partition_high_watermark_before, method, is_stated
FROM truncations
WHERE cluster_id = :cluster
ORDER BY event_time, topic, partition, replica_id""",
    "No replica cut its log.",
    "from_offset is the LEO before, to_offset the LEO after.",
)
HELD = Question(
    "Who held the high watermark back",
    LEADER_TIMELINE,
    """\
SELECT started_at, lasted_ms, topic, partition, leader_epoch, high_watermark, log_end_offset, why, waits_for
FROM high_watermark_held
WHERE cluster_id = :cluster AND lasted_ms >= 1000
ORDER BY lasted_ms DESC, topic, partition, started_at""",
    "It never stood below the LEO for a second.",
    "Stretches of a second and more, the longest first; waits_for are the replicas whose fetch it waited for.",
)
IN_SYNC = Question(
    "The ISR",
    INCIDENTS,
    """\
SELECT started_at, ended_at, kind, topic, partition, replica_id, evidence
FROM incidents
WHERE cluster_id = :cluster AND kind IN ('ISR_SHRUNK', 'ISR_EXPANDED', 'UNDER_MIN_ISR', 'NO_LEADER', 'UNCLEAN_ELECTION')
ORDER BY started_at, topic, partition, kind""",
    "No replica left it.",
)
LATENCY = Question(
    "From append to commit",
    LEADER_TIMELINE,
    """\
SELECT topic, partition, minute, appends, not_committed_in_epoch, p50_ms, p95_ms, p99_ms, max_ms
FROM commit_latency
WHERE cluster_id = :cluster
ORDER BY p99_ms DESC NULLS LAST, topic, partition, minute
LIMIT 20""",
    "No append was seen to be committed.",
    "The slowest minutes of the partitions, in milliseconds.",
)

QUESTIONS = (LOST, HAPPENED, CUTS, HELD, IN_SYNC, LATENCY)
"""In the order of the page: the loss ledger first."""
