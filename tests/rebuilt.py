"""What many modules ask of the engine, rebuilt in one replay: a plan costs more than hundreds of histories.

And in another one what needs its longest plan, where requests are lost or nothing tells the ISR.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F

from jobs.keeping import keeping
from replay.profile import Profile
from replay.timelines import Timelines
from schemas import columns as C
from tests.engine import each_by_its_own, in_order, profile, replayed
from tests.story import Story
from tests.told import TABLES, Told
from tests.twin.histories import History, combined

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Landing = Mapping[str, Sequence[Mapping[str, Any]]]


@dataclass(frozen=True)
class Logs:
    """Landing rows of some clusters, the rules that each of them spoke, and the most replicas of a partition."""

    landing: Landing
    spoken: Mapping[str, Profile]
    slots: int


Ask = Callable[[], Logs]
_ASKED: dict[str, Ask] = {}
_OF = "/"


def asked(logs: Ask) -> Ask:
    """Have these logs replayed with those that other modules of the run ask; the fixture `rebuilt` has the answers."""
    _ASKED[_named(logs)] = logs
    return logs


def logs_of(told: Iterable[History | Story], slots: int, landing: Landing | None = None) -> Logs:
    """The logs of histories or stories, or what is left of them."""
    each = list(told)
    return Logs(combined(each) if landing is None else landing, {one.name: profile(one) for one in each}, slots)


@dataclass(frozen=True)
class Rebuilt:
    """The timelines of all that was asked, each cluster under its own name and that of who asked."""

    timelines: Timelines
    told: Mapping[str, Mapping[str, Told]]

    def __getitem__(self, logs: Ask) -> Mapping[str, Told]:
        """The rows of each cluster of these logs, in order."""
        return self.told[_named(logs)]

    def frames(self, logs: Ask) -> Timelines:
        """The timelines of these logs alone."""
        name, own = F.substring_index(C.CLUSTER_ID, _OF, 1), F.substring_index(C.CLUSTER_ID, _OF, -1)
        made = {
            table: rows.where(name == _named(logs)).withColumn(C.CLUSTER_ID, own)
            for table, rows in vars(self.timelines).items()
        }
        return Timelines(**made)


class Answers:
    """The timelines of all that the collected modules ask, for as long as the stack is open; made when first asked."""

    def __init__(self, spark: SparkSession, stack: ExitStack) -> None:
        self._spark, self._stack = spark, stack
        self._logs = {name: logs() for name, logs in _ASKED.items()}
        self._made: dict[bool, Rebuilt] = {}

    def __getitem__(self, logs: Ask) -> Mapping[str, Told]:
        """The rows of each cluster of these logs, in order."""
        return self._of(logs)[logs]

    def frames(self, logs: Ask) -> Timelines:
        """The timelines of these logs alone."""
        return self._of(logs).frames(logs)

    def with_all_beside(self, logs: Ask) -> Timelines:
        """The timelines of these logs and of all that are replayed with them."""
        return self._of(logs).timelines

    def _of(self, logs: Ask) -> Rebuilt:
        kind = _is_torn(self._logs[_named(logs)])
        if kind not in self._made:
            alike = {name: own for name, own in self._logs.items() if _is_torn(own) is kind}
            self._made[kind] = self._stack.enter_context(_at_once(self._spark, alike))
        return self._made[kind]


def _is_torn(logs: Logs) -> bool:
    """Whether requests are lost, or nothing tells the ISR."""
    return any(rules.has_silence or rules.has_untold_isr for rules in logs.spoken.values())


@contextmanager
def _at_once(spark: SparkSession, each: Mapping[str, Logs]) -> Iterator[Rebuilt]:
    """All these logs, replayed in one job."""
    landing, spoken = defaultdict(list), {}
    for name, logs in each.items():
        spoken |= {f"{name}{_OF}{cluster}": rules for cluster, rules in logs.spoken.items()}
        for table, rows in logs.landing.items():
            landing[table] += [{**row, C.CLUSTER_ID: f"{name}{_OF}{row[C.CLUSTER_ID]}"} for row in rows]
    slots = max(logs.slots for logs in each.values())
    with keeping() as keep:
        # What the timelines are made of is let go before the tests run: it would fill the heap until the end.
        with replayed(spark, landing, slots, each_by_its_own(spoken)) as made:
            kept = Timelines(**{name: keep(rows) for name, rows in vars(made).items()})
            answers = Rebuilt(kept, _by_who_asked(kept))
        yield answers


def _by_who_asked(timelines: Timelines) -> Mapping[str, Mapping[str, Told]]:
    """The rows of each cluster, by its own name, by who asked."""
    told: dict[str, dict[str, Told]] = defaultdict(lambda: defaultdict(Told))
    for kind, table in TABLES.items():
        for row in in_order(getattr(timelines, table)):
            name, cluster = row[C.CLUSTER_ID].split(_OF)
            getattr(told[name][cluster], kind).append(row | {C.CLUSTER_ID: cluster})
    return told


def _named(logs: Ask) -> str:
    """A function's name, with that of its module."""
    return f"{logs.__module__.rpartition('.')[2]}.{logs.__name__}"
