"""A scenario: what a synthetic cluster is like and what befalls it, as a YAML file says it; wrong keys have a name."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from schemas.yaml_text import NoMappingError, mapping_of
from sources.errors import CaptureError

Share = Annotated[float, Field(ge=0, le=1)]
Records = Annotated[int, Field(ge=1, le=1_000_000)]


class ScenarioError(CaptureError):
    """A scenario that cannot be: its message is one line."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Freeze(_Strict):
    """A follower that does not fetch for a while: the ISR shrinks past the lag time, it comes back and rejoins."""

    follower: Annotated[int, Field(ge=1)] = 1
    """Which of the epoch's followers, in the order in which they will lead."""
    begins: Share = 0.3
    ends: Share = 0.6
    """When, as shares of the epoch."""


class Epoch(_Strict):
    """A leader epoch, which every partition lives through."""

    freeze: Freeze | None = None
    loses: Annotated[int, Field(ge=0, le=1_000_000)] = 0
    """Records that the leader appended last and nobody else had: its successor begins without them."""
    returns: Share = 0.3
    """When, as a share of the next epoch, the leader that lost them comes back and truncates."""


class Scenario(_Strict):
    """A cluster of one topic; every partition has as many rounds of one append and its followers' fetches."""

    seed: int = 0
    events: Annotated[int, Field(ge=1)] = 1_000_000
    """Appends and followers' fetches, nearly."""
    partitions: Annotated[int, Field(ge=1, le=1_000_000)] = 12
    replicas: Annotated[int, Field(ge=2, le=5)] = 3
    brokers: Annotated[int, Field(ge=2, le=100)] = 3
    hot_share: Annotated[float, Field(ge=0, lt=1)] = 0.0
    """Share of all events that partition 0 has; 0 gives it what the others have."""
    batch_sizes: Annotated[tuple[Records, ...], Field(min_length=1, max_length=64)] = (1, 12, 3, 40, 7)
    """Records of appends, in turn; each partition begins elsewhere in the row."""
    lags: Annotated[tuple[Annotated[int, Field(ge=0, le=100)], ...], Field(min_length=1, max_length=64)] = (0, 0, 1, 0)
    """Appends that a follower is behind the one before its fetch, in turn."""
    acks: Annotated[tuple[Annotated[int, Field(ge=-1, le=1)], ...], Field(min_length=1, max_length=8)] = (-1, 1)
    duration_seconds: Annotated[float, Field(gt=0)] = 600.0
    lag_time_ms: Annotated[int, Field(ge=1)] = 10_000
    """replica.lag.time.max.ms."""
    min_isr: Annotated[int, Field(ge=1)] = 1
    """min.insync.replicas."""
    epochs: Annotated[tuple[Epoch, ...], Field(min_length=1, max_length=64)] = (Epoch(),)

    @model_validator(mode="after")
    def _can_be(self) -> Self:
        """Refuse what no cluster could do, or what the truth has no closed form for."""
        for problem in self._problems():
            raise ValueError(problem)
        return self

    def _problems(self) -> list[str]:
        cycle = zip(self.lags, (*self.lags[1:], self.lags[0]), strict=True)
        problems = {
            "brokers: fewer than replicas": self.brokers < self.replicas,
            "lags: none may rise by more than one from one to the next, the first follows the last: "
            "no follower fetches backwards": any(after > before + 1 for before, after in cycle),
            "min_isr: above replicas - 1, which appends under a freeze would be refused by": self.min_isr
            >= self.replicas
            and any(epoch.freeze or epoch.loses for epoch in self.epochs),
            "replicas: a freeze or a loss needs three, for with two the way back into the ISR has no closed form": (
                self.replicas < 3 and any(epoch.freeze or epoch.loses for epoch in self.epochs)
            ),
            "hot_share: needs a second partition": self.hot_share > 0 and self.partitions < 2,
            "epochs: the last one has no successor to lose records": self.epochs[-1].loses > 0,
        }
        for number, (before, epoch) in enumerate(zip((Epoch(), *self.epochs), self.epochs, strict=False)):
            freeze = epoch.freeze
            problems[f"epochs.{number}.freeze: the last leader is away already"] = bool(freeze and before.loses)
            problems[f"epochs.{number}.freeze.follower: there are {self.replicas - 1}"] = bool(
                freeze and freeze.follower >= self.replicas
            )
        return [text for text, is_so in problems.items() if is_so]


def read_scenario(path: Path | None, **given: object) -> Scenario:
    """Return the scenario of a YAML file, or the usual one, with what is given (and not None) in its place."""
    told = {} if path is None else _read(path)
    try:
        return Scenario.model_validate({**told, **{key: value for key, value in given.items() if value is not None}})
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        said = first["msg"].removeprefix("Value error, ")
        text = "no such key" if first["type"] == "extra_forbidden" else said
        raise ScenarioError(f"scenario: {where}: {text}" if where else f"scenario: {text}") from error


def _read(path: Path) -> dict[str, object]:
    try:
        return mapping_of(path.read_text(encoding="utf-8"), str(path))
    except UnicodeDecodeError as error:
        raise ScenarioError(f"{path}: no YAML: it is not UTF-8") from error
    except NoMappingError as error:
        raise ScenarioError(str(error)) from error
