"""Rules of brokers' own words: what was rebuilt from other lines is what they say."""

from __future__ import annotations

from expectations.invariant import IS_BOUNDED, Invariant
from expectations.stated_subjects import HIGHEST, LOWEST, SMALLEST_ISR_LEO, STATED_HW, STATED_SHRINKS, STATED_STARTS
from expectations.told_subjects import TOLD_HIGH_WATERMARKS, WAS_REACHED
from schemas import columns as C
from schemas.kinds import Exactness, Severity

# fmt: off
STATED_RULES = (
    Invariant(
        "RebuiltHighWatermarkEqualsStated", STATED_STARTS,
        # A start that was taken from this very line proves nothing.
        scope=f"{C.EXACTNESS} IS NULL OR {C.EXACTNESS} <> '{Exactness.STATED}'",
        known=f"{C.EXACTNESS} IS NOT NULL AND NOT ({IS_BOUNDED})",
        # The line is written before the new leader evaluates its HW for the first time.
        holds=f"{C.HIGH_WATERMARK} = {STATED_HW} OR ({C.HIGH_WATERMARK} > {STATED_HW} AND {C.HIGH_WATERMARK} = {SMALLEST_ISR_LEO})",
        observed=(STATED_HW, C.HIGH_WATERMARK, SMALLEST_ISR_LEO), severity=Severity.WARNING,
        why="A new leader says its HW in its log; what was rebuilt from other lines must be the same.",
        source="P:780 makeLeader, state-change.log",
        what_to_do="The capture has a hole before this line, or tidegauge is wrong: compare with `broker_statements`.",
    ),
    Invariant(
        "ToldHighWatermarksWereReached", TOLD_HIGH_WATERMARKS,
        known=f"{WAS_REACHED} IS NOT NULL",
        holds=f"{WAS_REACHED}",
        observed=(C.EVENT_TIME,), severity=Severity.WARNING,
        why="A response tells the HW that the leader has: a timeline that steps over it lacks an event, or has two in the wrong order.",
        source="P:1331 fetchRecords, P:1514 readRecords",
        what_to_do="Read the leader's timeline around the named line. Before and after the step it is right; by what came in between "
        "no line tells (an append that is in no log), or two requests of the same few milliseconds took effect the other way round.",
    ),
    Invariant(
        "RebuiltOffsetsEqualStatedAtShrink", STATED_SHRINKS,
        known=f"{LOWEST} IS NOT NULL AND {HIGHEST} IS NOT NULL",
        holds=f"{C.OFFSET} BETWEEN {LOWEST} AND {HIGHEST}",
        observed=(C.KIND, C.OFFSET, LOWEST, HIGHEST), severity=Severity.WARNING,
        why="A leader that shrinks its ISR says its HW, its LEO and the laggards' in its log; what was rebuilt from requests must agree.",
        source="P:1228 shrinkIsr (INFO line)",
        what_to_do="The capture has a hole before this line, or tidegauge is wrong: `tidegauge show` lists the events around it.",
    ),
)
# fmt: on
