"""Values of the columns that answer a question of a post-mortem: in views and what-if tables."""

from __future__ import annotations

from enum import StrEnum


class HeldBy(StrEnum):
    """Why a leader's HW stands below its LEO."""

    UNDER_MIN_ISR = "UNDER_MIN_ISR"
    """The committed ISR is smaller than the effective min.insync.replicas."""
    FIRST_FETCH = "FIRST_FETCH"
    """A new leader has not heard of a replica yet."""
    ISR_CHANGE_IN_FLIGHT = "ISR_CHANGE_IN_FLIGHT"
    """A replica's joining of the ISR is proposed: it counts already."""
    CAUGHT_UP_OUTSIDE_ISR = "CAUGHT_UP_OUTSIDE_ISR"
    """A replica outside the ISR was caught up within the lag time, and is waited for."""
    NOT_FETCHING = "NOT_FETCHING"
    """Of an ISR member no fetch was accepted in the stretch."""
    BEHIND = "BEHIND"
    """An ISR member fetched, and was behind."""
    UNKNOWN = "UNKNOWN"
    """Nothing in the capture shows whom it waited for."""


class Position(StrEnum):
    """Where a consumer's position lies in its leader's log."""

    BEHIND = "BEHIND"
    """Below the HW, under read_committed below the LSO: there is something to read."""
    AT_END = "AT_END"
    """At the HW, under read_committed at the LSO: everything that it may read is read."""
    BEYOND_HIGH_WATERMARK = "BEYOND_HIGH_WATERMARK"
    """Above the HW and no leader had reached it: the leader that served knew an older HW."""
    BEYOND_REGRESSED_HIGH_WATERMARK = "BEYOND_REGRESSED_HIGH_WATERMARK"
    """Above the HW, which an earlier leader had taken as far: it went back with an election."""
    BEYOND_LAST_STABLE_OFFSET = "BEYOND_LAST_STABLE_OFFSET"
    """Above the LSO under read_committed, and not known to be above the HW: it waits for a transaction to end."""
    BEYOND_LOG_END = "BEYOND_LOG_END"
    """Above the leader's LEO, out of range: the records below it are gone (truncation), or never were there."""
    BELOW_LOG_START = "BELOW_LOG_START"
    """Below the log start: the records are deleted (retention, DeleteRecords), the fetch is out of range."""
    OUTSIDE_FOLLOWERS_LOG = "OUTSIDE_FOLLOWERS_LOG"
    """In the leader's log, not in that of the follower that was asked (KIP-392): out of range there, not lost."""
    UNKNOWN = "UNKNOWN"
    """The capture does not tell what the leader had, or whether a step in its log came before the fetch or after."""


class Outcome(StrEnum):
    """What a rule of truncation would have done to a range of records."""

    KEPT = "KEPT"
    """At the end a replica's log would share it with the last leader's."""
    CUT = "CUT"
    """A follower would have truncated it; it may have fetched it again."""
    COMMITTED_LOST = "COMMITTED_LOST"
    """A new leader's log would not have held it, though it was committed."""
    UNCOMMITTED_LOST = "UNCOMMITTED_LOST"
    """The same of records above the HW."""
    DIVERGED = "DIVERGED"
    """A follower would have fetched on over other records than its leader's."""
