"""What a step does to the logs under a rule of truncation: the rules, one function each.

The fold of them all is `what_if.outcomes`.
"""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import Column
from pyspark.sql import functions as F

from replay.profile import Truncation
from replay.what_if.logs import LOG, apart, cut, fetched, grown, let, log, no_runs, run, shared
from replay.what_if.steps import FOLLOWS, LEADS, LOADED, REACHED
from schemas.answers import Outcome

FOUND = "struct<outcome:string,epoch:int,us:bigint,slot:int,start:bigint,end:bigint>"
STATE = f"struct<logs:array<{LOG}>,last:{LOG},top:bigint,deleted:bigint,found:array<{FOUND}>>"
"""Each replica's log and the last leader's, the highest HW there was, and to where that leader had deleted its log."""


def next_state(state: Column, step: Column, rule: Truncation) -> Column:
    """Return the logs after a step."""
    own = F.get(state["logs"], step["slot"])
    by_kind: dict[int, Callable[[Column], Column]] = {
        LOADED: lambda it: _after(state, step, _loaded(it, step)),
        FOLLOWS: lambda it: _followed(state, step, it, rule),
        REACHED: lambda it: _reached(state, step, it, rule),
    }
    after = state
    for kind, then in by_kind.items():
        after = F.when((step["kind"] == kind) & own.isNotNull(), let(own, then)).otherwise(after)
    # Of a follower whose leader nothing tells of, nothing is known either.
    is_known = step["behind"].isNotNull() & state["last"].isNotNull()
    is_first = (step["kind"] == REACHED) & own.isNull() & is_known
    after = F.when(is_first, _first_reached(state, step)).otherwise(after)
    return F.when(step["kind"] == LEADS, _led(state, step, own)).otherwise(after).cast(STATE)


def _after(state: Column, step: Column, own: Column, *found: Column) -> Column:
    """Return the state with the step's replica having another log, and what was found."""
    logs = F.transform(state["logs"], lambda it, slot: F.when(slot == step["slot"], own).otherwise(it))
    every = F.filter(F.array(*found).cast(f"array<{FOUND}>"), lambda it: it["start"] < it["end"])
    return F.struct(logs, state["last"], state["top"], state["deleted"], F.concat(state["found"], every)).cast(STATE)


def _finding(outcome: Outcome, step: Column, start: Column, end: Column) -> Column:
    # Fetches are folded when the last of them came; what the first of them did to the log was at their begin.
    us = F.coalesce(step["since"], step["us"])
    values = (F.lit(str(outcome.value)), step["epoch"], us, step["slot"], start, end)
    return F.struct(*values).cast(FOUND)


def _loaded(own: Column, step: Column) -> Column:
    """Return the log as a process found it: the unflushed tail may be gone, the HW is its checkpoint's."""
    left = cut(own, F.coalesce(step["leo"], own["leo"]))
    return log(left["runs"], left["leo"], F.least(step["hw"], left["leo"]))


def _followed(state: Column, step: Column, own: Column, rule: Truncation) -> Column:
    """Return the state after a replica became a follower: before KIP-101 it cut to its own HW there and then."""
    if rule is not Truncation.HIGH_WATERMARK:
        return state
    hw = F.greatest(own["hw"], F.lit(0))
    return _after(state, step, cut(own, hw), _finding(Outcome.CUT, step, hw, own["leo"]))


def _reached(state: Column, step: Column, own: Column, rule: Truncation) -> Column:
    """Return the state after a follower's fetches: by its epochs it first cut what its leader does not have.

    One of which only the cut is known has fetched nothing after it: there is no `target`, and the log ends at the cut.
    """
    leader = state["last"]
    target = leader["leo"] - step["behind"]

    def known(kept: Column) -> Column:
        hw = F.least(F.coalesce(step["hw"], kept["hw"]), kept["leo"])
        return log(kept["runs"], kept["leo"], hw)

    if rule is Truncation.HIGH_WATERMARK:
        return let(
            F.when(target.isNotNull(), apart(own, leader)),
            lambda it: _after(
                state, step, known(fetched(own, leader, target)),
                _finding(Outcome.DIVERGED, step, it["start"], it["end"]),
            ),
        )  # fmt: skip
    return let(
        shared(own, leader),
        lambda common: _after(
            state, step, known(fetched(cut(own, common), leader, target)),
            _finding(Outcome.CUT, step, common, own["leo"]),
        ),
    )  # fmt: skip


def _first_reached(state: Column, step: Column) -> Column:
    """Return the state with a follower that the capture shows for the first time: it has what its leader has."""
    left = cut(state["last"], state["last"]["leo"] - step["behind"])
    return _after(state, step, log(left["runs"], left["leo"], F.least(F.coalesce(step["hw"], F.lit(-1)), left["leo"])))


def _led(state: Column, step: Column, known: Column) -> Column:
    """Return the state after a leadership: what its leader does not have of the log before is lost."""
    before = F.when(step["start"] > 0, run(F.lit(-1), F.lit(0))).otherwise(no_runs())
    of_last = cut(state["last"], step["start"])
    start = F.coalesce(known, F.when(state["last"].isNotNull(), of_last), log(before, step["start"], F.lit(-1)))
    last = state["last"]

    def led(own: Column) -> Column:
        # What the leader before had deleted is no loss.
        common = F.greatest(shared(own, last), state["deleted"])
        lost = (
            _finding(Outcome.COMMITTED_LOST, step, common, F.least(last["leo"], state["top"])),
            _finding(Outcome.UNCOMMITTED_LOST, step, F.greatest(common, state["top"]), last["leo"]),
        )
        now = grown(own, step["epoch"], step["leo"] - step["start"])
        return let(_knowing(now, step), lambda it: _as_last(_after(state, step, it, *lost), it, step))

    return let(start, led)


def _knowing(own: Column, step: Column) -> Column:
    """Return a leader's log with the HW it came to: that is what it cuts to when it follows, before KIP-101."""
    return log(own["runs"], own["leo"], F.greatest(own["hw"], F.least(step["hw"], own["leo"])))


def _as_last(state: Column, own: Column, step: Column) -> Column:
    top = F.greatest(state["top"], F.least(step["hw"], own["leo"]))
    deleted = F.greatest(step["log_start"], F.lit(0))
    return F.struct(state["logs"], own, top, deleted, state["found"]).cast(STATE)
