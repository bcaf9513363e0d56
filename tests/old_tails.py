"""Stories of what is lost and cut where a leader was away meanwhile, and its predecessor too.

From where the two leaders' logs part, whoever had led in between; and nothing of a log that is the same.
"""

from __future__ import annotations

from tests.incident_ranges import BELOW, COMMITTED, UNCOMMITTED

DIVERGED = "LOG_DIVERGENCE"
STORIES = {
    # 3 has 2's records. 1, which is not told of 2's epoch, goes on knowing what 3 had, and is not asked again.
    "who_was_not_asked_again": """
        lag 10 s
        1 leads epoch 0, replicas 1 2 3, isr 1 2 3 | 1:0  2:?  3:?  hw 0
        append 1                                   | 1:1
        2 fetches at 0, at once                    | 1:1  2:0
        3 fetches at 0, at once                    | 1:1  3:0
        2 fetches at 1, at once                    | 1:1  2:1
        3 fetches at 1, at once                    | 1:1  3:1  hw 1
        2 is elected epoch 1, 1 not told           | 2:1  1:?  3:?
        append 6                                   | 2:7
        3 fetches at 1, at once                    | replica 3: leo 7 hw 0
        1 is elected epoch 2                       | 1:1  2:1  3:1  hw 1
        append 3                                   | 1:4  2:1  3:1  hw 1
        kill 2
        fence 2
        kill 3
        fence 3                                    | 1:4  hw 4  isr 1
        kill 1                                     | no leader
        restart 3 hw 1 leo 7
        3 is elected epoch 3, unclean              | 3:7  hw 7  isr 3
        append 1                                   | 3:8
        restart 1                                  | 1 and 3 differ at 1
        1 fetches at 4                             | diverges 1 at 7  lost 1: 1 to 4
    """,
    # 2 and 1 part at 2: of the log of 1 [2, 5) is gone as 2 comes back, all of it committed by 1.
    "the_leader_in_between_had_its_own_tail": """
        1 leads epoch 0, replicas 1 2 3, isr 1 2 3 | hw 0
        append 4                       | 1:4  hw 0
        2 fetches at 0, gets 2         | replica 2: leo 2 hw 0
        kill 1
        2 is elected epoch 1           | 2:2  hw 0
        append 4                       | 2:6  hw 0
        kill 2
        restart 1
        1 is elected epoch 2, unclean  | 1:4  hw 4
        append 1                       | 1:5  hw 5, 1 and 2 differ at 2
        kill 1
        restart 2
        2 is elected epoch 3, unclean  | 2:6  hw 6, 1 and 2 differ at 2
        append 1                       | 2:7  hw 7
    """,
    # 3 has [1, 5) of leader 2, leader 1 before it [1, 8) of its own.
    "likewise_in_clean_elections": """
        1 leads epoch 0, replicas 1 2 3, isr 1 2 3 | hw 0
        append 1                       | 1:1
        2 fetches at 0                 | replica 2: leo 1 hw 0
        3 fetches at 0                 | replica 3: leo 1 hw 0
        append 6                       | 1:7
        2 is elected epoch 1           | 2:1
        append 4                       | 2:5
        3 fetches at 1                 | replica 3: leo 5 hw 0
        3 fetches at 5, at once        | 3:5
        1 is elected epoch 2           | 1:7
        append 1                       | 1:8
        3 is elected epoch 3           | 3:5, 1 and 3 differ at 1
        append 1                       | 3:6
    """,
    # 1 and 2 have the same four records all the time: nothing is lost as 2 follows 1.
    "a_log_that_is_the_same": """
        1 leads epoch 0, replicas 1 2 3, isr 1 2 | hw 0
        append 4                       | 1:4
        2 fetches at 0                 | replica 2: leo 4 hw 0
        2 fetches at 4, at once        | 2:4  hw 4
        kill 1
        kill 2
        3 is elected epoch 1, unclean  | 3:0  hw 0
        kill 3
        restart 1
        1 is elected epoch 2, unclean  | 1:4  hw 4
        kill 1
        restart 2
        2 is elected epoch 3, unclean  | 2:4  hw 4
        append 1                       | 2:5  hw 5
    """,
    # 1 cuts [0, 4) when the HW is 0; it is 2 when it fetches again.
    "a_cut_before_the_hw_rose": """
        1 leads epoch 0, replicas 1 2 3, isr 1 2 3 | hw 0
        append 4                       | 1:4  hw 0
        3 is elected epoch 1, isr 2 3  | 3:0  hw 0
        1 fetches at 4                 | hw 0, lost 1: 0 to 4
        append 2                       | hw 0
        2 fetches at 0, at once        | hw 0
        2 fetches at 2, at once        | hw 2
        1 fetches at 0                 | hw 2
        1 fetches at 2, at once        | hw 2
    """,
    # 2 had committed records of this epoch's leader and cuts them: nothing is heard of it since.
    "a_cut_below_the_hw_of_its_own_epoch": """
        1 leads epoch 0, replicas 1 2, isr 1 2 | hw 0
        append 4                       | 1:4
        append 4                       | 1:8
        2 fetches at 0, gets 4         | replica 2: leo 4 hw 0
        2 fetches at 4, gets 4         | hw 4
        2 fetches at 8, at once        | hw 8, replica 2: leo 8 hw 4
        kill 1
        time +3 s
        restart 1 hw 4 leo 4           | 1:4  2:?  hw 4, lost 1: 4 to 8
        time +10 s
        2 fetches at 8                 | lost 2: 4 to 8
        time +10 s
    """,
}
FOUND = {
    "who_was_not_asked_again": {
        (UNCOMMITTED, "warning", 2, 1, 1, 7), (COMMITTED, "critical", 3, 3, 1, 4), (BELOW, "critical", 3, 1, 1, 4),
        (DIVERGED, "info", 2, 2, 1, 4), (DIVERGED, "info", 3, 1, 1, 4),
    },
    "the_leader_in_between_had_its_own_tail": {
        (UNCOMMITTED, "warning", 1, 2, 2, 4), (UNCOMMITTED, "warning", 2, 1, 2, 6), (COMMITTED, "critical", 3, 2, 2, 5),
        (DIVERGED, "warning", 1, 1, 2, 4), (DIVERGED, "warning", 2, 2, 2, 5), (DIVERGED, "warning", 3, 1, 2, 5),
    },
    "likewise_in_clean_elections": {
        (UNCOMMITTED, "warning", 1, 2, 1, 7), (UNCOMMITTED, "warning", 2, 1, 1, 5),
        (UNCOMMITTED, "warning", 3, 3, 1, 8),
        (DIVERGED, "warning", 1, 1, 1, 5), (DIVERGED, "warning", 2, 2, 1, 5), (DIVERGED, "warning", 3, 1, 1, 6),
    },
    "a_log_that_is_the_same": {(COMMITTED, "critical", 1, 3, 0, 4)},
    "a_cut_before_the_hw_rose": {(UNCOMMITTED, "warning", 1, 3, 0, 4)},
    "a_cut_below_the_hw_of_its_own_epoch": {
        (COMMITTED, "critical", 0, 1, 4, 8), (BELOW, "critical", 0, 1, 4, 8), (BELOW, "critical", 0, 2, 4, 8),
    },
}  # fmt: skip
