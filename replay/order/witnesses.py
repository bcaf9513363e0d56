"""What requests prove of others that no line tells of: a request in flight when its broker was killed, a lost append.

An acks=all success proves the HW past its last record: where no logged event explains that, a WITNESS bears its fruit.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from replay import names as N
from replay.event_types import event, is_event
from replay.events.acceptance import DIVERGED
from replay.names import NS_PER_US
from replay.order.clock import CLOCK_ERROR_US
from replay.order.throughout import throughout
from replay.profile import Profile
from schemas import columns as C
from schemas.columns import ALL_ACKS, NO_BOUND
from schemas.kinds import EventType

LATE_US = 100_000
"""So long after a response no rise of the HW is what it waited for, whatever the clock of lines is off by."""


def with_witnesses(known: DataFrame, slots: int, profile: Profile) -> DataFrame:
    """Return the events, and a WITNESS at the response of each acks=all success that no logged event explains.

    It brings along the members of every ISR from the append to the response: it proves the remote LEOs of these.
    """
    is_open = is_event(N.OPEN_APPEND)
    own = F.when(is_open, event(EventType.APPEND)).otherwise(F.col(N.EVENT))
    steps = F.when(_is_unexplained(), F.array(own, event(EventType.WITNESS))).otherwise(F.array(own))
    rows = known.withColumn("step", F.explode(steps))
    # An ISR change is written down somewhat later than it is made.
    answered_ns = (F.col(N.RESPONSE_US) + CLOCK_ERROR_US) * NS_PER_US
    witness = is_event(EventType.WITNESS, of=F.col("step"))
    # What a leader appended last before its process ended it may not have logged: its log was found longer.
    found = F.when(is_event(EventType.RESTART), F.col(C.LAST_OFFSET) + 1)
    follows = F.when(F.col(C.LOG_END_OFFSET) >= 0, F.coalesce(found, F.col("next_append")["base"]))
    # Carried on until an append follows: of one that is open, and no repeat, nothing says how far it came.
    is_at_end = F.col(C.LOG_END_OFFSET) <= F.col(C.LAST_OFFSET) + 1
    grown_to = F.coalesce(follows, F.when(is_open & is_at_end, NO_BOUND))
    return rows.withColumns(
        {
            N.EVENT: F.col("step"),
            C.LAST_OFFSET: F.when(_proves_append(), F.col(C.FETCH_OFFSET) - 1).otherwise(F.col(C.LAST_OFFSET)),
            N.MAY_HAVE_GROWN_TO: grown_to,
            N.NEW_ISR_MASK: F.when(witness, throughout(answered_ns, slots, profile)).otherwise(F.col(N.NEW_ISR_MASK)),
            N.ORDER_NS: F.coalesce(F.when(witness, F.col(N.RESPONSE_US) * NS_PER_US), N.ORDER_NS),
        }
    )


def _is_unexplained() -> Column:
    """Return whether the event is an append of which acks=all was answered, and nothing logged raised the HW so far.

    Nothing of the leader's tenure ever does, or the next that raises it at all comes long after the response.
    """
    proven, rise = F.col(C.LAST_OFFSET) + 1, F.col("next_rise")
    is_late = rise["ns"] > (F.col(N.RESPONSE_US) + LATE_US + rise["local_us"]) * NS_PER_US
    never = proven > F.col("highest")
    too_late = (proven > F.col(C.HIGH_WATERMARK)) & F.coalesce(is_late, F.lit(False))
    is_answered = (F.col(C.ACKS) == ALL_ACKS) & (F.col(C.ERROR_CODE) == 0)
    return F.coalesce(is_answered & (never | too_late), F.lit(False))


def _proves_append() -> Column:
    """Return whether a fetch was accepted though it lies beyond the log: its leader's log reached there.

    The leader was killed before it answered the producer, and what it appended was truncated, in no log, in no dump. Or
    the line of an append is lost. Or several came just before the fetch, and the clock has them after it.
    """
    return F.coalesce(is_event(EventType.FETCH) & is_beyond_log(), F.lit(False))


def is_beyond_log() -> Column:
    """Return whether the event asks for more of the leader's log than the leader has, as far as is known."""
    is_beyond = (F.col(C.LOG_END_OFFSET) >= 0) & (F.col(C.FETCH_OFFSET) > F.col(C.LOG_END_OFFSET))
    return is_beyond & (F.col(C.ERROR_CODE) != DIVERGED)
