"""How long a HW stood in stories, and why: by what the leader's log tells, and no longer than it led."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from pyspark.sql import Row, SparkSession

from tests.looked_through import findings_of, stories_of
from tests.rebuilt import Answers, Logs, asked, logs_of

pytestmark = pytest.mark.spark

STALLED, UNDER = "HIGH_WATERMARK_STALLED", "UNDER_MIN_ISR"
STORIES = {
    # Nobody leads for ten minutes: no HW stands, and there is nobody to fetch from.
    "nobody_leads": """
        lag 10 s
        1 leads epoch 0, replicas 1 2, isr 1 2 | 1:0  2:?  hw 0
        2 fetches at 0, at once                | 1:0  2:0  hw 0
        append 4                               | 1:4  2:0  hw 0
        kill 2
        kill 1                                 | no leader
        no leader epoch 1
        time +600 s
        restart 1                              | no leader
        1 is elected epoch 2                   | 1:4  hw 4
        append 1
    """,
    # It stood for two seconds before: that is its length.
    "nobody_leads_after_a_stall": """
        lag 10 s
        1 leads epoch 0, replicas 1 2, isr 1 2 | 1:0  2:?  hw 0
        2 fetches at 0, at once                | 1:0  2:0  hw 0
        append 4                               | 1:4  2:0  hw 0
        time +2 s
        kill 2
        kill 1                                 | no leader
        no leader epoch 1
        time +600 s
        restart 1                              | no leader
        1 is elected epoch 2                   | 1:4  hw 4
    """,
    # The follower never fetches what was appended; for a minute only consumers ask.
    "only_consumers_ask": """
        lag 10 s
        1 leads epoch 0, replicas 1 2, isr 1 2 | 1:0  2:?  hw 0
        2 fetches at 0, at once                | 1:0  2:0  hw 0
        append 4                               | 1:4  2:0  hw 0
        time +20 s
        consumer fetches at 0                  | hw 0
        time +20 s
        consumer fetches at 0                  | hw 0
        time +20 s
        consumer fetches at 0                  | hw 0
    """,
    # acks=all waits for the follower, and gives up: the answer alone tells that the HW did not pass.
    "a_produce_times_out": """
        lag 30 s
        1 leads epoch 0, replicas 1 2, isr 1 2 | 1:0  2:?  hw 0
        2 fetches at 0, at once                | 1:0  2:0  hw 0
        append 4, acks all                     | 1:4  2:0  hw 0
        time +30 s
        produces time out                      | hw 0  produce error 7
    """,
    # Raised while nothing but refused produces happens: acks=all is refused from then on.
    "a_setting_is_raised": """
        lag 10 s
        min isr 1
        1 leads epoch 0, replicas 1 2, isr 1   | 1:0  2:?  hw 0
        append 3, acks all                     | 1:3  2:?  hw 3
        time +10 s
        min isr 2                              | hw 3  under min isr
        append 1, acks all                     | hw 3  produce error 19
        time +60 s
        append 1, acks all                     | hw 3  produce error 19
    """,
    # Nobody leads: nothing is refused, whatever the setting.
    "nobody_leads_under_min_isr": """
        lag 10 s
        min isr 2
        1 leads epoch 0, replicas 1 2, isr 1   | 1:0  2:?  hw 0
        append 3                               | 1:3  2:?  hw 0 under min isr
        time +10 s
        kill 1                                 | no leader
        no leader epoch 1
        time +60 s
        restart 1                              | no leader
        1 is elected epoch 2                   | 1:3  hw 0 under min isr
        append 1
    """,
    # And lowered: from then on it is not, though the next event comes a minute later.
    "a_setting_is_lowered": """
        lag 10 s
        min isr 2
        1 leads epoch 0, replicas 1 2, isr 1   | 1:0  2:?  hw 0
        append 3                               | 1:3  2:?  hw 0 under min isr
        time +10 s
        min isr 1                              | hw 0
        time +60 s
        append 1                               | 1:4 hw 4
    """,
    # The same process leads on: nothing about the stall ends with the epoch.
    "in_two_epochs": """
        lag 10 s
        1 leads epoch 0, replicas 1 2, isr 1 2 | 1:0  2:?  hw 0
        2 fetches at 0, at once                | 1:0  2:0  hw 0
        append 4                               | 1:4  2:0  hw 0
        time +800 ms
        1 is elected epoch 1                   | 1:4  2:0  hw 0
        time +800 ms
        2 fetches at 0, at once                | 1:4  2:0  hw 0
        2 fetches at 4, at once                | 1:4  2:4  hw 4
    """,
    # Under min ISR the HW moves all the same: it waits for 2.
    "before_3_7_it_waits_for_a_follower": """
        kafka 3.6.1, protocol 3.6
        lag 10 s
        min isr 3
        1 leads epoch 0, replicas 1 2 3, isr 1 2 | 1:0  2:?  hw 0  under min isr
        2 fetches at 0, at once                  | 1:0  2:0  hw 0
        append 4                                 | 1:4  2:0  hw 0
        time +5 s                                | hw 0
        2 fetches at 0                           | 1:4  2:0  hw 0
        2 fetches at 4, at once                  | 1:4  2:4  hw 4  under min isr
    """,
    "since_3_7_it_waits_for_the_isr": """
        lag 10 s
        min isr 3
        1 leads epoch 0, replicas 1 2 3, isr 1 2 | 1:0  2:?  hw 0  under min isr
        2 fetches at 0, at once                  | 1:0  2:0  hw 0
        append 4                                 | 1:4  2:0  hw 0
        time +5 s                                | hw 0
        2 fetches at 0                           | 1:4  2:0  hw 0
        2 fetches at 4, at once                  | 1:4  2:4  hw 0  under min isr
    """,
}
FOUND = {
    "nobody_leads": set(),
    "nobody_leads_after_a_stall": {(STALLED, "info", 2, 2.0, "[2] did not fetch")},
    "only_consumers_ask": {(STALLED, "warning", 2, None, "[2] did not fetch")},
    "a_produce_times_out": {(STALLED, "warning", 2, None, "[2] did not fetch")},
    "a_setting_is_raised": {(UNDER, "warning", -1, None, "acks=all is refused")},
    "nobody_leads_under_min_isr": {
        (UNDER, "warning", -1, 10.0, "acks=all is refused"), (UNDER, "warning", -1, None, "acks=all is refused"),
        (STALLED, "warning", -1, 10.0, "the ISR [1] is under min.insync.replicas 2"),
    },
    "a_setting_is_lowered": {
        (UNDER, "warning", -1, 10.0, "acks=all is refused"),
        (STALLED, "warning", -1, 70.0, "the ISR [1] is under min.insync.replicas 2"),
    },
    "in_two_epochs": {(STALLED, "info", 2, 1.6, "[2] fetched and was behind")},
    "before_3_7_it_waits_for_a_follower": {
        (STALLED, "info", 2, 5.0, "[2] fetched and was behind"), (UNDER, "warning", -1, None, "acks=all is refused"),
    },
    "since_3_7_it_waits_for_the_isr": {
        (STALLED, "info", -1, None, "the ISR [1, 2] is under min.insync.replicas 3"),
        (UNDER, "warning", -1, None, "acks=all is refused"),
    },
}  # fmt: skip
"""Kind, severity, replica, seconds (NULL: still) and reason."""


@asked
def told() -> Logs:
    """Their logs."""
    return logs_of(stories_of(STORIES), 3)


@pytest.fixture(scope="module")
def found(spark: SparkSession, rebuilt: Answers) -> Mapping[str, Sequence[Row]]:
    """Every finding by story."""
    return findings_of(spark, rebuilt, told)


def seconds(row: Row) -> float | None:
    """How long it lasted, to the tenth of a second."""
    return None if row["ended_at"] is None else round((row["ended_at"] - row["started_at"]).total_seconds(), 1)


@pytest.mark.parametrize("story", STORIES)
def test_how_long_it_stood_and_why(story: str, found: Mapping[str, Sequence[Row]]) -> None:
    """Its length, whom it names, and how bad it is."""
    judged = [row for row in found[story] if row["kind"] in (STALLED, UNDER)]
    columns = [(row["kind"], row["severity"], row["replica_id"], seconds(row)) for row in judged]
    reasons = [row["evidence"].rsplit("; ", 1)[-1].rsplit(": ", 1)[-1] for row in judged]

    assert {(*values, reason) for values, reason in zip(columns, reasons, strict=True)} == FOUND[story]
