"""Stories of logs that were cut in part, or not fetched again: what is still apart, what is gone, and told once."""

from __future__ import annotations

from tests.incident_ranges import BELOW, COMMITTED, UNCOMMITTED
from tests.old_tails import DIVERGED

STORIES = {
    # A former leader cuts its log to its own HW, and fetches from there: it keeps [4, 6).
    "a_former_leader_keeps_some": """
        kafka 2.8.2, protocol 0.10.2
        lag 10 s
        1 leads epoch 0, replicas 1 2, isr 1   | 1:0  2:?  hw 0
        append 4                               | 1:4  hw 4
        2 fetches at 0, at once                | 1:4  2:0
        append 6                               | 1:10 hw 10
        kill 1                                 | no leader
        2 is elected epoch 1, unclean          | 2:4  1:?  hw 4
        append 6                               | 2:10  hw 10
        restart 1 hw 6                         | lost 1: 6 to 10
        1 fetches at 6                         | 2:10  1:6  1 and 2 differ at 4
        1 fetches at 10                        | 2:10  1:10
    """,
    # It lost [6, 10) before the new leader appended there.
    "a_former_leader_lost_some_before": """
        lag 10 s
        1 leads epoch 0, replicas 1 2, isr 1 2 | 1:0  2:?  hw 0
        append 4                               | 1:4
        2 fetches at 4, at once                | 1:4  2:4  hw 4
        2 fetches at 4, at once                | 1:4  2:4  hw 4
        append 6                               | 1:10 2:4  hw 4
        kill 1                                 | no leader
        2 is elected epoch 1                   | 2:4  1:?  hw 4
        append 1                               | 2:5
        restart 1 hw 4 leo 6                   | lost 1: 6 to 10
        append 5                               | 2:10  1 and 2 differ at 4
        1 fetches at 6                         | diverges 0 at 4  lost 1: 4 to 6
        1 fetches at 4
    """,
    # 2 loses its tail in a crash, and is elected before it fetched it again.
    "elected_without_what_it_cut": """
        lag 10 s
        1 leads epoch 0, replicas 1 2, isr 1 2 | 1:0  2:?  hw 0
        append 8                               | 1:8
        2 fetches at 8, at once                | 1:8  2:8  hw 8
        2 fetches at 8, at once                | 1:8  2:8  hw 8
        kill 2                                 | hw 8
        fence 2                                | hw 8  isr 1
        restart 2 hw 8 leo 5                   | lost 2: 5 to 8
        kill 1                                 | no leader
        2 is elected epoch 1, unclean          | 2:5  1:?  hw 5  isr 2
        append 1                               | 2:6  hw 6
        restart 1
        1 fetches at 8                         | diverges 0 at 5  lost 1: 5 to 8
    """,
    # It is told of elections twice more before it fetches.
    "a_lost_tail_is_found_once": """
        lag 10 s
        1 leads epoch 0, replicas 1 2, isr 1 2 | 1:0  2:?  hw 0
        append 8                               | 1:8
        2 fetches at 8, at once                | 1:8  2:8  hw 8
        2 fetches at 8, at once                | 1:8  2:8  hw 8  replica 2: leo 8 hw 8
        1 is elected epoch 1                   | 1:8  2:8  hw 8
        kill 2                                 | hw 8
        fence 2                                | hw 8  isr 1
        restart 2 hw 8 leo 5                   | lost 2: 5 to 8
        1 is elected epoch 2                   | 1:8 2:8
        1 is elected epoch 3                   | 1:8 2:8
        2 fetches at 5
        2 fetches at 8                         | 1:8  2:8
    """,
}
FOUND = {
    "a_former_leader_keeps_some": {
        (COMMITTED, "critical", 1, 2, 4, 10),
        (BELOW, "critical", 1, 1, 6, 10),
        (DIVERGED, "critical", 1, 1, 4, 6),
    },
    "a_former_leader_lost_some_before": {
        (UNCOMMITTED, "warning", 1, 2, 4, 10),
        (BELOW, "info", 1, 1, 4, 6),
        (DIVERGED, "info", 1, 1, 4, 6),
    },
    "elected_without_what_it_cut": {
        (COMMITTED, "critical", 1, 2, 5, 8),
        (BELOW, "critical", 0, 2, 5, 8),
        (BELOW, "critical", 1, 1, 5, 8),
        (DIVERGED, "info", 1, 1, 5, 6),
    },
    "a_lost_tail_is_found_once": {(BELOW, "warning", 1, 2, 5, 8)},
}
"""Kind, severity, leader epoch, replica and range."""
