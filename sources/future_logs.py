"""Lines about a future log: the copy that a broker makes of a replica on another of its disks (KIP-113).

Of it `Partition.createLog` says "Log loaded", and `UnifiedLog` that it was cut or rolled, in the very words they have
for the replica itself. A line that has a directory is of the log that lies there; a load is of the one just created,
or, where a process starts with a copy half made, of the replica first and then of the copy
(`ReplicaManager.maybeAddLogDirFetchers`).
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from schemas import columns as C
from sources import outcomes
from sources.line_patterns_of_server_log import (
    FUTURE_LOG_CREATED,
    FUTURE_LOG_IN_PLACE,
    FUTURE_LOG_LOADED,
    HW_LOADED,
    OF_FUTURE_LOG,
)
from sources.log_lines import MESSAGE
from sources.worded import WORDING, number, text

LOG_DIRECTORY = r"^\[\w+ partition=\S+, dir=([^\]]*)\] "
MARKS = (FUTURE_LOG_CREATED, FUTURE_LOG_LOADED, FUTURE_LOG_IN_PLACE)


def without_future_logs(parsed: DataFrame) -> DataFrame:
    """The lines as `broker_log.parse` gives them, those about future logs ignored."""
    name = F.coalesce(F.col(WORDING)["name"], F.lit(""))
    is_concerned = name.isin(*MARKS, HW_LOADED) | F.col(MESSAGE).rlike(LOG_DIRECTORY)
    of_log = {"name": name, "its_topic": text("topic"), "its_partition": number("partition")}
    same_log = Window.partitionBy(C.BROKER_ID, "its_topic", "its_partition").orderBy(C.EVENT_TIME, *outcomes.LINE_KEY)
    so_far = same_log.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    told = (
        parsed.where(is_concerned)
        .withColumns(of_log)
        .withColumn("loads", F.count_if(F.col("name") == HW_LOADED).over(so_far))
        .withColumn("mark", F.last(_mark(), ignorenulls=True).over(so_far))
    )
    ignored = outcomes.ignored(OF_FUTURE_LOG)
    kept = F.struct(outcomes.OUTCOME, C.REASON)
    judged = outcomes.with_outcome(told, F.when(F.coalesce(_is_of_future(), F.lit(False)), ignored).otherwise(kept))
    return judged.select(*parsed.columns).unionByName(parsed.where(~is_concerned))


def _mark() -> Column:
    """What a line tells of the copy: that it is there, in which directory, after how many loads; or that it is none."""
    mark = F.struct("name", text("directory").alias("directory"), "loads")
    return F.when(F.col("name").isin(*MARKS), mark)


def _is_of_future() -> Column:
    """Whether a line is about the copy that is being made; NULL where none is."""
    name, mark = F.col("name"), F.col("mark")
    since = F.col("loads") - mark["loads"]
    which = F.when(mark["name"] == FUTURE_LOG_CREATED, 1).when(mark["name"] == FUTURE_LOG_LOADED, 2)
    directory = F.regexp_extract(MESSAGE, LOG_DIRECTORY, 1)
    return F.when(name == HW_LOADED, since == which).otherwise(directory == mark["directory"])
