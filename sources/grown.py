"""Logs that grew: a file that begins with the whole content of another one, of which only the lines after it are new.

A file that has landed is known by its digest and its number of lines alone. Its end is looked for around the last of
these lines: behind it, or within it where the file was collected while that line was being written.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Callable, Mapping

from sources.source_file import SourceFile, byte_lines_with_ends

BEGINS_MESSAGE = re.compile(rb"\[?\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d")

MAX_TORN_BYTES = 1_000_000
"""In a longer line no end of another file is looked for: that is a hash for each of its bytes."""


def beginnings(file: SourceFile, others: Mapping[str, int], digest: Callable[[str], str]) -> dict[str, int]:
    """Of other files those that the file begins with, by digest, and how many of its lines each has for good.

    `others` has the number of lines of each. A line that was torn is not one of them, nor is a message of several lines
    that goes on behind the end: the first line of it has the time of all.
    """
    wanted: defaultdict[int, set[str]] = defaultdict(set)
    for other, lines in others.items():
        wanted[lines].add(other)
        wanted[lines + 1].add(other)  # of a packed one that was cut the line with the cut is not among those read
    found: dict[str, int] = {}
    whole: set[str] = set()
    sha, number, begun, last = hashlib.sha256(), 0, 0, max(wanted, default=0)
    for number, line in enumerate(byte_lines_with_ends(file), 1):
        is_first = BEGINS_MESSAGE.match(line) is not None
        found |= dict.fromkeys(whole, number - 1 if is_first or not begun else begun - 1)
        whole = set()
        if number > last:
            break
        begun = number if is_first else begun
        if sought := wanted[number] - found.keys():
            whole, torn = _ending(line, sha, sought, digest)
            found |= dict.fromkeys(torn, (begun or number) - 1)
        sha.update(line)
    return found | dict.fromkeys(whole, number)


def _ending(
    line: bytes, before: hashlib._Hash, wanted: set[str], digest: Callable[[str], str]
) -> tuple[set[str], set[str]]:
    """Which of the files end with the line, with or without its line end, and which within it."""
    complete = len(line.rstrip(b"\r\n"))
    sha = before.copy()
    sha.update(line)
    ends = {len(line): digest(sha.hexdigest())}
    if len(line) <= MAX_TORN_BYTES and not wanted <= set(ends.values()):
        sha = before.copy()
        for at in range(1, len(line)):
            sha.update(line[at - 1 : at])
            ends[at] = digest(sha.hexdigest())
    whole = {ended for at, ended in ends.items() if at >= complete} & wanted
    return whole, (set(ends.values()) & wanted) - whole
