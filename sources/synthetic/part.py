"""A part of a scenario's time, so that a cluster lands delivery by delivery."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from schemas import columns as C
from sources.synthetic.clock import DAWN_US
from sources.synthetic.scenario import Scenario, ScenarioError


@dataclass(frozen=True)
class Part:
    """From a share of the scenario's time to another one, exclusive; first and last have what lies outside it."""

    since: float = 0.0
    until: float = 1.0

    def __post_init__(self) -> None:
        """Refuse a part without any time."""
        if not 0 <= self.since < self.until <= 1:
            message = f"scenario: from {self.since:g} to {self.until:g} there is no time"
            raise ScenarioError(message)

    @property
    def name(self) -> str:
        """As its rows say they come from; parts of a scenario are files of their own."""
        return "scenario.yaml" if self == Part() else f"scenario-{self.since:g}-{self.until:g}.yaml"

    def of(self, rows: DataFrame, scenario: Scenario) -> DataFrame:
        """Return the rows of a landing table that happened in it."""

        def moment(share: float) -> int:
            return DAWN_US + round(share * scenario.duration_seconds * 1e6)

        at = F.unix_micros(C.EVENT_TIME)
        later = F.lit(True) if self.since == 0 else at >= moment(self.since)
        return rows.where(later if self.until == 1 else later & (at < moment(self.until)))


WHOLE = Part()
