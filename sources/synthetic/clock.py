"""When a scenario's epochs and rounds are: closed forms too, in microseconds since the epoch."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from sources.synthetic import names as N
from sources.synthetic.forms import Forms

DAWN_US = 1_767_225_600_000_000
"""2026-01-01, UTC: where time begins."""
GAP_US = 20_000
"""Nobody leads for this long between two epochs."""


def epoch_us(forms: Forms) -> Column:
    """Return when the epoch's first round begins, microseconds since the epoch."""
    lasts = forms.of_shape(lambda shape: shape.rounds * shape.round_us)
    return F.lit(DAWN_US) + F.col(N.E).cast("bigint") * (lasts + GAP_US)


def turn_us(forms: Forms, turn: Column | float, round_: Column | None = None) -> Column:
    """Return when a turn of a round comes: 0 the append, 1, 2 … the followers, then room for what follows."""
    number = F.col(N.M) if round_ is None else round_
    step = forms.of_shape(lambda shape: shape.step_us)
    since = number * forms.of_shape(lambda shape: shape.round_us) + (step * turn).cast("bigint")
    return epoch_us(forms) + since
