"""What would have happened under another rule of truncation: the same elections, restarts and fetches, other cuts.

The fold follows each replica's log through the steps of `what_if.steps`, and cuts as the rule says. What the rule
cannot change is taken as it was: who was elected, how many records each leader appended, how far behind its leader each
follower came, and which HW it knew. So an offset of a later record may be another than it was; a record is named by
where it would have been.
"""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from replay.profile import Truncation
from replay.what_if.logs import LOG, apart, cut, fetched, grown, let, log, no_runs, run, shared
from replay.what_if.steps import FOLLOWS, LEADS, LOADED, REACHED
from schemas import columns as C
from schemas import tables as T
from schemas.answers import Outcome

_FOUND = "struct<outcome:string,epoch:int,us:bigint,slot:int,start:bigint,end:bigint>"
_STATE = f"struct<logs:array<{LOG}>,last:{LOG},top:bigint,deleted:bigint,found:array<{_FOUND}>>"
"""Each replica's log and the last leader's, the highest HW there was, and to where that leader had deleted its log."""


def what_if(steps: DataFrame, rule: Truncation) -> DataFrame:
    """One row per range that would have been lost, cut or another under `rule`, of `tables.WHAT_IF_OUTCOMES`.

    And one per log at the end. `steps` is `steps.steps`.
    """
    end = _folded(steps, rule)
    found = end.select(*C.PARTITION_KEY, "slots", F.explode(F.concat("state.found", _kept(F.col("state")))).alias("it"))
    return T.WHAT_IF_OUTCOMES.conform(
        found.select(
            *C.PARTITION_KEY,
            F.lit("").alias(C.CAPTURE_ID),
            F.lit(rule).alias(C.METHOD),
            F.col("it.outcome").alias(C.OUTCOME),
            F.col("it.epoch").alias(C.LEADER_EPOCH),
            F.get("slots", F.col("it.slot")).alias(C.REPLICA_ID),
            F.timestamp_micros("it.us").alias(C.EVENT_TIME),
            F.col("it.start").alias(C.FROM_OFFSET),
            F.col("it.end").alias(C.TO_OFFSET),
        )
    )


def logs_after(steps: DataFrame, rule: Truncation) -> DataFrame:
    """One row per partition and replica: its `log` (`LOG`) at the end under `rule`, NULL where nothing tells of it."""
    logs = F.posexplode("state.logs").alias("slot", "log")
    return (
        _folded(steps, rule)
        .select(*C.PARTITION_KEY, "slots", logs)
        .select(*C.PARTITION_KEY, F.get("slots", F.col("slot")).alias(C.REPLICA_ID), "log")
    )


def _folded(steps: DataFrame, rule: Truncation) -> DataFrame:
    """Return the partitions with `state`, what the logs are after all steps and what was found on the way."""
    nobody = F.array_repeat(F.lit(None).cast(LOG), F.size("slots"))
    nothing = F.array().cast(f"array<{_FOUND}>")
    begin = F.struct(nobody, F.lit(None).cast(LOG), F.lit(-1), F.lit(0), nothing).cast(_STATE)
    return steps.withColumn("state", F.aggregate("steps", begin, lambda state, step: _next(state, step, rule)))


def _next(state: Column, step: Column, rule: Truncation) -> Column:
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
    return F.when(step["kind"] == LEADS, _led(state, step, own)).otherwise(after).cast(_STATE)


def _after(state: Column, step: Column, own: Column, *found: Column) -> Column:
    """Return the state with the step's replica having another log, and what was found."""
    logs = F.transform(state["logs"], lambda it, slot: F.when(slot == step["slot"], own).otherwise(it))
    every = F.filter(F.array(*found).cast(f"array<{_FOUND}>"), lambda it: it["start"] < it["end"])
    return F.struct(logs, state["last"], state["top"], state["deleted"], F.concat(state["found"], every)).cast(_STATE)


def _finding(outcome: Outcome, step: Column, start: Column, end: Column) -> Column:
    # Fetches are folded when the last of them came; what the first of them did to the log was at their begin.
    us = F.coalesce(step["since"], step["us"])
    values = (F.lit(str(outcome.value)), step["epoch"], us, step["slot"], start, end)
    return F.struct(*values).cast(_FOUND)


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
    return F.struct(state["logs"], own, top, deleted, state["found"]).cast(_STATE)


def _kept(state: Column) -> Column:
    """Return what each replica's log would hold at the end, and from where it would differ from the last leader's."""
    last = state["last"]

    def one(own: Column, slot: Column) -> Column:
        no_epoch_or_offset = (F.lit(None).cast("int"), F.lit(None).cast("bigint"))
        kept = F.struct(F.lit(str(Outcome.KEPT.value)), *no_epoch_or_offset, slot, F.lit(0), shared(own, last))
        return F.when(own.isNotNull() & last.isNotNull(), kept.cast(_FOUND))

    return F.array_compact(F.transform(state["logs"], one)).cast(f"array<{_FOUND}>")
