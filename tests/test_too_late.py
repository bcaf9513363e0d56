"""A response that a frozen leader builds when its follower leads already: nobody waits for it any more."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from tests.engine import by_topic, profile, replayed
from tests.story import tell
from tests.twin.histories import combined

pytestmark = pytest.mark.spark

STORY = """# 1 is frozen with two fetches parked; 2 is elected. 1 thaws, and answers with the HW that 3's fetch made.
kafka 4.1.0, protocol 4.1
1 leads epoch 0, replicas 1 2 3, isr 1 2 3 | 1:0  2:?  3:?  hw 0
append 3                                   | 1:3  2:?  3:?  hw 0
2 fetches at 3, at once                    | 1:3  2:3  3:?  hw 0
3 fetches at 3, at once                    | 1:3  2:3  3:3  hw 3
append 4                                   | 1:7  2:3  3:3  hw 3
3 fetches at 3                             | 1:7  2:3  3:3  hw 3
2 fetches at 3                             | 1:7  2:3  3:3  hw 3  replica 2: leo 7 hw 3
2 fetches at 7, parked                     | 1:7  2:7  3:3  hw 3
3 fetches at 7, parked                     | 1:7  2:7  3:7  hw 7
2 is elected epoch 1, 1 not told           | 2:7  1:?  3:?  hw 3
time +{wait} ms                            | 2:7  1:?  3:?  hw 3
response to 2                              | 2:7  1:?  3:?  hw 3
append 1                                   | 2:8  1:?  3:?  hw 3
"""


@pytest.mark.parametrize(("wait", "last"), [(400, (3, 7, "bounded")), (20, (7, 7, "exact"))], ids=["late", "near"])
def test_what_is_answered_too_late_may_not_have_come(
    spark: SparkSession, wait: int, last: tuple[int, int, str]
) -> None:
    """Two brokers' clocks tell it where they are far enough apart; nearer, the answer is taken for one that came."""
    story = tell("thawed", STORY.format(wait=wait))
    assert story.disputes == []
    with replayed(spark, combined([story]), 3, profile(story)) as timelines:
        (found,) = by_topic(timelines.replica_timeline).values()

    of_2 = [row for row in found if row["replica_id"] == 2 and row["leader_epoch"] == 0]
    assert [(row["high_watermark_low"], row["high_watermark_high"], row["exactness"]) for row in of_2][-1] == last
