"""A fetch of a partition that its leader's metadata had lost: read before, or never."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from replay.events.unread import IS_UNREAD, with_unread
from replay.profile import Profile
from schemas.tables import FETCH_EVENTS
from tests.frames import rows
from tests.literal_lines import Row, fetch

pytestmark = pytest.mark.spark

LOST, EMPTY = {"error_code": 3, "records_size": 0, "is_parked": True}, {"records_size": 0, "is_parked": True}


def request(name: str, *partitions: Row) -> list[Row]:
    """The rows of one line: a request of replica 2 that asks for a partition each."""
    first = fetch(name, 0, 2, 14, 14)
    return [{**first, "partition": number, **of} for number, of in enumerate(partitions)]


REQUESTS = (
    # What ended the wait were the other partition's records.
    *request("served", LOST, {"is_parked": True}),
    # Nothing came: it was the deletion of the log, which had been read.
    *request("woken", LOST, EMPTY),
    *request("alone", LOST),
    # Whoever got records was read, whatever became of the rest.
    *request("both", {"is_parked": True}, {"is_parked": True}),
)
BESIDE_ZOOKEEPER = Profile(has_controllers_requests=True)


@pytest.mark.parametrize(("profile", "unread"), [(BESIDE_ZOOKEEPER, [("served", 0)]), (Profile(), [])])
def test_what_waited_for_another_partition_was_never_read(
    spark: SparkSession, profile: Profile, unread: list[tuple[str, int]]
) -> None:
    """Of four requests only that one is told by its records; without ZooKeeper none is looked at."""
    marked = with_unread(rows(spark, FETCH_EVENTS, *REQUESTS), profile)
    found = [(row.topic, row.partition) for row in marked.where(F.col(IS_UNREAD)).collect()]

    assert found == unread
    assert marked.count() == len(REQUESTS)
