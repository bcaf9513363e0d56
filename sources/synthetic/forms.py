"""A scenario's numbers as columns: what holds of the partition and the epoch that a row is of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pyspark.sql import Column
from pyspark.sql import functions as F

from sources.synthetic import names as N
from sources.synthetic.scenario import Scenario
from sources.synthetic.shape import Absence, Shape, shape_of


@dataclass(frozen=True)
class Forms:
    """A scenario with the shapes of its partitions: the hot one, number 0, and the others."""

    scenario: Scenario
    hot: Shape
    other: Shape

    @property
    def followers(self) -> range:
        """The followers of an epoch, in the order in which they will lead."""
        return range(1, self.scenario.replicas)

    def of_shape(self, value: Callable[[Shape], int]) -> Column:
        """Return a number of the row's partition's shape."""
        hot, other = (F.lit(value(shape)).cast("bigint") for shape in (self.hot, self.other))
        return other if value(self.hot) == value(self.other) else F.when(F.col(N.P) == 0, hot).otherwise(other)

    def of_absence(self, value: Callable[[Absence], int]) -> Column:
        """Return a number of the absence in the row's epoch."""
        hot, other = ([value(absence) for absence in shape.absences] for shape in (self.hot, self.other))
        found = at(other, F.col(N.E))
        return found if hot == other else F.when(F.col(N.P) == 0, at(hot, F.col(N.E))).otherwise(found)


def forms_of(scenario: Scenario) -> Forms:
    """Return the forms of a scenario; one that cannot be is a `ScenarioError`."""
    events, partitions, share = scenario.events, scenario.partitions, scenario.hot_share
    if not share:
        shape = shape_of(scenario, events / partitions)
        return Forms(scenario, shape, shape)
    return Forms(
        scenario, shape_of(scenario, events * share), shape_of(scenario, events * (1 - share) / (partitions - 1))
    )


def at(values: Sequence[int], index: Column) -> Column:
    """Return the number at `index` of a short row of numbers."""
    return F.get(F.array(*[F.lit(value).cast("bigint") for value in values]), index.cast("int"))
