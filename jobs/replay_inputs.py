"""What the engine must know before it can plan: how many slots a partition needs, which protocol was spoken."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from jobs.at_once import at_once
from jobs.ended_logs import with_early_ends
from jobs.errors import CouldNotRunError
from jobs.protocol import protocol_of
from replay.assignment import MOST_SLOTS, SLOTS, outsiders
from replay.events.ended_logs import ends_in_silence, with_ended_logs
from replay.events.heard import with_heard
from replay.events.leaderships import leaderships, roles_with_loads
from replay.events.shown import untold_isrs
from replay.events.silence import silent_moments
from replay.events.tenures import tenure_facts
from replay.events.untold import with_untold_leaderships
from replay.keep import Keep
from replay.profile import Profile
from schemas import columns as C
from schemas.tables import PRODUCE_EVENTS


def made_whole(landed: Mapping[str, DataFrame], keep: Keep) -> Mapping[str, DataFrame]:
    """The tables, with what is asked of them again and again found once.

    That is where each broker was heard, whose logs end before others', and leaderships that no line tells of.
    """
    known = with_early_ends(with_heard(landed, keep), keep)
    return with_ended_logs(with_untold_leaderships(known, keep), keep)


def slots_of(assigned: DataFrame) -> int:
    """Size of the longest assignment; a delivery that names no replica has nothing to replay.

    Counted are all replicas that a partition ever had: sets of them are bit masks of an int.
    """
    row = assigned.agg(F.max(F.size(SLOTS))).first()
    if row is None or row[0] is None:
        message = "no partition has landed: nothing to replay"
        raise CouldNotRunError(message)
    slots = int(row[0])
    if slots > MOST_SLOTS:
        message = f"a partition has had {slots} replicas: no more than {MOST_SLOTS} can be replayed"
        raise CouldNotRunError(message)
    return slots


def profile_of(landed: Mapping[str, DataFrame], assigned: DataFrame) -> Profile:
    """The protocol the cluster spoke last, and which of the engine's stages its events need.

    Of tables that are not `made_whole` each question works out anew what they lack.
    """
    landed = with_untold_leaderships(landed)
    needed_by = {
        "has_transactions": transactional(landed),
        "has_untold_transactions": of_untold_producers(landed),
        "has_outsiders": outsiders(landed, assigned),
        "has_silence_within": silent_moments(landed),
        "has_silence": ends_in_silence(landed),
        "has_untold_isr": untold_isrs(landed),
    }
    stages = dict(zip(needed_by, at_once(assigned.sparkSession)(_has_rows, needed_by.values()), strict=True))
    stages["has_silence"] |= stages["has_silence_within"]
    spoken = protocol_of(landed).with_changes(**stages)
    # Of a leader that no line tells of nothing is known of what it was told: then all of it may be.
    return spoken if stages["has_untold_isr"] else spoken.with_changes(**facts_of(landed))


def _has_rows(found: DataFrame) -> bool:
    return not found.isEmpty()


def facts_of(landed: Mapping[str, DataFrame]) -> dict[str, bool]:
    """What holds of all leaderships, by the field of a profile; a cluster without any has nothing to put in order.

    `landed` has those that no line tells of, too (`with_untold_leaderships`).
    """
    row = tenure_facts(leaderships(roles_with_loads(landed))).drop(C.CLUSTER_ID).first()
    return {} if row is None else row.asDict()


def transactional(landed: Mapping[str, DataFrame]) -> DataFrame:
    """One row if some append belongs to a transaction, else none."""
    return landed[PRODUCE_EVENTS.name].where(F.col(C.IS_TRANSACTIONAL)).limit(1)


def of_untold_producers(landed: Mapping[str, DataFrame]) -> DataFrame:
    """One row if some append may belong to a transaction of nobody knows which producer, else none."""
    may_be = F.coalesce(C.IS_TRANSACTIONAL, F.lit(True)) & ~F.col(C.IS_CONTROL) & (F.col(C.BASE_OFFSET) >= 0)
    return landed[PRODUCE_EVENTS.name].where(may_be & (F.col(C.PRODUCER_ID) < 0)).limit(1)
