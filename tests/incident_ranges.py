"""What is gone in each of `incident_histories`, by class."""

from __future__ import annotations

COMMITTED, UNCOMMITTED = "COMMITTED_RECORDS_LOST", "UNCOMMITTED_RECORDS_LOST"
UNKNOWN, BELOW = "RECORDS_LOST_UNKNOWN_IF_COMMITTED", "TRUNCATED_BELOW_HIGH_WATERMARK"
SHORTER = ("lagged", "was_in_the_isr", "had_more", "had_cut")
CLEAN_RANGES = {
    "ledger": {(COMMITTED, 10, 11)},
    "whole": set(),
    "split": {(COMMITTED, 6, 8), (UNCOMMITTED, 8, 10)},
    "bounds": {(COMMITTED, 4, 5), (UNKNOWN, 5, 8), (UNCOMMITTED, 8, 10)},
    "silent": {(COMMITTED, 4, 5), (UNKNOWN, 5, 10)},
    "old_tail": {(UNCOMMITTED, 8, 10), (COMMITTED, 8, 12)},
    "in_flight": {(UNCOMMITTED, 10, 12)},
    "diverged": {(COMMITTED, 9, 10)},
    "left_apart": {(COMMITTED, 9, 10)},
    "consumed": {(COMMITTED, 2, 5)},
    "begin_untold": {(COMMITTED, 5, 8), (UNKNOWN, 8, 9), (UNCOMMITTED, 9, 10)},
    "hw_unknown": {(UNKNOWN, 4, 10)},
    **{name: {(COMMITTED, 6, 8), (UNCOMMITTED, 8, 10)} for name in SHORTER},
    "led_again": {(UNCOMMITTED, 8, 10), (COMMITTED, 8, 12)},
    "led_by_another": {(UNCOMMITTED, 8, 10), (COMMITTED, 8, 12)},
}
