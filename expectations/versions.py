"""Which Kafka ran: a rule may be true only from some version on."""

from __future__ import annotations

from pyspark.sql import functions as F

from expectations.subject import Tables
from replay.releases import release
from schemas import columns as C
from schemas import tables as T
from schemas.kinds import KAFKA_VERSION


def lowest_version(tables: Tables) -> str | None:
    """The oldest Kafka version that a line of the cluster states: in a rolling upgrade it is the one that counts."""
    if T.SETTINGS.name not in tables:
        return None
    stated = tables[T.SETTINGS.name].where((F.col(C.NAME) == KAFKA_VERSION) & F.col(C.VALUE).isNotNull())
    versions = [row[0] for row in stated.select(C.VALUE).distinct().collect()]
    return min(versions, key=release, default=None)


def is_at_least(version: str | None, since: str) -> bool:
    """Whether `version` is `since` or later; a rule without `since` is true of all, also of an unknown one."""
    return not since or (version is not None and release(version) >= release(since))
