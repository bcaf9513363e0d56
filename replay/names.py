"""Columns that live only between the stages of the engine; public ones are in `schemas.columns`."""

from __future__ import annotations

from schemas import columns as C

# fmt: off
PARTITION_NUMBER = "partition_number"  # int: the partition, in the order of their keys: what events are sorted by
INCARNATION = "incarnation"           # int: how often the leader's process started within this leader epoch, from 0
TENURE = "tenure"                     # int: leaderships of one leader process without a break; remote LEOs survive inside
SLOT = "slot"                         # int: index of the replica into `assignment.SLOTS`; -1 none
LEADER_SLOT = "leader_slot"           # int: the leader's slot
EVENT = "event"                       # int: the event's type, by its number in `event_types`
IS_NEW_LEADER = "is_new_leader"       # bool: BECOME_LEADER of a process that did not lead just before
IS_CONTESTED = "is_contested"         # bool: lines name more than one leader of the epoch
RULES = "rules"                       # int: which rules its leader plays by (`brokers_rules`), where not all by the same
EVENT_US = "event_us"                 # bigint: when the leader handled it, microseconds since the epoch, by its clock
LOCAL_US = "local_us"                 # bigint: width of the interval [event_us, event_us + local_us] it truly lies in
RESPONSE_US = "response_us"           # bigint: when the response was built
RESPONSE_NS = "response_ns"           # bigint: place in the leadership at which the fetcher took it; NULL it was told nothing
HEARD_NS = "heard_ns"                 # bigint: the same of the fetcher's response before, in the leadership
NEXT_FETCH_US = "next_fetch_us"       # bigint: when the same replica fetched next; NULL not again from this leadership
LOADED_US = "loaded_us"               # array<bigint>: when the fetching replica's process (re)started, by its own clock
NEXT_ROLE = "next_role"               # struct<epoch,us,leo,leads,lacks_hw>: the role the fetcher took next, in a later epoch; NULL none told
IS_HEEDED = "is_heeded"               # bool: the response tells of divergence, and its fetcher took the HW in it before it truncated
IS_ACCEPTED = "is_accepted"           # bool: the leader took the request as one of its leadership; else it was refused, or never read
IS_TAKEN = "is_taken"                 # bool: nothing speaks against the fetcher having taken the response
FOLLOWER_LEO = "follower_leo"         # bigint: the fetcher's own LEO after it took the response; -1 unknown
ORDER_NS = "order_ns"                 # bigint: place in the leadership; nanoseconds by the clock, corrected by evidence
STREAM_RANK = "stream_rank"           # int: which certain order the event belongs to: 0 metadata, 1 appends, 2 + slot fetches
STREAM_POS = "stream_pos"             # bigint: place within that certain order
NEW_ISR_MASK = "new_isr_mask"         # int: committed ISR the event brings, as a bit mask of slots; NULL none
NEW_ASSIGNED_MASK = "new_assigned_mask"  # int: assignment it brings (adding and removing replicas too); NULL none
EVERY_MASK = "every_mask"             # int: every replica the partition ever had, as a bit mask of slots
NEW_FENCED_MASK = "new_fenced_mask"   # int: replicas it shows fenced or shutting down; NULL none
NEW_REGISTERED_MASK = "new_registered_mask"  # int: replicas it shows registered anew, under another broker epoch; NULL none
NEW_LOG_START = "new_log_start_offset"  # bigint: log start offset it brings, or its response states; NULL none
OWN_LOG_START = "own_log_start_offset"  # bigint: log start offset of the fetcher's own log, as it states; NULL none
ISR_MASK = "isr_mask"                 # int: committed ISR after the event; NULL unknown
ASSIGNED_MASK = "assigned_mask"       # int: assignment after the event
IS_REREGISTERED = "is_reregistered"   # bool per slot: registered anew since its last fetch: the leader's broker epoch is old
FENCED_MASK = "fenced_mask"           # int: fenced replicas after the event; NULL no line tells of any broker
EPOCH_START = "epoch_start_offset"    # bigint: leaderEpochStartOffset: the leader's LEO when the epoch began for its process
START_HW = "start_high_watermark"     # bigint: the leader's HW when the leadership began
START_LOG_START = "start_log_start_offset"  # bigint: the leader's log start offset when the leadership began
RISEN_TO = "risen_to"                 # bigint: running maximum of the candidates, -1 before the first; HW = max(start, it)
RISEN_BEFORE = "risen_before"         # bigint: the same before the event
RISEN_AT_END = "risen_at_end"         # bigint: the same at the end of the leadership
RISEN_SURELY = "risen_surely"         # bigint: the same of what is known to have let the HW rise; with outsiders alone
RISEN_PERHAPS = "risen_perhaps"       # bigint: the same if whoever nobody knows to hold the HW did not; with outsiders alone
ISR_ENOUGH_FOR_ALL = "isr_enough_for_all"  # int: size of the smallest ISR with which an acks=all append was taken so far; NULL none was
RISEN_AT_LEAST = "risen_at_least"     # bigint: greatest HW that a response told a follower so far; -1 before the first
RISEN_AT_MOST = "risen_at_most"       # bigint: greatest value the HW can have risen to; with an inferred ISR alone
UNHEARD_OFFSET = "unheard_fetch_offset"  # bigint: offset of the next fetch if one between is missing; -1 none
MAY_HAVE_RISEN_TO = "may_have_risen_to"  # bigint: HW if the missing requests had come already; NULL none is
MAY_HAVE_GROWN_TO = "may_have_grown_to"  # bigint: where the next append begins: past the LEO if one in between is lost, or of the last nothing tells its end; -1 none follows
FETCHER_LEO_BEFORE = "fetcher_leo_before"  # bigint: remote LEO, before the event, of the replica that fetches
IS_EVALUATED = "is_evaluated"         # bool: the event makes the leader evaluate its HW
REMOTE_LEO_BOUND = "remote_log_end_offset_bound"  # bigint per slot: remote LEO, a bound that a witness proves taken for one
RAISED_MASK = "raised_mask"           # int: replicas of whose remote LEO the least is known, by a witness, and no fetch since
WITNESSED_LEO = "witnessed_log_end_offset"  # bigint: the LEO when the last witness came, of an earlier leadership too, at most
REMOTE_LEO_BEFORE = "remote_log_end_offset_before"  # bigint per slot: remote LEO before the event
IS_PROVEN_CAUGHT_UP = "is_proven_caught_up"  # bool: a later response shows that the fetch was caught up, though the clock says not; or NULL
HW_IF_WAITED = "high_watermark_if_waited"  # bigint: what the HW is if it waits for whom nobody knows to be caught up; no bound where known
HEARD_AGAIN_MS = "heard_again_ms"     # bigint: the first answer after the last silence of the request log; NULL there was none
CAUGHT_UP_MS = "caught_up_ms"         # bigint per slot: lastCaughtUpTimeMs
HELD_MASK = "held_mask"               # int: replicas the HW waits for whoever is joining, as a bit mask of slots
PLACE = "place"                       # int: number of the event in its leadership, from 1
SETTLED = "settled"                   # bigint: ISR changes that ended, by commit or rejection, in the leadership so far
JOINING_MASK = "joining_mask"         # int: replica whose joining the ISR is in flight, as a bit mask of slots
IS_RESTART = "is_restart"             # bool: the state is that of a process that has just loaded its log
BEGINS_EPOCH = "begins_epoch"         # bool: the state is the replica's first in its leader epoch
TOLD_REMOTE = "told_remote"           # map<int,bigint>: remote LEOs that the line of a STATEMENT states
IS_UNSURE = "is_unsure"               # bool: the state is known between bounds only, the request log being silent
SHOWN = "shown"                       # struct: what the timelines show of an event, and no window reads
IS_UNHEARD = "is_unheard"             # bool: no request of the whole leader epoch is logged

# ---- event types that the engine alone has
REPLICA_RESTART = "REPLICA_RESTART"   # a follower's process has loaded its log
RESPONSE = "RESPONSE"                 # a follower has taken a response
REFUSED = "REFUSED"                   # a fetch that was refused; what it asks for is its replica's LEO all the same
REJECTION = "REJECTION"               # an ISR change in flight came to nothing
SHRINK_PROPOSED = "SHRINK_PROPOSED"   # a smaller ISR is in flight
OPEN_APPEND = "OPEN_APPEND"           # an append of which nothing tells where it ended, until witnesses are found; an APPEND for whoever asks
FENCING = "FENCING"                   # replicas were fenced or unfenced in the leader's metadata
STATEMENT = "STATEMENT"               # a line states the leader's HW while its request log is silent
SILENCE = "SILENCE"                   # from here on no line tells what the leader does

# ---- numbers, and SQL that is no column
NS_PER_US = 1000
CLOCKS_APART_US = 5_000_000           # how far two brokers' clocks may be apart, where a line of one is put beside the other's
CLOCKS_APART = f"INTERVAL {CLOCKS_APART_US // 1_000_000} SECONDS"  # CLOCKS_APART_US as SQL has it
ORDER_US = f"{ORDER_NS} div 1000"     # order_ns in microseconds; a division by `/` would go through a double
ORDER_MS = f"{ORDER_NS} div 1000000"  # order_ns in milliseconds, which is all that a broker knows
RECORDED_OFFSET = "least(fetch_offset, last_offset + 1)"  # what the leader records of a fetch: below its offset where that lies within a batch
# fmt: on

LEADERSHIP = (PARTITION_NUMBER, TENURE, C.LEADER_EPOCH, INCARNATION)
"""One leadership of one broker process; the unit of replay. Four numbers: a sort compares them at every step."""

IN_ORDER = (ORDER_NS, STREAM_RANK, STREAM_POS)
"""The total order within a leadership."""


def slot_column(name: str, slot: int) -> str:
    """Return the name of `name`'s column for `slot`."""
    return f"{name}_{slot}"
