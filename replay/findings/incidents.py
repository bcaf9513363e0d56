"""`incidents`: every finding of a cluster's history, put together.

Finders take the landed events and the three timelines, as anybody who reads the tables could, and return rows of one
shape. What says how far a leader's log and HW came is a few rows a partition, made once (`spans`).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce

from pyspark.sql import DataFrame

from replay.findings.consumers import reads_of_lost_records
from replay.findings.contacts import contacts
from replay.findings.contradictions import contradictions
from replay.findings.cuts import cuts_below_high_watermark
from replay.findings.cutters import with_last_contact
from replay.findings.divergence import divergences
from replay.findings.elections import elections, regressions, unclean_elections
from replay.findings.finding import with_id
from replay.findings.isr_story import isr_changes, isr_steps
from replay.findings.leaderless import times_without_leader
from replay.findings.loss_ledger import loss_findings
from replay.findings.losses import losses
from replay.findings.request_logs import heard_until
from replay.findings.silent_cuts import silent_truncations
from replay.findings.spans import spans
from replay.findings.stale_members import stale_isr_members
from replay.findings.stalls import STALL_MS, stalled_high_watermarks
from replay.findings.suspects import IS_BOUNDED, MAY_STALL, WAS_UNDER_MIN_ISR, only, suspects
from replay.findings.told_epochs import told_epochs, with_deletions
from replay.findings.under_min_isr import times_under_min_isr, with_changed
from replay.keep import Keep
from replay.profile import Profile
from schemas import tables as T


def incidents(
    landed: Mapping[str, DataFrame],
    leader_timeline: DataFrame,
    replica_timeline: DataFrame,
    truncations: DataFrame,
    profile: Profile,
    keep: Keep,
) -> DataFrame:
    """One row per finding, of `schemas.tables.INCIDENTS`; `keep` is what to do with a stage read more than once."""
    led = keep(spans(leader_timeline), is_small=True)
    elected = elections(landed, led)
    heard = keep(heard_until(landed[T.PRODUCE_EVENTS.name], landed[T.FETCH_EVENTS.name]), is_small=True)
    told = keep(told_epochs(landed[T.LEADER_CHANGES.name], landed[T.METADATA_CHANGES.name]), is_small=True)
    epochs = keep(with_deletions(told, landed[T.BROKER_STATEMENTS.name]), is_small=True)
    suspected = keep(suspects(leader_timeline, heard, STALL_MS), is_small=True)
    bounded = only(leader_timeline, suspected, IS_BOUNDED)
    changed = with_changed(suspected, landed[T.SETTINGS.name], led)
    too_small = only(leader_timeline, changed, WAS_UNDER_MIN_ISR)
    took_part = keep(contacts(replica_timeline, leader_timeline, bounded), is_small=True)
    cut = keep(with_last_contact(truncations, took_part), is_small=True)
    lost = keep(losses(landed, led, took_part, cut), is_small=True)
    found = [
        loss_findings(landed, lost, cut, elected),
        cuts_below_high_watermark(cut, led, lost),
        silent_truncations(landed, led, took_part, truncations),
        unclean_elections(elected, profile),
        regressions(led),
        times_without_leader(told, landed),
        isr_changes(isr_steps(leader_timeline)),
        times_under_min_isr(too_small, epochs, landed, profile),
        stalled_high_watermarks(only(leader_timeline, suspected, MAY_STALL), epochs, heard, profile),
        stale_isr_members(leader_timeline, profile, keep),
        divergences(landed, lost, took_part, truncations, leader_timeline, profile),
        reads_of_lost_records(landed, lost),
        *contradictions(landed, took_part, truncations),
    ]
    return with_id(reduce(DataFrame.unionByName, found))
