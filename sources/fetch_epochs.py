"""Which leader epoch a fetch was served in, where its leader did not look at the one that it names.

A fetch names the epoch that its sender believes in (KIP-320, 2.1), and is served in no other. But up to 2.4 a session
(KIP-227) forgot that of its partitions (`CachedPartition.reqData` has none; mended in 2.5): all but the first fetch of
a session were served in whatever epoch the leader was in. A follower that hears of a new one late goes on in it.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from schemas import columns as C
from sources.cluster_release import FROM_2_1_TO_2_4, is_of_release


def with_forgotten_epochs(fetches: DataFrame, settings: DataFrame) -> DataFrame:
    """Rows of `fetch_events`, without the leader epoch where the latest version in `settings` did not look at it."""
    is_forgotten = (F.col(C.SESSION_EPOCH) > 0) & is_of_release(settings, FROM_2_1_TO_2_4)
    epoch = F.when(is_forgotten, C.UNKNOWN_EPOCH).otherwise(F.col(C.LEADER_EPOCH))
    return fetches.withColumn(C.LEADER_EPOCH, epoch)
