"""Requests that the log has lost: a gap in a follower's fetch session, or in the offsets of appends.

Every request of a session carries the next session epoch (KIP-227): after a jump there were requests that are not in
the capture. (Of those that do not name a partition only the last of a run has a row; it asks for the same.) They asked
for something between the fetches before and after, and so the HW in between is bounded. Where the requests follow each
other, a partition was left out of them: a follower forgets one that is throttled, truncates or waits after an error.
`session_gaps` tells of it as a finding. A leader's log has no gaps: an append that begins past its LEO tells of another
in between, by a request that is lost or was never logged (acks=0, a marker), and neither is in a dump.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from replay import names as N
from replay.assignment import in_mask
from replay.event_types import is_event_of
from replay.high_watermark import allows, holds
from replay.names import slot_column
from replay.profile import Profile
from replay.windows import carried, so_far
from schemas import columns as C
from schemas.columns import UNKNOWN_OFFSET
from schemas.kinds import EventType


def unheard_offset(then: Column) -> Column:
    """Return what the next fetch asks for if one between is missing; -1 where none is, or it is another session's.

    `then` is the next fetch: its session, session epoch, since when that is unbroken, and its offset.
    """
    follows = then[C.SESSION_ID] == F.col(C.SESSION_ID)
    in_session = (F.col(C.SESSION_ID) > 0) & (F.col(C.SESSION_EPOCH) >= 0)
    is_missing = in_session & follows & is_broken_between(F.col(C.SESSION_EPOCH), then)
    return F.when(is_missing, then[C.FETCH_OFFSET]).otherwise(UNKNOWN_OFFSET)


def is_broken_between(epoch: Column, then: Column) -> Column:
    """Return whether requests of a session are missing after the one with this session epoch and before `then`.

    `then` is a later request: its session epoch, and since when the session is unbroken.
    """
    return F.coalesce(then[C.SESSION_UNBROKEN_SINCE], then[C.SESSION_EPOCH]) > epoch + 1


def unheard(slots: int) -> dict[str, Column]:
    """Return, by slot, what its last fetch says of a missing one."""
    missing = [F.when(is_event_of(i, EventType.FETCH), F.col(N.UNHEARD_OFFSET)) for i in range(slots)]
    return {slot_column(N.UNHEARD_OFFSET, i): carried(missing[i], so_far()) for i in range(slots)}


def with_possible_rise(states: DataFrame, slots: int, profile: Profile) -> DataFrame:
    """Return the events with `may_have_risen_to`: the HW if each missing request was there; NULL if none is."""
    longest = F.greatest(C.LOG_END_OFFSET, N.MAY_HAVE_GROWN_TO)
    raised = F.col(N.RAISED_MASK)
    asked, is_missing = [], (longest > F.col(C.LOG_END_OFFSET)) | (raised > 0)
    for i in range(slots):
        remote, lost = F.col(slot_column(C.REMOTE_LEO, i)), F.col(slot_column(N.UNHEARD_OFFSET, i))
        # A witness proves a fetch by then, and not how far beyond the record it was.
        beyond = F.when(in_mask(raised, i), F.col(N.WITNESSED_LEO))
        most = F.greatest(remote, lost, beyond)
        asked.append(F.when(holds(i, F.col(N.JOINING_MASK)), most))
        is_missing = is_missing | F.coalesce(lost > remote, F.lit(False))
    possible = F.when(allows(profile) & is_missing, F.least(longest, *asked))
    return states.withColumn(N.MAY_HAVE_RISEN_TO, possible)
