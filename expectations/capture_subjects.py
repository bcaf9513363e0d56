"""What rules of the capture itself speak of: its files, its brokers, its lines, and when it ends."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from expectations.subject import OF_PARTITION, Subject, Tables, nowhere
from replay.clocks.bounds import EARLIER, IS_SURE, LATER, clock_bounds
from schemas import columns as C
from schemas import tables as T
from schemas.columns import Field

FILES = Field("files", C.LONG, "Files of the broker in the capture.")
TIMES = Field("times", C.LONG, "How often the line has landed for this partition.")
LAST_EVENT = Field("last_event", C.TIME, "Time of the cluster's last event, or of the last line of any of its files.")
_TELL_REPLICAS = (T.LEADER_CHANGES, T.METADATA_CHANGES)


def read_files(tables: Tables) -> DataFrame:
    """One row per file that was read; the file itself is the source."""
    return tables[T.SOURCE_FILES.name].withColumn(C.SOURCE_LINE, F.lit(None).cast(C.LONG))


def brokers(tables: Tables) -> DataFrame:
    """One row per broker that is a replica of a partition by any line, and how many files of it were read."""
    broker = [str(C.CLUSTER_ID), str(C.BROKER_ID)]
    told = [
        tables[table.name].select(C.CLUSTER_ID, F.explode(C.REPLICAS).alias(C.BROKER_ID)) for table in _TELL_REPLICAS
    ]
    named = told[0].unionByName(told[1]).where(F.col(C.BROKER_ID) >= 0).distinct()
    read = _files_of_brokers(tables[T.SOURCE_FILES.name]).groupBy(*broker).agg(F.count(F.lit(1)).alias(FILES))
    known = named.join(read, broker, "left").withColumn(FILES, F.coalesce(FILES, F.lit(0)))
    return known.withColumns({str(C.CAPTURE_ID): F.lit(None).cast(C.TEXT), **nowhere()})


def _files_of_brokers(files: DataFrame) -> DataFrame:
    """One row per file and broker whose lines it has: a log of all of them is of no single one."""
    whose = F.array_union(F.array(C.BROKER_ID), F.coalesce(C.BROKERS, F.expr(C.NOBODY)))
    return files.select(C.CLUSTER_ID, F.explode(whose).alias(C.BROKER_ID)).where(F.col(C.BROKER_ID) >= 0)


def landed_lines(tables: Tables) -> DataFrame:
    """One row per line and partition that an append or a fetch was read from, and how often it landed.

    One request may end the transactions of several producers: a row of each.
    """
    of_line = (*C.PARTITION_KEY, *C.LINE)
    appends = tables[T.PRODUCE_EVENTS.name].select(*of_line, C.PRODUCER_ID)
    asked = tables[T.FETCH_EVENTS.name].select(*of_line, F.lit(None).alias(C.PRODUCER_ID))
    # By line at once: else all requests are shuffled by line and producer, and then again.
    of_lines = appends.unionByName(asked).repartition(*map(F.col, of_line))
    of_producers = of_lines.groupBy(*of_line, C.PRODUCER_ID).agg(F.count(F.lit(1)).alias("rows"))
    return of_producers.groupBy(*of_line).agg(F.max("rows").alias(TIMES))


def clocks(tables: Tables) -> DataFrame:
    """One row per two brokers of whose clocks it is sure by how much the one is ahead of the other at least."""
    sure = clock_bounds(tables).where(IS_SURE)
    return sure.withColumns({str(C.CAPTURE_ID): F.lit(""), **nowhere()})


def last_events(tables: Tables) -> DataFrame:
    """One row: the time of the last event of any leader, or of the last line of any file; brokers may be idle.

    Not by broker: of one that leads nothing no line may come for days.
    """
    events = tables[T.LEADER_TIMELINE.name].select(C.CLUSTER_ID, F.col(C.EVENT_TIME).alias(LAST_EVENT))
    lines = tables[T.SOURCE_FILES.name].select(C.CLUSTER_ID, F.col(C.LAST_AT).alias(LAST_EVENT))
    last = events.unionByName(lines).groupBy(C.CLUSTER_ID).agg(F.max(LAST_EVENT).alias(LAST_EVENT))
    return last.withColumns({str(C.CAPTURE_ID): F.lit(""), **nowhere()})


READ_FILES = Subject("read_files", T.SOURCE_FILES, (C.SOURCE_FILE, C.KIND), read_files, is_of_partition=False)
BROKERS = Subject(
    "brokers", T.SOURCE_FILES, (C.BROKER_ID,), brokers, beside=_TELL_REPLICAS, may_be_empty=True, is_of_partition=False
)
CLOCKS = Subject(
    "clocks", T.LEADER_CHANGES, (EARLIER, LATER), clocks,
    beside=(T.FETCH_EVENTS, T.METADATA_CHANGES, T.BROKER_STATEMENTS), may_be_empty=True, is_of_partition=False,
)  # fmt: skip
LANDED_LINES = Subject(
    "landed_lines", T.PRODUCE_EVENTS, (*OF_PARTITION, *C.LINE), landed_lines,
    beside=(T.FETCH_EVENTS,), may_be_empty=True,
)  # fmt: skip
LAST_EVENTS = Subject(
    "last_events", T.LEADER_TIMELINE, (C.CLUSTER_ID,), last_events, beside=(T.SOURCE_FILES,), is_of_partition=False
)
