"""`sources_found` on literal files: the minutes that no file of a log covers."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from replay.views.sources_found import sources_found
from schemas import tables as T
from tests.checked_rows import Given, at
from tests.frames import rows

pytestmark = pytest.mark.spark


def test_minutes_that_no_file_covers(spark: SparkSession) -> None:
    """A gap in a file is none where another file of the broker has lines: rotated files are one log.

    The minute after a file's last one is not missing; and a log may be quiet for as long as its broker may write none.
    """

    def file(
        name: str, begin: int, end: int, *gaps: tuple[int, int], broker: int = 1, kind: str = "request_log"
    ) -> Given:
        return {
            "cluster_id": "c", "kind": kind, "broker_id": broker, "source_file": name, "lines_read": 5,
            "first_at": at(60 * begin), "last_at": at(60 * end),
            "gaps": [{"from": at(60 * first), "to": at(60 * last)} for first, last in gaps],
        }  # fmt: skip

    untimed = {**file("empty", 0, 0, broker=3), "first_at": None, "last_at": None, "gaps": None}
    files = [file("a", 0, 120, (30, 90), (100, 110)), file("b", 30, 90), file("c", 150, 160, broker=2), untimed]
    files += [file("d", 170, 180, broker=2)]
    files += [file("rotated", 0, 6, broker=4), file("on", 7, 9, broker=4), file("after_a_quiet_one", 11, 12, broker=4)]
    for broker, kind in ((5, "state_change_log"), (6, "server_log")):
        files += [file("quiet", 0, 1, broker=broker, kind=kind), file("again", 121, 122, broker=broker, kind=kind)]
    files += [file("silent", 243, 250, broker=6, kind="server_log")]
    found = sources_found(rows(spark, T.SOURCE_FILES, *files)).collect()

    assert {row["broker_id"]: row["minutes_missing"] for row in found} == {1: 9, 2: 9, 3: 0, 4: 0, 5: 0, 6: 120}
