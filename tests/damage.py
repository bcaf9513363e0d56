"""Damage as it comes to logs on their way: cut, flipped, doubled, shuffled; and what a hostile name would try."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from random import Random

HOSTILE = (
    b"'; DROP TABLE incidents; --", b"<script>alert(1)</script>", b"${jndi:ldap://x}", b"`rm -rf`", b"../../etc/passwd",
    b"%s%n", b"\\", b'"', b"\xff\xfe", b"\x00", b"\xe2\x80\xa8", b"\r", b"9" * 40, b"-1", b"{" * 3000, b"[" * 3000,
    b'{"a":' * 2000, b"NaN", b"\t", b" " * 500, b"x" * 100_000,
)  # fmt: skip

Lines = list[bytes]
Change = Callable[[Random, Lines], Lines]


def _somewhere(random: Random, lines: Lines) -> int:
    return random.randrange(len(lines))


def cut_line(random: Random, lines: Lines) -> Lines:
    """A line torn off, its rest gone or on a line of its own."""
    at = _somewhere(random, lines)
    place = random.randrange(len(lines[at]) + 1)
    rest = [lines[at][place:]] if random.random() < 0.5 else []
    return [*lines[:at], lines[at][:place], *rest, *lines[at + 1 :]]


def flip_bits(random: Random, lines: Lines) -> Lines:
    """Some bits of a line wrong."""
    at = _somewhere(random, lines)
    damaged = bytearray(lines[at])
    for _ in range(random.randint(1, 5) if damaged else 0):
        damaged[random.randrange(len(damaged))] ^= 1 << random.randrange(8)
    return [*lines[:at], *bytes(damaged).split(b"\n"), *lines[at + 1 :]]


def insert_hostile(random: Random, lines: Lines) -> Lines:
    """Something in a line that was not meant to be there."""
    at = _somewhere(random, lines)
    place = random.randrange(len(lines[at]) + 1)
    return [*lines[:at], lines[at][:place] + random.choice(HOSTILE) + lines[at][place:], *lines[at + 1 :]]


def repeat(random: Random, lines: Lines) -> Lines:
    """A piece of the log twice."""
    at = _somewhere(random, lines)
    return [*lines, *lines[at:]]


def shuffle(random: Random, lines: Lines) -> Lines:
    """Lines in another order."""
    return random.sample(lines, len(lines))


def drop(random: Random, lines: Lines) -> Lines:
    """A piece of the log gone; something is left."""
    at = _somewhere(random, lines)
    return [*lines[:at], *lines[at + random.randint(1, 10) :]] or [b""]


CHANGES: Sequence[Change] = (cut_line, flip_bits, insert_hostile, repeat, shuffle, drop)


def damaged(random: Random, lines: Lines) -> Lines:
    """The lines after one to five changes."""
    for _ in range(random.randint(1, 5)):
        lines = random.choice(CHANGES)(random, lines)
    return lines


@cache
def lines_of_file(path: Path) -> Lines:
    """The lines of a file of a bundled capture."""
    content = path.read_bytes()
    return (gzip.decompress(content) if path.suffix == ".gz" else content).splitlines()
