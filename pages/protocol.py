"""docs/protocol.md: the rules that a replay goes by, for who would dispute them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence

from pages.words import meanings
from replay import high_watermark, in_sync, rules
from replay import names as N
from replay.profile import Profile
from replay.releases import profile_for
from replay.rules import CARRIED, EVALUATES_HIGH_WATERMARK, RULES
from schemas.columns import Field

HEAD = """\
# The protocol

<!-- Made by `make docs` from replay/rules.py and what is beside it: edit that, not this page. -->

What a replay takes Kafka's replication to be: these rows are what the engine runs, not a description of it. Each names
the place in Kafka's sources that it follows; who finds one wrong has found a bug. [The protocol by
scenarios](guides/the-protocol-by-scenarios.md) shows them at work.
"""
MEANINGS = {
    N.ISR_MASK: "The committed in-sync replicas.",
    N.ASSIGNED_MASK: "The assigned replicas, those being added or removed too.",
    N.FENCED_MASK: "Replicas whose brokers are fenced or shutting down, in the leader's metadata.",
    N.IS_REREGISTERED: "A replica's broker has registered anew since it last fetched.",
}
HOW = {
    rules.ALWAYS: "",
    rules.EACH_FETCH: "where `evaluates_each_fetch`",
    rules.COMMITS: "where `evaluates_commits`",
    rules.PROPOSALS: "where not `evaluates_commits`",
}
WHO_HOLDS: Sequence[Callable[..., object]] = (
    high_watermark.allows, high_watermark.smallest_held, high_watermark.held_mask, in_sync.is_caught_up,
    in_sync.is_eligible, in_sync.with_caught_up, in_sync.may_join, in_sync.with_joining,
)  # fmt: skip
RELEASES = (
    "2.0.0",
    "2.4.0",
    "2.5.0",
    "2.7.0",
    "2.8.0",
    "2.8.1",
    "3.1.0",
    "3.3.0",
    "3.4.1",
    "3.5.0",
    "3.6.0",
    "3.7.0",
    "4.0.0",
)
"""Those with which some rule changed, each at its own protocol version."""


def protocol_page() -> str:
    """The page."""
    assigned = [
        (_code(rule.event), rule.of.value, _code(rule.variable), f"{'at least ' * rule.at_least}{_code(rule.becomes)}",
         rule.because, rule.source)
        for rule in RULES
    ]  # fmt: skip
    evaluated = [
        (_code(event), HOW[by], _code(condition) if condition != "true" else "", source)
        for event, by, condition, source in EVALUATES_HIGH_WATERMARK
    ]
    parts = (
        HEAD,
        f"{inspect.cleandoc(rules.__doc__ or '')}\n",
        "## What a leader has\n",
        _table(("variable", "meaning", "which value lives on"), _variables()),
        "## What an event assigns\n",
        _table(("event", "whose", "variable", "becomes", "because", "source"), assigned),
        "## When the high watermark is evaluated\n\nThen, and at no other time:\n",
        _table(("event", "by which rule", "if", "source"), evaluated),
        "## For whom it waits\n",
        "\n".join(f"* `{each.__name__}`: {_said(each)}" for each in WHO_HOLDS),
        "\n## What changed with which release\n",
        _table(("rule", *RELEASES), _by_release()),
        "\n".join(f"* `{name}`: {meaning}" for name, meaning in _meanings().items()),
    )
    return "\n".join(parts) + "\n"


def _variables() -> Iterator[Sequence[str]]:
    """The variables, and how each is carried on."""
    for name, carry in CARRIED.items():
        yield _code(name), name.comment if isinstance(name, Field) else MEANINGS[name], carry.value


def _by_release() -> Iterator[Sequence[str]]:
    """The rules that are not the same for all releases."""
    spoken = [profile_for(release) for release in RELEASES]
    for name in _meanings():
        values = [getattr(one, name) for one in spoken]
        if len(set(values)) > 1:
            told = ["yes" if value is True else "no" if value is False else str(value) for value in values]
            yield _code(name), *["" if old == new else new for old, new in zip(["", *told], told, strict=False)]


def _meanings() -> dict[str, str]:
    """What each rule of a profile says, by its name."""
    told = meanings(Profile)
    return {name: meaning for name, meaning in told.items() if not name.startswith("has_") and name != "by_broker"}


def _said(function: Callable[..., object]) -> str:
    """What a function says of itself, without "Return"."""
    return " ".join((inspect.getdoc(function) or "").split()).removeprefix("Return ")


def _code(text: str) -> str:
    return f"`{text}`"


def _table(head: Sequence[str], rows: Iterator[Sequence[str]] | Sequence[Sequence[str]]) -> str:
    """A table of Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines) + "\n"
