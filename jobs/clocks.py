"""Brokers' clocks, looked at before anything is planned: by which of them all times are put on one."""

from __future__ import annotations

from jobs.new_rows import Landed
from jobs.progress import say
from replay.clocks.ahead import Ahead, Bound, ahead_of
from replay.clocks.bounds import AT_LEAST_US, EARLIER, IS_SURE, LATER, clock_bounds
from schemas import columns as C
from schemas.columns import NO_REPLICA


def clocks_ahead(landed: Landed) -> Ahead:
    """How far the clocks of brokers are ahead of most others'; empty where all are one."""
    found = clock_bounds(landed).select(C.CLUSTER_ID, EARLIER, LATER, AT_LEAST_US, IS_SURE).collect()
    return ahead_of(Bound(*row) for row in found)


def say_whose_clock(ahead: Ahead) -> None:
    """Tell whose clock is apart, a line each."""
    for (_, broker), us in sorted(ahead.items()):
        whose = "the controllers" if broker == NO_REPLICA else f"broker {broker}"
        side = "ahead of" if us > 0 else "behind"
        say(f"  the clock of {whose} is {abs(us) / 1e6:.1f} s {side} the others': it is reckoned with")
