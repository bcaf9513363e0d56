"""Which fetches the leader accepted, so that it recorded where the fetcher was (`Partition.fetchRecords`); in SQL.

A fetch is parked only if no partition of it that was read failed or diverged at its first read
(`ReplicaManager.fetchMessages`): a parked one was accepted whatever its response says of what became of it meanwhile.
A partition whose topic id the broker did not know yet, or that the fetcher may not see, is never read, and parks with
the others (`KafkaApis.handleFetchRequest`, `erroneous`). One that the broker's metadata does not have is neither, and
answered with UNKNOWN_TOPIC_OR_PARTITION; so is one that was read, if its log was deleted while it waited
(`told_by_roles.is_read`, `unread`).
"""

from __future__ import annotations

from schemas import columns as C

UNKNOWN_TOPIC_OR_PARTITION, _TOPIC_AUTHORIZATION_FAILED, _UNKNOWN_TOPIC_ID = 3, 29, 100
_NEVER_READ = f"{C.ERROR_CODE} IN ({_TOPIC_AUTHORIZATION_FAILED}, {_UNKNOWN_TOPIC_ID})"

PARKED = f"({C.IS_PARKED} AND NOT {_NEVER_READ})"
"""It was accepted, and waited."""
CLEAN = f"({C.ERROR_CODE} = 0 AND {C.DIVERGING_EPOCH} < 0)"
"""Its response tells of no error and no divergence."""
ACCEPTED = f"({PARKED} OR {CLEAN})"
"""Parked or clean; of some of these `told_by_roles.is_read` knows that they were never read."""
CERTAINLY_READ = f"({ACCEPTED} AND {C.ERROR_CODE} <> {UNKNOWN_TOPIC_OR_PARTITION})"
"""Accepted, and read from the log for certain: one with that error may never have been."""
DIVERGING = f"({C.ERROR_CODE} = 0 AND {C.DIVERGING_EPOCH} >= 0)"
"""Its response tells from where on the fetcher's log is another one than the leader's (KIP-595)."""
FENCED_LEADER_EPOCH = 74
"""The error of a fetch that names an older epoch than its leader's (KIP-320)."""
DIVERGED = -2
"""No error code of Kafka's, but of a fetch event that was recorded though it diverged (`Profile.records_divergence`):
its offset is one of the fetcher's log, and says nothing of the leader's."""
