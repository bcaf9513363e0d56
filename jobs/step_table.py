"""A partition's timeline as the table of a worked example: an event a line, who knew what after it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from pyspark.sql import DataFrame, Row, Window
from pyspark.sql import functions as F

from replay.windows import FIRST, LAST
from schemas import columns as C

AT = "at"
"""string: date and time of an event as they are shown, by Spark: Python would show them in this machine's zone."""
DATE = len("2026-11-21 ")
"""Characters of it that are the date."""

BORN = "born"
"""timestamp: that of a topic id's first event."""

HEAD = ("seq", "time (UTC)", "event", "of", "LEO", "remote LEO", "ISR", "HW", str(C.EXACTNESS), "line")


def step_rows(events: DataFrame, most: int) -> tuple[list[Row], bool]:
    """The first events of a leader timeline in order, and whether there are more; one topic id after the other."""
    of_topic_id = Window.partitionBy(C.TOPIC_ID).rowsBetween(FIRST, LAST)
    born = F.min(C.EVENT_TIME).over(of_topic_id)
    in_order = timed(events).withColumn(BORN, born).orderBy(BORN, C.TOPIC_ID, *C.TIMELINE_ORDER)
    rows = in_order.limit(most + 1).collect()
    return rows[:most], len(rows) > most


def by_topic_id(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """The rows, in order, of each topic id: each began again at epoch 0."""
    return {topic_id: list(steps) for topic_id, steps in groupby(rows, key=lambda row: row[C.TOPIC_ID])}


def timed(events: DataFrame) -> DataFrame:
    """The events of a leader timeline with `at`."""
    return events.withColumn(AT, F.date_format(C.EVENT_TIME, "yyyy-MM-dd HH:mm:ss.SSS"))


def lines_of(rows: Sequence[Row]) -> list[Sequence[str]]:
    """The rows, `timed`, as texts, under `HEAD`; with their dates where these are several."""
    are_of_one_day = len({row[AT][:DATE] for row in rows}) == 1
    return [_line(row, row[AT][DATE:] if are_of_one_day else row[AT]) for row in rows]


def _line(row: Row, at: str) -> Sequence[str]:
    remote = row[C.REMOTE_LEO_MAP] or {}
    joining = set(row[C.MAXIMAL_ISR] or ()) - set(row[C.ISR] or ())
    isr = " ".join(str(replica) for replica in row[C.ISR] or ()) or "?"
    return (
        f"{row[C.LEADER_EPOCH]}/{row[C.EVENT_SEQ]}",
        at,
        row[C.EVENT_TYPE],
        "" if row[C.REPLICA_ID] < 0 else str(row[C.REPLICA_ID]),
        f"{row[C.LEADER_ID]}:{_offset(row[C.LOG_END_OFFSET])}",
        " ".join(f"{replica}:{_offset(leo)}" for replica, leo in sorted(remote.items())),
        isr + "".join(f" +{replica}" for replica in sorted(joining)),
        _offset(row[C.HIGH_WATERMARK]),
        row[C.EXACTNESS],
        f"{row[C.SOURCE_FILE]}:{row[C.SOURCE_LINE]}" if row[C.SOURCE_FILE] else "",
    )


def _offset(offset: int) -> str:
    return "?" if offset < 0 else str(offset)
