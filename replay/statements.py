"""Which statements, and what they say: conditions and aggregates on `broker_statements`."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from schemas import columns as C
from schemas.kinds import StatementKind

ROLE_LEOS = (StatementKind.BECAME_LEADER_LEO, StatementKind.BECAME_FOLLOWER_LEO)
"""The LEO a replica states as it takes a role."""
ROLE_HWS = (StatementKind.BECAME_LEADER_HW, StatementKind.BECAME_FOLLOWER_HW)
"""Its HW, in the same line."""

LOG_STARTS = (StatementKind.LOG_START_MOVED, StatementKind.LOADED_LOG_START, StatementKind.TRUNCATED_FULLY_AT)
"""Where a replica's log starts from then on."""


def is_of(*kinds: StatementKind) -> Column:
    """Return whether the statement is of one of the kinds."""
    return F.col(C.KIND).isin(*[str(kind.value) for kind in kinds])


def said(*kinds: StatementKind) -> Column:
    """Return, of a group of statements, the greatest offset that one of these kinds states; NULL if none does."""
    return F.max(F.when(is_of(*kinds), F.col(C.OFFSET)))
