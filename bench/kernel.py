"""The plain job on the columns of one or many partitions in NumPy: order given, committed ISR alone, no evidence."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
APPEND, FETCH, LEADS, ISR = range(4)
UNSAID = np.iinfo(np.int64).min
_FAR = 1 << 42


def _last(said: NDArray[np.bool_]) -> Ints:
    """The place of the last row up to each that says something; the first row of an epoch does."""
    return np.maximum.accumulate(np.where(said, np.arange(len(said)), 0))


def _highest(values: Ints, segment: Ints) -> Ints:
    """The greatest value of the segment so far: segments are set so far apart that they do not meet."""
    return np.maximum.accumulate(np.maximum(values, -1) + segment * _FAR) - segment * _FAR


def states(events: Mapping[str, Ints], slots: int) -> dict[str, Ints]:
    """What the leader knew after each event, in order; of a fetch, what its follower asks for next.

    `events`: partition, epoch, us, kind, leader (a slot), slot, leo, asked, told, mask, start_hw; `UNSAID` where the
    event does not say.
    """
    order = np.lexsort((events["us"], events["epoch"], events["partition"]))
    given = {name: values[order] for name, values in events.items()}
    kind, slot = given["kind"], given["slot"]
    begins = kind == LEADS
    segment = np.cumsum(begins)
    log_end = _highest(given["leo"], segment)
    in_sync = given["mask"][_last(given["mask"] != UNSAID)]
    least = log_end.copy()
    known = {}
    for i in range(slots):
        fetched = (kind == FETCH) & (slot == i)
        leo = np.where(fetched, given["asked"], -1)[_last(begins | fetched)]
        known[f"leo_{i}"] = leo
        holds = (given["leader"] != i) & ((in_sync >> i) & 1 == 1)
        least = np.where(holds, np.minimum(least, leo), least)
    hw = np.maximum(_highest(least, segment), given["start_hw"])
    return {**given, **known, "log_end": log_end, "in_sync": in_sync, "hw": hw, "next": _next_asked(given)}


def _next_asked(given: Mapping[str, Ints]) -> Ints:
    """What the follower of a fetch asks for in its next one of the leader epoch; the same where there is none."""
    rows = np.flatnonzero(given["kind"] == FETCH)
    keys = ("slot", "epoch", "partition")
    by_replica = rows[np.lexsort((rows, *(given[key][rows] for key in keys)))]
    following = np.roll(by_replica, -1)
    same = np.all([given[key][by_replica] == given[key][following] for key in keys], axis=0)
    same[-1:] = False
    asked = given["asked"].copy()
    asked[by_replica] = np.where(same, given["asked"][following], given["asked"][by_replica])
    return asked
