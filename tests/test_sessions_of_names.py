"""A fetch session before KIP-516 goes by topic names, after it by ids: it matters where a topic is created anew."""

from __future__ import annotations

from datetime import timedelta

import pytest
from pyspark.sql import SparkSession

from sources.fetch_sessions import fetch_rows
from sources.request_log import parse
from tests.request_lines import ORDERS_ID, START, fetch, frame, ids_of

ANEW = "Bq3Zb1xkQbO0cY1WJ8nN5w"
"""The id of `orders` from 20 ms on."""
TEXTS = [
    fetch((0, 0), {0: 10}, response_session=5, at=15),
    fetch((5, 1), {0: 0}, at=40),
    fetch((5, 2), forgotten=[0], at=60),
]
BY_NAME = [text.replace(f'"topicId":"{ORDERS_ID}"', '"topic":"orders"') for text in TEXTS]
BY_ID = [TEXTS[0], *[text.replace(ORDERS_ID, ANEW) for text in TEXTS[1:]]]
LISTED = {(ORDERS_ID, 0, 10, False), (ANEW, 1, 0, False)}


@pytest.mark.spark
@pytest.mark.parametrize(
    ("texts", "expected"),
    [(BY_NAME, LISTED), (BY_ID, LISTED | {(ORDERS_ID, 2, 10, True)})],
    ids=["by name", "by id"],
)
def test_a_topic_created_anew_takes_the_place_of_the_one_before_it(
    spark: SparkSession, texts: list[str], expected: set[tuple[str, int, int, bool]]
) -> None:
    """A session of names has one `orders`; one of ids has both, until it forgets the first."""
    created = [("orders", ORDERS_ID, START), ("orders", ANEW, START + timedelta(milliseconds=20))]
    ids = ids_of(spark, *created)

    rows = fetch_rows(parse(frame(spark, texts), "UTC"), ids).collect()

    assert {(row.topic_id, row.session_epoch, row.fetch_offset, row.is_implied) for row in rows} == expected
