"""The left side of a story's line, read: the inverse of `str(command)`."""

from __future__ import annotations

import re
from collections.abc import Callable

from tests.twin import commands as happens
from tests.twin import faults
from tests.twin.commands import Command


class NotationError(ValueError):
    """A line that is not in the notation."""


def numbers(text: str) -> tuple[int, ...]:
    """The numbers of a list such as "1 2 3"."""
    return tuple(int(number) for number in text.split())


class Options:
    """What follows the first comma: each part is a word with its argument, taken once."""

    def __init__(self, parts: list[str]) -> None:
        """Split "isr 1 2" into word and argument; "2 3 not told" is the one that ends with its words."""
        self._left = dict(self._option(part) for part in parts)

    @staticmethod
    def _option(part: str) -> tuple[str, str]:
        match = re.fullmatch(r"(\D+?)(?: (all|[\d. ]+)(?: s)?)?|([\d ]+) (not told)", part)
        if match is None:
            raise NotationError(part)
        word, argument, untold, not_told = match.groups()
        return (not_told, untold) if not_told else (word, argument or "")

    def flag(self, word: str) -> bool:
        """Whether the word is there."""
        return self._left.pop(word, None) is not None

    def number(self, word: str) -> int | None:
        """The number after the word, if it is there."""
        text = self._left.pop(word, None)
        return None if text is None else int(text)

    def text(self, word: str) -> str:
        """What is said with the word; empty without it."""
        return self._left.pop(word, "")

    def list(self, word: str) -> tuple[int, ...]:
        """The numbers with the word; none without it."""
        return numbers(self._left.pop(word, ""))

    def acks(self) -> int:
        """The acks of a produce request; 1 if nothing is said."""
        text = self._left.pop("acks", "1")
        return -1 if text == "all" else int(text)

    def check_empty(self) -> None:
        """Refuse words that nobody asked for."""
        if self._left:
            raise NotationError(f"what is {', '.join(self._left)!r}?")


def _fetch(head: re.Match[str], options: Options) -> Command:
    replica, offset = map(int, head.groups())
    flags = {word: options.flag(word.replace("_", " ")) for word in ("at_once", "parked", "dropped")}
    return happens.Fetch(replica, offset, options.number("gets"), **flags)


def _lead(head: re.Match[str], options: Options) -> Command:
    replicas = options.list("replicas")
    return happens.Lead(int(head[1]), int(head[2]), replicas, options.list("isr") or replicas)


def _append(head: re.Match[str], options: Options) -> Command:
    txn = options.number("txn")
    return happens.Append(int(head[1]), options.acks(), options.number("at"), -1 if txn is None else txn)


def _elect(head: re.Match[str], options: Options) -> Command:
    unclean, isr, untold = options.flag("unclean"), options.list("isr"), options.list("not told")
    return faults.Elect(int(head[1]), int(head[2]), unclean, isr, untold)


def _restart(head: re.Match[str], options: Options) -> Command:
    hw, leo = (None if text is None else int(text) for text in head.groups()[1:])
    kafka, lag_s = options.text("kafka"), options.number("lag")
    return faults.Restart(int(head[1]), hw, leo, options.flag("not told"), kafka, lag_s)


def _time(head: re.Match[str], _: Options) -> Command:
    return faults.PassTime(int(head[1]) * (1000 if head[2] == "s" else 1))


LINES: tuple[tuple[str, Callable[[re.Match[str], Options], Command]], ...] = (
    (r"(\d+) leads epoch (\d+)", _lead),
    (r"append (\d+)", _append),
    (r"(commit|abort) (\d+)", lambda head, _: happens.EndTransaction(int(head[2]), head[1])),
    (r"produces time out", lambda _, __: happens.TimeOutProduces()),
    (r"(\d+) fetches at (\d+)", _fetch),
    (r"response to (\d+)", lambda head, _: happens.Respond(int(head[1]))),
    (r"consumer fetches at (\d+)", lambda head, o: happens.ConsumerFetch(int(head[1]), o.flag("read_committed"))),
    (r"propose isr ([\d ]+)", lambda head, _: happens.ProposeIsr(numbers(head[1]))),
    (r"nobody is out of sync", lambda _, __: happens.CheckIsr()),
    (r"isr ([\d ]+)", lambda head, o: happens.CommitIsr(numbers(head[1]), o.flag("by metadata"))),
    (r"reject", lambda _, __: happens.RejectIsr()),
    (r"(\d+) is elected epoch (\d+)", _elect),
    (r"no leader epoch (\d+)", lambda head, _: faults.NoLeader(int(head[1]))),
    (r"tell (\d+)", lambda head, _: faults.Tell(int(head[1]))),
    (r"kill (\d+)", lambda head, _: faults.Kill(int(head[1]))),
    (r"restart (\d+)(?: hw (\d+))?(?: leo (\d+))?", _restart),
    (r"(\d+) truncates(?: to (\d+))?", lambda h, _: happens.Truncate(int(h[1]), None if h[2] is None else int(h[2]))),
    (r"time \+(\d+) (s|ms)", _time),
    (r"min isr (\d+)", lambda head, _: faults.SetMinIsr(int(head[1]))),
    (r"log start (\d+)", lambda head, _: happens.MoveLogStart(int(head[1]))),
    (r"replicas ([\d ]+)", lambda head, o: faults.SetReplicas(numbers(head[1]), o.number("epoch"))),
    (r"fence (\d+)", lambda head, _: faults.Fence(int(head[1]))),
    (r"unfence (\d+)", lambda head, _: faults.Unfence(int(head[1]))),
)


def read(text: str) -> Command:
    """What happens on a line."""
    head, *parts = [part.strip() for part in text.split(",")]
    for pattern, make in LINES:
        match = re.fullmatch(pattern, head)
        if match is not None:
            options = Options(parts)
            command = make(match, options)
            options.check_empty()
            return command
    raise NotationError(f"nothing happens like {text!r}")
