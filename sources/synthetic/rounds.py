"""Rounds: a partition's life as arithmetic. Every offset of it is a closed form of (partition, epoch, round).

A round is one append and a fetch of each follower that is not away, in their order. An append adds the next of a row of
batch sizes, so that the LEO after any round is a sum that needs no window; a follower asks for the LEO of an earlier
round; the HW is the least of such, by the protocol's own rule. Truth comes out without replaying anything.
"""

from __future__ import annotations

from itertools import accumulate

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from sources.synthetic import names as N
from sources.synthetic.forms import Forms, at


def _div(number: Column, by: Column) -> Column:
    """Return the whole quotient: `/` would go through a double."""
    return F.call_function("div", number, by)


def _records(forms: Forms, appends: Column) -> Column:
    """Return how many records so many appends of the row's partition hold."""
    sizes = forms.scenario.batch_sizes
    shift = F.pmod(F.hash(F.col(N.P), F.lit(forms.scenario.seed)), F.lit(len(sizes)))
    sums = [0, *accumulate(sizes)]

    def whole(count: Column) -> Column:
        return _div(count, F.lit(len(sizes))) * sums[-1] + at(sums, F.pmod(count, F.lit(len(sizes))))

    return whole(appends + shift) - whole(shift)


def leo_after(forms: Forms, round_: Column) -> Column:
    """Return the leader's LEO after a round of the row's epoch; -1 is the round before the first."""
    appending = forms.of_shape(lambda shape: shape.rounds - shape.quiet)
    in_epoch = F.least(F.greatest(round_ + 1, F.lit(0)), appending)
    return _records(forms, F.col(N.E).cast("bigint") * appending + in_epoch)


def _is_away(follower: int, round_: Column) -> Column:
    return (F.col(N.AWAY) == follower) & (round_ >= F.col(N.GONE)) & (round_ < F.col(N.BACK))


def asked(forms: Forms, follower: int, round_: Column) -> Column:
    """Return the offset a follower asks for in a round: the LEO some appends ago, or where it was when it went away."""
    lags = forms.scenario.lags
    lag = F.when(F.col(N.AWAY) == follower, 0).otherwise(at(lags, F.pmod(round_ + follower, F.lit(len(lags)))))
    is_back = (F.col(N.AWAY) == follower) & (round_ == F.col(N.BACK))
    return leo_after(forms, F.when(is_back, F.col(N.GONE) - 1).otherwise(round_ - 1 - lag))


def _known(forms: Forms, follower: int, round_: Column) -> Column:
    """Return the leader's idea of a follower's LEO after its turn in a round; -1 before its first fetch."""
    last = F.when(F.col(N.GONE) == 0, -1).otherwise(leo_after(forms, F.col(N.GONE) - 2))
    heard = F.when(_is_away(follower, round_), last).otherwise(asked(forms, follower, round_))
    return F.when(round_ < 0, -1).otherwise(heard)


def rounds(spark: SparkSession, forms: Forms) -> DataFrame:
    """One row per round of a partition: `P`, `E`, `M`, LEOs, the absence, what each follower asked and is known for."""
    epochs, partitions = len(forms.scenario.epochs), forms.scenario.partitions
    hot, other = forms.hot.rounds * epochs, forms.other.rounds * epochs
    cold, late = F.lit(max(partitions - 1, 1)), F.col("id") - hot
    placed = spark.range(hot + other * (partitions - 1)).select(
        F.when(late < 0, 0).otherwise(F.pmod(late, cold) + 1).cast("int").alias(N.P),
        F.when(late < 0, F.col("id")).otherwise(_div(late, cold)).alias("r"),
    )
    length = forms.of_shape(lambda shape: shape.rounds)
    numbered = placed.select(
        N.P, _div(F.col("r"), length).cast("int").alias(N.E), F.pmod("r", length).cast("bigint").alias(N.M)
    )
    return _with_offsets(with_absence(numbered, forms), forms)


def with_absence(frame: DataFrame, forms: Forms) -> DataFrame:
    """Return rows of (partition, epoch) with who is away in the epoch, and where it began."""
    return frame.withColumns(
        {
            N.AWAY: forms.of_absence(lambda absence: absence.follower),
            N.GONE: forms.of_absence(lambda absence: absence.gone),
            N.OUT: forms.of_absence(lambda absence: absence.out),
            N.BACK: forms.of_absence(lambda absence: absence.back),
            N.BEGIN: leo_after(forms, F.lit(-1)),
        }
    )


def _with_offsets(frame: DataFrame, forms: Forms) -> DataFrame:
    """The rounds with the leader's LEO, and by follower what it asks for, is given, and was known of it."""
    now = F.col(N.M)
    last = now == forms.of_shape(lambda shape: shape.rounds) - 1
    columns = {N.LEO: leo_after(forms, now), N.LEO_BEFORE: leo_after(forms, now - 1)}
    for i in forms.followers:
        goes = (F.col(N.AWAY) == i) & (now == F.col(N.GONE) - 1)
        columns |= {
            f"asks_{i}": F.when(~_is_away(i, now), asked(forms, i, now)),
            f"gets_{i}": F.when(last | goes, leo_after(forms, now)).otherwise(asked(forms, i, now + 1)),
            f"known_{i}": _known(forms, i, now),
            f"was_known_{i}": _known(forms, i, now - 1),
        }
    return frame.withColumns(columns)


def high_watermark(forms: Forms, turn: int) -> Column:
    """Return the HW of a round after the turn of a follower; 0 is the append, -1 just before it.

    The least of the LEO and of what is known of those that hold it; a follower out of the ISR does again from its
    second fetch on: it has caught up, and its joining is in flight.
    """
    held = []
    for i in forms.followers:
        rejoins = (F.col(N.M) > F.col(N.BACK) + 1) | ((F.col(N.M) == F.col(N.BACK) + 1) & F.lit(turn >= i))
        is_out = (F.col(N.AWAY) == i) & (F.col(N.M) >= F.col(N.OUT)) & ~rejoins
        held.append(F.when(~is_out, F.col(f"known_{i}" if i <= turn else f"was_known_{i}")))
    return F.greatest(F.col(N.BEGIN), F.least(F.col(N.LEO if turn >= 0 else N.LEO_BEFORE), *held))


def broker_at(forms: Forms, place: Column | int) -> Column:
    """Return the broker whose turn to lead comes so many epochs after the row's own leader's; 0 is the leader."""
    position = F.pmod(F.col(N.E) + place, F.lit(forms.scenario.replicas))
    return (F.pmod(F.col(N.P) + position, F.lit(forms.scenario.brokers)) + 1).cast("int")
