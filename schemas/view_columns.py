"""Columns that views alone have, each once: its name, its type and what it means; the others are `schemas.columns`."""

from __future__ import annotations

from pyspark.sql.types import ArrayType, DoubleType, IntegerType, LongType, StringType, TimestampType

from schemas import columns as C
from schemas.columns import Field

_LONG, _DOUBLE, _TEXT, _TIME = LongType(), DoubleType(), StringType(), TimestampType()

# ---- high_watermark_held
LASTED_MS = Field(
    "lasted_ms",
    _LONG,
    "How long it lasted, milliseconds; of one that lasts still, up to the last request in its leader's log, of whichever partition.",
)
WHY = Field("why", _TEXT, "Why the HW stood below the LEO.")
WAITS_FOR = Field(
    "waits_for", ArrayType(IntegerType()), "Replicas that it waited for, ascending; empty where for none."
)

# ---- commits
APPENDED_AT = Field("appended_at", _TIME, "When the records were appended, on the leader's clock.")
COMMITTED_AT = Field("committed_at", _TIME, "When the HW was surely past them; NULL where the leadership ended first.")
LATENCY_MS = Field("latency_ms", _DOUBLE, "From append to commit, milliseconds; NULL where not committed.")
MINUTE = Field("minute", _TIME, "Minute in which the records were appended.")
APPENDS = Field("appends", _LONG, "Appends of the minute.")
NOT_COMMITTED_IN_EPOCH = Field(
    "not_committed_in_epoch", _LONG, "Those of them that the leader did not see committed while it led."
)
P50_MS = Field("p50_ms", _DOUBLE, "Median of the latencies of those that were, milliseconds.")
P95_MS = Field("p95_ms", _DOUBLE, "Their 95th percentile.")
P99_MS = Field("p99_ms", _DOUBLE, "Their 99th percentile.")
MAX_MS = Field("max_ms", _DOUBLE, "The longest of them.")

# ---- exposure
SINGLE_COPY_RECORDS = Field(
    "single_copy_records",
    _LONG,
    "Records that no other replica had, as far as the leader knew: of a partition with one replica all; NULL where none was heard from.",
)
COULD_LOSE = Field(
    "could_lose",
    _LONG,
    "Records past the shortest other ISR member, which may be elected; NULL where none was heard from, or one was not.",
)
WOULD_LOSE = Field(
    "would_lose",
    _LONG,
    "Records past the longest other ISR member; NULL where none was heard from, or there is none: nobody can be elected cleanly then, but from Kafka 4.0 on maybe an eligible replica outside the ISR (KIP-966), of which no table tells.",
)
RECORD_SECONDS = Field(
    "record_seconds",
    _DOUBLE,
    "Records with one copy, times the seconds that they had it; of a row that holds still, up to the last request in its leader's log, NULL without one since.",
)

# ---- isr_flapping
CLUSTERED_BY = Field(
    "clustered_by", _TEXT, "What the row counts: one `follower`, one `leader`, a `pair` of them, or the `cluster`."
)
WHO_LEFT = C.REPLICA_ID.meaning("Replica that left; NULL where the row counts all of them.")
WHOSE_ISR = C.LEADER_ID.meaning("Leader whose ISR it left; NULL where the row counts all of them.")
TIMES_OUT = Field("times_out", _LONG, "How often a replica left the ISR.")
PARTITIONS = Field("partitions", _LONG, "Of how many partitions.")
NOT_BACK = Field("not_back", _LONG, "How often it was not back at the end.")
SECONDS_OUT_MEDIAN = Field("seconds_out_median", _DOUBLE, "For how long it was out: the median, seconds.")
SECONDS_OUT_MAX = Field("seconds_out_max", _DOUBLE, "The longest, seconds.")

# ---- consumer_positions
MAY_READ_TO = Field(
    "may_read_to", _LONG, "The HW, or the LSO of a consumer that reads committed: what it may read ends there."
)
LAG = Field(
    "lag",
    _LONG,
    "Records from the position to there, negative where it is beyond; NULL where the order of the two is not known.",
)
POSITION_IS = Field("position_is", _TEXT, "Where the position lay in the leader's log.")

# ---- sources_found, rejected_shapes
FILES = Field("files", _LONG, "Files of the kind.")
MINUTES_MISSING = Field(
    "minutes_missing",
    _LONG,
    "Minutes between the first line and the last that no file covers, of a kind that is never quiet for long.",
)
LINES = Field("lines", _LONG, "Lines of the shape.")
SHAPE = Field("shape", _TEXT, "The line without its numbers, ids and names of topics, at most 200 characters of it.")
