"""Which rules a release of Kafka plays by, and how releases and protocols name themselves."""

from __future__ import annotations

import re

from pyspark.sql import Column
from pyspark.sql import functions as F

from replay.profile import Profile, Truncation

_CONFLUENT = ("ccs", "ce")
"""Suffixes of a Confluent Platform's version; before 5.3 it printed Apache's own, as `2.2.0-cp2`."""
_APACHE_OF_CONFLUENT = {5: (2, 0), 6: (2, 6), 7: (3, 0), 8: (4, 0)}
"""Of its major version, Apache's, and how far Apache's minor versions are ahead: 6.2 is 2.8."""


MIN_ISR_GATE = (3, 7, 0)
"""With which the HW stands while an ISR is under min.insync.replicas (KIP-966)."""


def release(text: str | None) -> tuple[int, int, int]:
    """Return the leading numbers of a Kafka version or protocol (`4.1.0`, `3.6-IV1`, `0.10.2`); zeros if none.

    Confluent counts its own releases, and its brokers print those (`7.4.4-ccs`): they are the Apache release within.
    """
    stated, _, suffix = (text or "").partition("-")
    numbers = [int(n) for n in re.findall(r"\d+", stated)][:3]
    first, second, third = (*numbers, 0, 0, 0)[:3]
    if suffix.startswith(_CONFLUENT) and first in _APACHE_OF_CONFLUENT:
        apache, ahead = _APACHE_OF_CONFLUENT[first]
        return apache, second + ahead, third
    return first, second, third


def release_of(text: Column) -> Column:
    """Return the same of a column of versions: struct<first:int,second:int,third:int>, which compares in that order."""
    numbers = F.regexp_extract_all(F.split_part(text, F.lit("-"), F.lit(1)), F.lit(r"\d+"), F.lit(0))
    first, second, third = (F.coalesce(F.get(numbers, F.lit(i)).cast("int"), F.lit(0)) for i in range(3))
    is_confluent = text.rlike(f"^[^-]*-({'|'.join(_CONFLUENT)})")
    apache, within = first, second
    for of_confluent, (of_apache, ahead) in _APACHE_OF_CONFLUENT.items():
        is_it = is_confluent & (first == of_confluent)
        apache = F.when(is_it, F.lit(of_apache)).otherwise(apache)
        within = F.when(is_it, second + ahead).otherwise(within)
    return F.struct(apache.alias("first"), within.alias("second"), third.alias("third"))


_OF_LEVELS = ((10, (3, 5, 0)), (1, (3, 0, 0)))
"""Of metadata.version's levels, as its records have them (`MetadataVersion`), which release counts: 10 is 3.5-IV1, with
which KIP-903 came, and no later one changes a rule."""


def _spoken(protocol: str) -> tuple[int, int, int]:
    """Return the release whose protocol it is: by its name, or by the level of the feature."""
    if not protocol.isdecimal():
        return release(protocol)
    return next((named for first, named in _OF_LEVELS if int(protocol) >= first), (0, 0, 0))


def profile_for(version: str | None, protocol: str | None = None, lag_time_ms: int | None = None) -> Profile:
    """Return the profile of a Kafka `version` that speaks `protocol`; an unknown version is taken as the newest.

    `protocol` is inter.broker.protocol.version or metadata.version, the latter by its name (`3.6-IV1`) or level (`13`):
    2.8.2 at protocol 0.10.2 truncates to the HW.
    """
    kafka = release(version) if version else (9, 0, 0)
    spoken = _spoken(protocol) if protocol else kafka
    if spoken < (0, 11, 0):
        truncation = Truncation.HIGH_WATERMARK
    elif spoken < (2, 7, 0) or kafka < (2, 8, 0):
        truncation = Truncation.LEADER_EPOCH
    else:
        truncation = Truncation.FETCH_DIVERGENCE
    asks_controller = min(spoken, kafka) >= (2, 7, 0)
    lag = lag_time_ms if lag_time_ms is not None else (10_000 if kafka < (2, 5, 0) else 30_000)
    return Profile(
        truncation,
        min_isr_gate=kafka >= MIN_ISR_GATE,
        eligibility=kafka >= (3, 6, 0),
        fenced_may_not_join=kafka >= (3, 3, 0),
        evaluates_commits=kafka >= (3, 1, 0) or not asks_controller,
        evaluates_each_fetch=kafka < (2, 4, 0),
        heeds_divergence=truncation is Truncation.FETCH_DIVERGENCE and kafka < (3, 4, 1),
        records_divergence=truncation is Truncation.FETCH_DIVERGENCE and kafka == (2, 8, 0),
        records_batch_start=kafka >= (4, 0, 0),
        elects_eligible=kafka >= (4, 0, 0),
        states_broker_epochs=min(spoken, kafka) >= (3, 5, 0),
        fetches_state_epoch=kafka >= (2, 5, 0) and spoken >= (2, 1, 0),
        lag_time_ms=lag,
    )
