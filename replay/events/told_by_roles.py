"""What its next role tells of a replica's fetches: whether they were read, whether it took the last response, its LEO.

`next_roles` has the roles. A broker's own line of a role is by its own clock, the fetch by its leader's.
"""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from replay import names as N
from replay.events.acceptance import UNKNOWN_TOPIC_OR_PARTITION
from replay.events.next_roles import NEXT_ROLES
from replay.profile import Profile, Truncation
from schemas import columns as C

SURELY_APART_US = 100_000
"""Of two brokers' clocks no order is taken; so far apart they are enough to doubt. Nor does a line come much later."""


def comes_too_late() -> Column:
    """Return whether the response to a fetch was built when its fetcher had taken its next role already.

    What was parked at a leader that was frozen is answered when it thaws; nobody waits for that any more. Two clocks
    tell it, or the line of that role: the HW it states is lower than the response would have made it. A log that is
    deleted has lost its fetcher some time before (`ReplicaManager.stopReplicas`, beside ZooKeeper an earlier request).
    """
    role = F.col(N.NEXT_ROLE)
    apart = F.when(_is_deletion(role), -SURELY_APART_US).otherwise(SURELY_APART_US)
    return F.coalesce(role["lacks_hw"] | (role["us"] + apart < F.col(N.RESPONSE_US)), F.lit(False))


def _is_deletion(role: Column) -> Column:
    """Return whether what `next_roles` has is no role, but that the log was deleted."""
    return role["leo"].isNull() & ~role["leads"]


def came_before(was: Column, profile: Profile) -> Column:
    """Return whether the replica took its next role before it asked, of a leader that was told of the epoch later.

    A fetch that states no epoch is served in the old one. To its high watermark a follower cuts as it takes a role: so
    it asks for less than in its fetch before, `was`, of the same leadership. After a restart it may, at any time.
    """
    cuts = F.lit(profile.truncation) == Truncation.HIGH_WATERMARK.value
    is_about_then = F.col(N.NEXT_ROLE)["us"] <= F.col(N.EVENT_US) + SURELY_APART_US
    return F.coalesce(cuts & (was[C.FETCH_OFFSET] > F.col(C.FETCH_OFFSET)) & is_about_then, F.lit(False))


def is_still_awaited(then: Column, profile: Profile) -> Column:
    """Return whether a follower that took a role in a later epoch took the response after that all the same.

    Its leader is the same process, and it asks for no other offset: a partition that was removed and added again while
    a fetch was pending takes its response (`AbstractFetcherThread.processFetchRequest`), unless it has to truncate
    first. `then` is its next fetch.
    """
    role, came = F.col(N.NEXT_ROLE), F.col(C.RECORDS_SIZE) > 0
    same = (role["epoch"] == then[C.LEADER_EPOCH]) & (then[N.TENURE] == F.col(N.TENURE))
    has_grown = then[C.FETCH_OFFSET] > role["leo"]
    is_ready = F.lit(profile.truncation) == Truncation.FETCH_DIVERGENCE.value
    waits = ~role["leads"] & same & (role["leo"] == F.col(C.FETCH_OFFSET)) & (has_grown | (~came & is_ready))
    return F.coalesce(waits, F.lit(False))


def is_read() -> Column:
    """Return `is_accepted` without what was parked for a partition that the leader's metadata did not have.

    Beside ZooKeeper a partition comes into the metadata after its leader was told to lead, and is gone from them before
    its log is deleted. A fetch that was read before ends with the log (`ReplicaManager.stopReplicas` completes what
    waits for it); one that was not ends with the others in it. All by one broker's clock.
    """
    role = F.try_element_at(F.col(NEXT_ROLES), F.col(C.BROKER_ID))
    ends_with_log = _is_deletion(role) & (F.abs(role["us"] - F.col(N.RESPONSE_US)) <= SURELY_APART_US)
    was_read = F.col(N.IS_ACCEPTED) & F.coalesce(ends_with_log, F.lit(False))
    is_unknown = F.col(C.ERROR_CODE) == UNKNOWN_TOPIC_OR_PARTITION
    return F.when(is_unknown, was_read).otherwise(F.col(N.IS_ACCEPTED))


def told_next(then: Column, has_role: Column, profile: Profile) -> tuple[Column, Column]:
    """Return the replica's LEO that is told next after a fetch, and when: by its next fetch, or by its role if first.

    `has_role` is whether it had that role already (`came_before`).

    A response of the old leader may still come in after the line of a follower's role (`ReplicaManager.applyDelta`
    stops its fetcher later): its first fetch in that epoch then asks for more. Where fetches state no epoch, those of a
    follower that was told of a new one late are served in it, before it takes its role: two clocks tell that, or that
    it asks the same process for less than it had in that role. By epochs it has nothing to truncate there.
    """
    role, asked = F.col(N.NEXT_ROLE), then[C.FETCH_OFFSET]
    keeps_all = (then[N.TENURE] == F.col(N.TENURE)) & (F.lit(profile.truncation) != Truncation.HIGH_WATERMARK.value)
    by_clocks = then["us"] + SURELY_APART_US < role["us"]
    is_before_it = (role["epoch"] == then[C.LEADER_EPOCH]) & (by_clocks | (keeps_all & (asked < role["leo"])))
    told_late = ~F.lit(profile.fetches_state_epoch) & is_before_it
    is_first = F.coalesce((role["epoch"] <= then[C.LEADER_EPOCH]) & ~told_late, role.isNotNull()) & ~has_role
    asked_more = F.when(~role["leads"] & (role["epoch"] == then[C.LEADER_EPOCH]), asked)
    leo = F.when(is_first, F.greatest(role["leo"], asked_more)).otherwise(asked)
    return leo, F.when(is_first, role["us"]).otherwise(then["us"])
