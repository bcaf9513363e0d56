"""Up to 2.4 a fetch session forgot which leader epoch a fetch names: the leader's own lines tell in which it was."""

from __future__ import annotations

from datetime import datetime

import pytest
from pyspark.sql import SparkSession

from schemas import columns as C
from schemas.kinds import KAFKA_VERSION
from schemas.tables import SETTINGS
from sources.fetch_epochs import with_forgotten_epochs

pytestmark = pytest.mark.spark

EPOCH = 7


@pytest.mark.parametrize(
    ("versions", "in_session"),
    [
        ([], EPOCH),
        ([None], EPOCH),
        (["2.4.1"], C.UNKNOWN_EPOCH),
        (["2.2.0-cp2"], C.UNKNOWN_EPOCH),
        (["5.4.2-ccs"], C.UNKNOWN_EPOCH),
        (["5.5.1-ccs"], EPOCH),
        (["2.5.1"], EPOCH),
        (["2.10.0"], EPOCH),
        (["2.4.1", "2.8.2"], EPOCH),
    ],
)
def test_the_epoch_is_that_which_the_fetch_names_but_in_an_old_session(
    spark: SparkSession, versions: list[str | None], in_session: int
) -> None:
    """The latest version of several counts; a fetch outside a session, or its first, is looked at by all."""
    told = [
        (None if n == 0 else datetime(2026, 1, n + 1), KAFKA_VERSION, version)  # noqa: DTZ001 - order is all
        for n, version in enumerate(versions)
    ]
    settings = spark.createDataFrame(told, "event_time timestamp, name string, value string")
    assert {C.EVENT_TIME, C.NAME, C.VALUE} <= set(SETTINGS.columns)
    fetches = spark.createDataFrame([(-1, EPOCH), (0, EPOCH), (1, EPOCH)], "session_epoch int, leader_epoch int")

    found = with_forgotten_epochs(fetches, settings).collect()

    assert {row.session_epoch: row.leader_epoch for row in found} == {-1: EPOCH, 0: EPOCH, 1: in_session}
