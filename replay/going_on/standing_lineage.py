"""What tells whose records a log holds, which transactions ask for (`replay.states.lineage`), of requests long ago.

A leader's log is that of the leadership that it fetched from last, if that had come as far by then. So of each epoch
each follower's last fetch stands, and each append with which a log came as far as some leader's was at its election.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from replay.events.leaderships import STATED_LEO, leaderships, roles_with_loads
from replay.going_on.standing import ends_of_epochs, last_fetches, standing_fetches
from schemas import columns as C

_ELECTED_AT, _ELECTIONS = "elected_at", "elections"


def standing_fetches_of_epochs(fetches: DataFrame) -> DataFrame:
    """One row per fetch that was the last of its kind in a leader epoch: as `standing.standing_fetches`."""
    # One that waited was accepted in the epoch that it names, or was in the leader's (`Profile.fetches_state_epoch`).
    epochs = (F.col(C.CURRENT_LEADER_EPOCH), F.col(C.LEADER_EPOCH))
    return standing_fetches(last_fetches(fetches, *epochs)).distinct()


def ends_between_elections(appends: DataFrame, landed: Mapping[str, DataFrame]) -> DataFrame:
    """One row per epoch of a leader and part of its log between two elections: as `standing.ends_of_epochs`.

    `landed` tells of the elections.
    """
    stated = leaderships(roles_with_loads(landed)).select(*C.PARTITION_KEY, F.col(STATED_LEO).alias("at"))
    # Where no line states the LEO of the election its first append does.
    first = ends_of_epochs(appends).select(*C.PARTITION_KEY, F.col("first").alias("at"))
    elected = stated.unionByName(first).groupBy(*C.PARTITION_KEY).agg(F.collect_set("at").alias(_ELECTED_AT))
    known = appends.join(F.broadcast(elected), C.on_partition(), "left")
    below = F.size(F.filter(_ELECTED_AT, lambda at: at <= F.col(C.BASE_OFFSET)))
    return ends_of_epochs(known, below.alias(_ELECTIONS))
