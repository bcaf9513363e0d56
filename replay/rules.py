"""The protocol, as one table: on this event, for these replicas, this variable becomes that.

Kafka 4.1.0 is described; what older versions do otherwise is a field of `replay.profile.Profile`. Line numbers, here and
everywhere, are of the 4.1.0 sources: P = kafka/cluster/Partition.scala, RM = kafka/server/ReplicaManager.scala,
RFT = kafka/server/ReplicaFetcherThread.scala, R = org/apache/kafka/server/replica/Replica.java,
UL = org/apache/kafka/storage/internals/log/UnifiedLog.java, LEFC = …/internals/epoch/LeaderEpochFileCache.java,
RCM = org/apache/kafka/controller/ReplicationControlManager.java.

Everything that changes a state variable of a leader is in the rows of `RULES`, and, because they compare replicas with
each other, in the functions of `replay.in_sync` (who holds the HW) and `replay.high_watermark` (the fold), which say so
themselves.

The four laws that make the replay a set of windows:

1. An event assigns, a window carries. Every variable is the last value assigned to it (`LAST`) or the greatest
   (`GREATEST`) since the beginning of its scope.
2. What the leader knows of a replica (its remote LEO, whether it registered anew) lives as long as one running process
   leads (`TENURE`), what it knows of the partition as long as one leadership does.
3. The HW of a leadership is the greatest of its start and of all candidates (UL:561 never lowers it), and no candidate
   depends on the start: leaderships can be computed before their starts are known.
4. Unknown is -1 and takes part in the minimum: an ISR member that has not fetched yet holds the HW where it was.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import reduce

from pyspark.sql import Column, WindowSpec
from pyspark.sql import functions as F

from replay import names as N
from replay.assignment import in_mask
from replay.event_types import is_event
from replay.profile import Profile
from replay.windows import carried, so_far, tenure_so_far
from schemas import columns as C
from schemas.kinds import EventType as E


class Of(Enum):
    """Whose variable an event assigns."""

    PARTITION = "the leader's own"
    FETCHER = "the replica that fetches"
    ISR_MEMBERS = "every other member of the ISR that the event brings"
    REGISTERED = "every replica that registered anew"
    UNASSIGNED = "every replica that is not, or no longer, assigned"


class Carry(Enum):
    """How an assigned value lives on."""

    LAST = "the last one assigned in the leadership"
    GREATEST = "the greatest one assigned in the leadership"
    TENURE = "the last one assigned while the same process leads"


@dataclass(frozen=True)
class Rule:
    """One row of the protocol: `becomes` is SQL over the event's columns; what is `at_least` so much lowers nothing."""

    event: str
    of: Of
    variable: str
    becomes: str
    because: str
    source: str
    at_least: bool = False


# fmt: off
CARRIED = {
    C.LOG_END_OFFSET:   Carry.GREATEST,  # a leader's log only grows; a retried batch repeats an old offset
    C.LOG_START_OFFSET: Carry.GREATEST,
    C.REMOTE_LEO:       Carry.TENURE,    # a new leader has heard from nobody; re-elected it knows what it knew (R:121 resetReplicaState)
    N.ISR_MASK:         Carry.LAST,
    N.ASSIGNED_MASK:    Carry.LAST,
    N.FENCED_MASK:      Carry.LAST,
    N.IS_REREGISTERED:  Carry.TENURE,
}

RULES = (
    #    event            whose           variable            becomes                  because, source
    Rule(E.BECOME_LEADER, Of.PARTITION,   C.LOG_END_OFFSET,   N.EPOCH_START,           "a leader starts from its own log", "P:780 makeLeader"),
    Rule(E.BECOME_LEADER, Of.PARTITION,   N.ISR_MASK,         N.NEW_ISR_MASK,          "the election's ISR; what was in flight is dropped", "P:977 updateAssignmentAndIsr"),
    Rule(E.BECOME_LEADER, Of.PARTITION,   N.ASSIGNED_MASK,    N.NEW_ASSIGNED_MASK,     "the election's assignment", "P:990 updateAssignmentAndIsr"),
    Rule(E.APPEND,        Of.PARTITION,   C.LOG_END_OFFSET,   "last_offset + 1",       "LEO is the next offset", "P:1365 appendRecordsToLeader"),
    Rule(E.FETCH,         Of.PARTITION,   C.LOG_END_OFFSET,   "last_offset + 1",       "an accepted fetch lies within the log: it proves an append that no line tells of", "P:1331 fetchRecords (else OFFSET_OUT_OF_RANGE)"),
    Rule(N.SHRINK_PROPOSED, Of.PARTITION, C.LOG_END_OFFSET,   "last_offset + 1",       "its line states the LEO: it proves an append that no line tells of", "Partition.maybeShrinkIsr"),
    Rule(E.FETCH,         Of.FETCHER,     C.REMOTE_LEO,       N.RECORDED_OFFSET,       "a follower asks for its own LEO; it may be lower than before, and is from within a batch that batch's offset (4.0)", "R:93 updateFetchStateOrThrow"),
    Rule(E.ISR_CHANGE,    Of.PARTITION,   N.ISR_MASK,         N.NEW_ISR_MASK,          "committed: the controller's answer, or its metadata first", "P:1932 handleAlterPartitionUpdate, P:743 makeLeader"),
    Rule(E.ISR_CHANGE,    Of.PARTITION,   N.ASSIGNED_MASK,    N.NEW_ASSIGNED_MASK,     "a reassignment adds and removes replicas", "P:990 updateAssignmentAndIsr"),
    Rule(E.BECOME_LEADER, Of.UNASSIGNED,  C.REMOTE_LEO,       "-1L",                   "a dropped replica, always by a new epoch, is forgotten; assigned again it starts unknown", "P:990 updateAssignmentAndIsr"),
    Rule(E.LOG_START,     Of.PARTITION,   C.LOG_START_OFFSET, N.NEW_LOG_START,         "DeleteRecords or retention", "UL:1320 maybeIncrementLogStartOffset"),
    Rule(N.RESPONSE,      Of.PARTITION,   C.LOG_START_OFFSET, N.NEW_LOG_START,         "a response states it: the leader had it by then, whether or not a line tells that it moved", "P:1514 readRecords"),
    Rule(N.FENCING,       Of.PARTITION,   N.FENCED_MASK,      N.NEW_FENCED_MASK,       "a fenced replica may not join the ISR", "P:1056 isReplicaIsrEligible"),
    Rule(N.FENCING,       Of.REGISTERED,  N.IS_REREGISTERED,  "true",                  "the broker epoch of its last fetch is an old one", "P:1070 isBrokerEpochIsrEligible"),
    Rule(E.FETCH,         Of.FETCHER,     N.IS_REREGISTERED,  "false",                 "a fetch brings the broker epoch (v15, KIP-903)", "R:93 updateFetchStateOrThrow"),
    Rule(E.WITNESS,       Of.ISR_MEMBERS, C.REMOTE_LEO,       "last_offset + 1",       "acks=all was answered: who was in the ISR all the time had fetched past it, though no line of it was written", "P:1089 checkEnoughReplicasReachOffset", at_least=True),
)

ALWAYS, COMMITS, PROPOSALS, EACH_FETCH = "always", "commits", "proposals", "each fetch"
EVALUATES_HIGH_WATERMARK = (
    (E.APPEND,          ALWAYS,    "true",                                "P:1379 appendRecordsToLeader"),
    (E.FETCH,           ALWAYS,    f"{N.RECORDED_OFFSET} <> {N.FETCHER_LEO_BEFORE}",  "P:943 updateFollowerFetchState; 2.4, KAFKA-8841"),
    (E.FETCH,           EACH_FETCH, "true",                               "Partition.updateReplicaLogReadResult, up to 2.3: who was caught up long ago holds the HW no more"),
    (E.BECOME_LEADER,   ALWAYS,    "true",                                "P:822 makeLeader"),
    (E.ISR_CHANGE,      COMMITS,   "true",                                "P:822 makeLeader (newer metadata), P:1959 handleAlterPartitionUpdate; 3.1, KAFKA-13091"),
    (N.SHRINK_PROPOSED, PROPOSALS, "true",                                "maybeShrinkIsr of 2.7 to 3.0, where handleAlterIsrResponse evaluates nothing"),
)
# fmt: on
"""The occasions on which the HW is evaluated, and nothing else: not time, rejection, fencing or a setting.

The second value says for which protocol: `ALWAYS`, `EACH_FETCH` by `Profile.evaluates_each_fetch`, and by
`Profile.evaluates_commits` one of the other two.
"""


def _concerns(rule: Rule, slot: int) -> Column:
    """Return whether the event assigns to the replica in `slot`."""
    match rule.of:
        case Of.FETCHER:
            return F.col(N.SLOT) == slot
        case Of.ISR_MEMBERS:
            return (F.col(N.LEADER_SLOT) != slot) & in_mask(F.col(N.NEW_ISR_MASK), slot)
        case Of.REGISTERED:
            return F.coalesce(in_mask(F.col(N.NEW_REGISTERED_MASK), slot), F.lit(False))
        case Of.UNASSIGNED:
            return F.coalesce(~in_mask(F.col(N.NEW_ASSIGNED_MASK), slot), F.lit(False))
        case Of.PARTITION:
            message = f"{rule.variable} is no replica's"
            raise ValueError(message)


def _assigned(variable: str, slot: int | None, *, at_least: bool) -> Column:
    """Return what the event assigns to `variable` (of the replica in `slot`), NULL where it does not."""
    chosen = F.lit(None)
    for rule in reversed([rule for rule in RULES if rule.variable == variable and rule.at_least is at_least]):
        concerned = is_event(rule.event) if slot is None else is_event(rule.event) & _concerns(rule, slot)
        chosen = F.when(concerned, F.expr(rule.becomes)).otherwise(chosen)
    return chosen


def within(window: WindowSpec, variable: str, slot: int | None = None) -> Column:
    """Return the `variable` that the events of `window` leave: assigned by an event, carried by the window."""
    value = _assigned(variable, slot, at_least=False)
    return F.max(value).over(window) if CARRIED[variable] is Carry.GREATEST else carried(value, window)


def current(variable: str, slot: int | None = None, *, has_long_tenures: bool = True) -> Column:
    """Return `variable` after the event; all as `within` has it."""
    return within(_scope(variable, is_long=has_long_tenures), variable, slot)


def bound(variable: str, slot: int, *, has_long_tenures: bool = True) -> Column:
    """Return a lower bound of `variable`: `at_least` rules are read as assignments. `current` may be greater."""
    value, at_least = (_assigned(variable, slot, at_least=is_bound) for is_bound in (False, True))
    return carried(F.coalesce(value, at_least), _scope(variable, is_long=has_long_tenures))


def _scope(variable: str, *, is_long: bool) -> WindowSpec:
    of_tenure = CARRIED[variable] is Carry.TENURE
    return tenure_so_far(is_long=is_long) if of_tenure else so_far()


def evaluates_high_watermark(profile: Profile) -> Column:
    """Return whether the event makes the leader evaluate its HW (`Partition.maybeIncrementLeaderHW`)."""
    commits = F.lit(profile.evaluates_commits)
    each_fetch = F.lit(profile.evaluates_each_fetch)
    spoken = {ALWAYS: F.lit(True), EACH_FETCH: each_fetch, COMMITS: commits, PROPOSALS: ~commits}
    occasions = [is_event(kind) & spoken[by] & F.expr(when) for kind, by, when, _ in EVALUATES_HIGH_WATERMARK]
    return reduce(Column.__or__, occasions)
