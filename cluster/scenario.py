"""What a scenario is, and the decorator that declares one: its docstring says what happens, its body is the script."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from cluster.stage import Stage
from cluster.topic import Topic

Script = Callable[[Stage], None]

ORDERS = Topic("orders", leaders=(1, 2, 3), settings={"min.insync.replicas": "2"})
CLICKS = Topic("clicks", leaders=(2, 3), acks="1", settings={"min.insync.replicas": "1"})
UNCLEAN = replace(CLICKS, settings={"min.insync.replicas": "1", "unclean.leader.election.enable": "true"})


@dataclass(frozen=True)
class Scenario:
    """A named way to run, and to break, a cluster."""

    name: str
    says: str
    script: Script
    seconds: float
    topics: Sequence[Topic]
    settings: Mapping[str, str]
    transactions: bool
    consumers: bool
    disks: int
    """Log directories of each broker."""


SCENARIOS: dict[str, Scenario] = {}


def scenario(
    *,
    seconds: float = 30,
    topics: Sequence[Topic] = (ORDERS, CLICKS),
    settings: Mapping[str, str] | None = None,
    transactions: bool = False,
    consumers: bool = False,
    disks: int = 1,
) -> Callable[[Script], Script]:
    """Declare the decorated script as the scenario of its name, which runs for at least `seconds`."""

    def declare(script: Script) -> Script:
        name = script.__name__
        says = " ".join((script.__doc__ or "").split())
        SCENARIOS[name] = Scenario(name, says, script, seconds, topics, settings or {}, transactions, consumers, disks)
        return script

    return declare
