"""Up to 2.3 the line of a proposed ISR tells that it was committed, unless the next one says that it was refused."""

from __future__ import annotations

from datetime import datetime

import pytest
from pyspark.sql import SparkSession

from schemas.kinds import KAFKA_VERSION
from schemas.kinds import ChangeKind as K
from sources.isr_commits import with_isr_commits

pytestmark = pytest.mark.spark

CHANGES = [
    # broker, partition, second, line, kind
    (1, 0, 1, 10, K.ISR_SHRINK_PROPOSED),
    (1, 1, 1, 11, K.ISR_SHRINK_PROPOSED),  # refused: of another partition are the lines between
    (1, 0, 2, 12, K.ISR_EXPAND_PROPOSED),
    (1, 1, 2, 13, K.ISR_CHANGE_REJECTED),
    (1, 1, 3, 14, K.BECOME_LEADER),
    (1, 1, 4, 15, K.ISR_EXPAND_PROPOSED),  # after it, and refused by nobody
    (2, 1, 5, 16, K.ISR_CHANGE_REJECTED),  # another broker's
]
PROPOSED = [kind for *_, kind in CHANGES]
COMMITTED = [
    K.ISR_UPDATED, K.ISR_SHRINK_PROPOSED, K.ISR_UPDATED, K.ISR_CHANGE_REJECTED, K.BECOME_LEADER, K.ISR_UPDATED,
    K.ISR_CHANGE_REJECTED,
]  # fmt: skip


@pytest.mark.parametrize(
    ("versions", "kinds"),
    [
        ([], PROPOSED),
        (["2.4.0"], PROPOSED),
        (["4.1.0"], PROPOSED),
        (["5.4.0-ccs"], PROPOSED),
        (["2.3.1"], COMMITTED),
        (["0.11.0.3"], COMMITTED),
        (["1.1.1-cp1"], COMMITTED),
        (["5.3.1-ccs"], COMMITTED),
        (["2.3.1", "2.4.1"], PROPOSED),
    ],
)
def test_a_proposal_is_the_commit_up_to_2_3(spark: SparkSession, versions: list[str], kinds: list[K]) -> None:
    """By the latest version that some broker tells; in the order of the lines, each broker's by itself."""
    told = [(datetime(2026, 1, n + 1), KAFKA_VERSION, version) for n, version in enumerate(versions)]  # noqa: DTZ001
    settings = spark.createDataFrame(told, "event_time timestamp, name string, value string")
    rows = [(b, "orders", p, datetime(2026, 1, 1, 0, 0, s), "server.log", n, k.value) for b, p, s, n, k in CHANGES]  # noqa: DTZ001
    schema = "broker_id int, topic string, partition int, event_time timestamp, source_file string, source_line long"
    changes = spark.createDataFrame(rows, f"{schema}, change_kind string")

    found = with_isr_commits(changes, settings)

    assert found.columns == changes.columns
    assert [row.change_kind for row in found.orderBy("source_line").collect()] == [kind.value for kind in kinds]
