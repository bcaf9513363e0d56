"""The plain job in DuckDB: the order given by the clock, the committed ISR alone, no evidence weighed."""

from __future__ import annotations

from collections.abc import Iterator
from tempfile import TemporaryDirectory

import duckdb
import pyarrow as pa

from bench.wide import LEADERS, REPLICAS

THREADS = 2
BATCH = 1 << 17
EVENTS = """
WITH roles AS (
    SELECT c.partition, c.leader_epoch, c.event_time, c.change_kind, c.leader_id, c.isr, list_sort(c.replicas) AS slots,
        s.leo, s.hw
    FROM read_parquet({leader_changes}) c
    LEFT JOIN (SELECT partition, leader_epoch,
            max("offset") FILTER (kind = 'became_leader_log_end_offset') AS leo,
            max("offset") FILTER (kind = 'became_leader_high_watermark') AS hw
        FROM read_parquet({broker_statements}) GROUP BY ALL) s USING (partition, leader_epoch)
    WHERE c.change_kind IN ('become_leader', 'isr_updated')
),
leaders AS (
    SELECT partition, leader_epoch, slots, list_position(slots, leader_id) AS leader, leo AS start_leo, hw AS start_hw
    FROM roles WHERE change_kind = 'become_leader'
),
happened AS (
    SELECT partition, leader_epoch, event_time, 0 AS kind, -1 AS replica_id, last_offset + 1 AS leo, NULL AS asked,
        NULL AS told, NULL::INT[] AS isr
    FROM read_parquet({produce_events}) WHERE base_offset >= 0
    UNION ALL
    SELECT partition, leader_epoch, event_time, 1, replica_id, NULL, fetch_offset, response_high_watermark, NULL
    FROM read_parquet({fetch_events}) WHERE diverging_epoch < 0 AND error_code = 0 AND replica_id >= 0
    UNION ALL
    SELECT partition, leader_epoch, event_time, CASE change_kind WHEN 'become_leader' THEN 2 ELSE 3 END, -1, NULL, NULL,
        NULL, isr
    FROM roles
)
SELECT h.*, l.slots, l.leader, l.start_leo, l.start_hw, list_position(l.slots, h.replica_id) AS slot
FROM happened h JOIN leaders l USING (partition, leader_epoch)
"""

STATES_OF_REPLICAS = """
SELECT partition, slots[leader] AS replica_id, leader_epoch, event_time, log_end AS leo, hw FROM states
UNION ALL
SELECT partition, replica_id, leader_epoch, event_time, coalesce(next_asked, asked),
    least(told, coalesce(next_asked, asked))
FROM states WHERE kind = 1
"""


def _states(slots: int) -> str:
    """The query of what a leader knew after each event."""
    known = ", ".join(
        f"last_value(CASE WHEN kind = 2 THEN -1 WHEN slot = {i} THEN asked END IGNORE NULLS) OVER place AS leo_{i}"
        for i in range(1, slots + 1)
    )
    held = ", ".join(
        f"CASE WHEN leader <> {i} AND list_contains(in_sync, slots[{i}]) THEN leo_{i} ELSE log_end END"
        for i in range(1, slots + 1)
    )
    return f"""
WITH events AS ({EVENTS}),
carried AS (
    SELECT *, greatest(start_leo, max(leo) OVER place) AS log_end, {known},
        last_value(isr IGNORE NULLS) OVER place AS in_sync,
        lead(asked) OVER (PARTITION BY partition, leader_epoch, replica_id ORDER BY event_time) AS next_asked
    FROM events WINDOW place AS (PARTITION BY partition, leader_epoch ORDER BY event_time ROWS UNBOUNDED PRECEDING)
)
SELECT *, greatest(start_hw, max(least(log_end, {held})) OVER (
    PARTITION BY partition, leader_epoch ORDER BY event_time ROWS UNBOUNDED PRECEDING)) AS hw
FROM carried
"""


def timelines(files: dict[str, list[str]], slots: int) -> Iterator[tuple[str, pa.RecordBatchReader]]:
    """Both timelines, one after the other."""
    leos = ", ".join(f"leo_{i}" for i in range(1, slots + 1))
    with TemporaryDirectory() as spilled, duckdb.connect() as db:
        db.execute(f"SET threads = {THREADS}")
        db.execute(f"SET temp_directory = '{spilled}'")
        db.execute(f"CREATE TEMP TABLE states AS {_states(slots).format(**files)}")
        leaders = f"partition, leader_epoch, event_time, kind, leader, replica_id, log_end, {leos}, in_sync, hw"
        yield LEADERS, db.sql(f"SELECT {leaders} FROM states").to_arrow_reader(BATCH)
        yield REPLICAS, db.sql(STATES_OF_REPLICAS).to_arrow_reader(BATCH)
