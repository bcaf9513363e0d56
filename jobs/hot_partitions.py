"""Hot partitions, looked for before anything is planned: what is cut is another plan."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from jobs.new_rows import Landed
from replay.profile import Profile
from replay.settings import MIN_ISR_SETTING
from replay.stretches.hot import hot_partitions, hot_stretches, may_be_cut, request_counts
from replay.stretches.silent_within import silent_within
from schemas import columns as C
from schemas.tables import BROKER_REGISTRATIONS, FETCH_EVENTS, SETTINGS

HOT_ROWS = "spark.tidegauge.hotRows"
"""Setting: a partition with as many requests, and more than its share, is cut into stretches of a third as many."""
_DEFAULT_HOT_ROWS = "300000"
"""Each window holds all of a partition: 100,000 requests are 400 MB in a task."""


def stretches_to_replay(landed: Landed, profile: Profile, assigned: DataFrame) -> DataFrame | None:
    """The stretches of hot partitions, as `replay.stretches.cut.stretches`; None where there are none.

    `assigned` is `replay.assignment.assignments`.
    """
    if not may_be_cut(profile):
        return None
    conf = landed[FETCH_EVENTS.name].sparkSession.conf
    least = int(conf.get(HOT_ROWS, _DEFAULT_HOT_ROWS) or _DEFAULT_HOT_ROWS)
    counts = request_counts(landed, assigned).localCheckpoint()
    hot = hot_partitions(counts, least, profile)
    if profile.has_silence and not hot.isEmpty():
        hot = hot.join(silent_within(landed, counts), C.on_partition(), "left_anti").localCheckpoint()
    return hot_stretches(landed, hot) if not hot.isEmpty() and is_told(landed, profile) else None


def is_told(landed: Landed, profile: Profile) -> bool:
    """Whether lines tell what bears on the HW of a small ISR: else its doubts (`replay.states.doubts`) reach far."""
    if not profile.has_outsiders:
        return True
    asked = []
    if profile.eligibility or profile.fenced_may_not_join:
        asked.append(landed[BROKER_REGISTRATIONS.name])
    if profile.min_isr_gate:
        is_of_brokers = (F.col(C.NAME) == MIN_ISR_SETTING) & (F.col(C.TOPIC) == "")
        asked.append(landed[SETTINGS.name].where(is_of_brokers))
    return not any(rows.isEmpty() for rows in asked)
