"""One step of the fold over a partition's history: each replica's own HW and log start after a leadership or a restart.

Source: `Partition.makeLeader` and `makeFollower` keep both; a restart reloads the HW from the checkpoint (P:488
createLog). Runs inside Spark's `aggregate`: columns in, columns out.
"""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from replay import names as N
from replay.events.leaderships import LOADED_AT_US, LOADED_HW, START_US, STATED_HW
from replay.states.log_starts import LAST_LOG_START, OF_FOLLOWERS, log_start_before
from replay.states.settled import SETTLED_HW, SETTLED_IS_STATED, SETTLED_LOG_START
from schemas.columns import UNKNOWN_OFFSET

ENDED_US, HEARD = "ended_us", "heard"
"""bigint: when a leadership ended; array, by slot: HW and time of the last response that each follower took in it."""
OWN = "struct<hw:bigint,us:bigint,is_stated:boolean,log_start:bigint>"
"""What a replica has: its HW, since when, whether that is a broker's word, and where its log starts."""
START = "struct<hw:bigint,is_stated:boolean,is_reloaded:boolean,log_start:bigint>"
"""What a leadership begins with."""


def next_state(so_far: Column, step: Column) -> Column:
    """Return the vector after a leadership or a restart, with the leadership's start appended to `starts`."""
    leader = step[N.LEADER_SLOT]
    start = start_of(F.when(leader >= 0, F.get(so_far["own"], leader)), step)
    rises = step[N.RISEN_TO] >= start["hw"]
    ended = _own(
        F.greatest(start["hw"], step[N.RISEN_TO]),
        step[ENDED_US],
        start["is_stated"] & ~F.coalesce(rises, F.lit(True)),
        F.greatest(start["log_start"], step[LAST_LOG_START]),
    )

    def after(own: Column, slot: Column) -> Column:
        heard = F.get(step[HEARD], slot)
        log_start = F.coalesce(F.get(step[OF_FOLLOWERS], slot), own["log_start"])
        told = _own(heard["hw"], heard["us"], F.lit(False), log_start)
        is_later = F.coalesce(step[START_US] > own["us"], F.lit(True))
        loaded = F.when(
            (slot == step[N.SLOT]) & is_later, _own(step[LOADED_HW], step[START_US], F.lit(True), own["log_start"])
        )
        kept = F.coalesce(loaded, own)
        # Its fetch states where its log starts, whether or not it ever took an answer.
        asked = _own(kept["hw"], kept["us"], kept["is_stated"], log_start)
        return F.when(slot == leader, ended).when(heard.isNotNull(), told).otherwise(asked)

    return F.struct(
        F.transform(so_far["own"], after).alias("own"), F.concat(so_far["starts"], F.array(start)).alias("starts")
    )


def _own(hw: Column, us: Column, is_stated: Column, log_start: Column) -> Column:
    return F.struct(hw.alias("hw"), us.alias("us"), is_stated.alias("is_stated"), log_start.alias("log_start"))


def start_of(own: Column, leadership: Column) -> Column:
    """Return the leadership's start: carried over, reloaded, or what its line states; within its log.

    Which responses a follower took no leader's log shows: some were dropped (`AbstractFetcherThread`, 349), some were
    never logged as their leader died. Where the line of the election says another HW, it is the evidence.
    """
    carried, stated = own["hw"], leadership[STATED_HW]
    # Since it loaded its log it may have followed, of which old lines tell nothing: what it was told then is newer.
    has_followed = stated.isNull() & F.coalesce(own["us"] > leadership[LOADED_AT_US], F.lit(False))
    is_reloaded = leadership[LOADED_HW].isNotNull() & ~has_followed
    rebuilt = F.when(is_reloaded, leadership[LOADED_HW]).otherwise(carried)
    begin = leadership[N.EPOCH_START]
    value = F.coalesce(stated, rebuilt, F.when(begin == 0, F.lit(0)), F.lit(UNKNOWN_OFFSET))
    is_rebuilt = ~is_reloaded & (value == carried) & ~own["is_stated"]
    log_start = log_start_before(own["log_start"], leadership, begin)
    in_log = F.when(value >= 0, F.greatest(value, log_start)).otherwise(value)
    hw = F.when(begin >= 0, F.least(in_log, begin)).otherwise(in_log).cast("bigint")
    is_stated = F.coalesce(begin != 0, F.lit(True)) & ~F.coalesce(is_rebuilt, F.lit(False))
    return F.struct(
        F.coalesce(leadership[SETTLED_HW], hw).alias("hw"),
        F.coalesce(leadership[SETTLED_IS_STATED], is_stated).alias("is_stated"),
        is_reloaded.alias("is_reloaded"),
        F.coalesce(leadership[SETTLED_LOG_START], log_start).alias("log_start"),
    )
