"""Functions for SQL: questions of a moment, asked as of a table."""

from __future__ import annotations

from dataclasses import dataclass

from schemas.tables import BROKER_STATEMENTS, REPLICA_TIMELINE


@dataclass(frozen=True)
class Function:
    """A function that gives a table: its name, what one row is, the tables and views it reads, and what makes it."""

    name: str
    comment: str
    of: tuple[str, ...]
    sql: str


STATE_AT = Function(
    "state_at",
    "A replica at a moment, beside what its leader knew then: state_at(TIMESTAMP '2026-11-21 10:37:00').",
    (REPLICA_TIMELINE.name, "leader_states", BROKER_STATEMENTS.name),
    """\
CREATE OR REPLACE TEMPORARY FUNCTION state_at(moment TIMESTAMP)
RETURNS TABLE (
    cluster_id STRING, topic STRING, topic_id STRING, partition INT, replica_id INT, role STRING,
    log_end_offset BIGINT, remote_log_end_offset BIGINT, high_watermark BIGINT, in_isr BOOLEAN, exactness STRING,
    leader_id INT, leader_epoch INT, leader_log_end_offset BIGINT, leader_high_watermark BIGINT, isr ARRAY<INT>)
RETURN
SELECT cluster_id, topic, topic_id, partition, replica_id, role, log_end_offset, remote_log_end_offset, high_watermark,
       in_isr, exactness, leader_id, leader_epoch, leader_log_end_offset, leader_high_watermark, isr
FROM (
    SELECT r.* EXCEPT (leader_epoch), l.leader_id, l.leader_epoch, l.log_end_offset AS leader_log_end_offset,
           l.high_watermark AS leader_high_watermark, l.isr,
           row_number() OVER (
               PARTITION BY r.cluster_id, r.topic, r.topic_id, r.partition, r.replica_id
               ORDER BY r.leader_epoch, r.event_seq) AS place
    FROM replica_timeline r
    LEFT JOIN leader_states l
      ON l.cluster_id = r.cluster_id AND l.topic = r.topic AND l.topic_id = r.topic_id AND l.partition = r.partition
     AND l.valid_from <= moment AND coalesce(moment < l.valid_to, TRUE)
    WHERE r.valid_from <= moment AND coalesce(moment < r.valid_to, TRUE)) s
LEFT ANTI JOIN broker_statements d
  ON d.cluster_id = s.cluster_id AND d.topic = s.topic AND d.topic_id = s.topic_id AND d.partition = s.partition
 AND d.broker_id = s.replica_id AND d.kind = 'log_deleted'
 AND d.event_time BETWEEN s.valid_from AND moment
WHERE place = 1""",
)

FUNCTIONS = (STATE_AT,)
