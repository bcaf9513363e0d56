"""What a fetch session was told last of a partition: the HW of its leader, also where a response omits it."""

from __future__ import annotations

import pytest
from pyspark.sql import Row, SparkSession

from sources.fetch_sessions import fetch_rows
from sources.request_log import parse
from tests.fetches import fetched
from tests.request_lines import ORDERS_ID, fetch, frame, ids_of

pytestmark = pytest.mark.spark


def test_a_response_that_omits_a_partition_tells_that_its_hw_is_the_same(spark: SparkSession) -> None:
    """Until the session is told otherwise: another HW, an error, after which it has to be told anew, or nothing."""
    ids = ids_of(spark, ("orders", ORDERS_ID, None))
    texts = [
        fetch((0, 0), {0: 10, 1: 20}, {0: {"highWatermark": 9}, 1: {"highWatermark": 20}}, response_session=5),
        fetch((5, 1), {0: 11}),
        fetch((5, 2), {0: 12}, {0: {"highWatermark": 11, "recordsSizeInBytes": 0}}, forgotten=[1]),
        fetch((5, 3)),
        fetch((5, 4), {0: 12, 1: 20}, {0: {"highWatermark": -1, "errorCode": 74}}),
        fetch((5, 5), {0: 12}),
    ]

    def told(rows: list[Row]) -> list[tuple[int, int, int]]:
        return [(row.partition, row.session_epoch, row.session_high_watermark) for row in rows]

    whole = [
        (0, 0, 9),
        (1, 0, 20),
        (0, 1, 9),
        (1, 1, 20),
        (0, 2, 11),
        (0, 3, 11),
        (0, 4, -1),
        (1, 4, -1),
        (0, 5, -1),
        (1, 5, -1),
    ]
    assert told(fetched(spark, ids, texts)) == whole
    first = fetch_rows(parse(frame(spark, texts[:3]), "UTC"), ids)
    assert told(fetched(spark, ids, texts[3:], landed=first)) == [it for it in whole if it[1] >= 3]


def test_an_answer_over_a_quota_tells_no_hw(spark: SparkSession) -> None:
    """It lists nothing (`FetchContext.getThrottledResponse`), so it tells nothing; the session remembers."""
    ids = ids_of(spark, ("orders", ORDERS_ID, None))
    texts = [
        fetch((0, 0), {0: 10}, {0: {"highWatermark": 9}}, response_session=5),
        fetch((5, 1), {0: 11}, throttled_ms=2500),
        fetch((5, 2), {0: 12}),
        fetch((5, 3)),
        fetch((5, 4), throttled_ms=1),
    ]
    rows = fetched(spark, ids, texts)

    assert [(row.session_epoch, row.session_high_watermark) for row in rows] == [(0, 9), (1, -1), (2, 9), (4, -1)]
