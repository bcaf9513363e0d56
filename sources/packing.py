"""What the bytes of a file are packed in: plain or gzip, and what is wrong with any other."""

from __future__ import annotations

import gzip
from io import BufferedIOBase
from pathlib import Path

GZIP_MAGIC = b"\x1f\x8b"
TRUNCATED = "compressed data ends early or is damaged"
NOT_TEXT = "not text"
NOT_GZIP = "named .gz, but not gzip"
GZIP_UNNAMED = "gzip, but not named .gz"
PACKED = {
    magic: f"packed by {program}: unpack it, or pack it by gzip"
    for magic, program in (
        (b"BZh", "bzip2"), (b"\xfd7zXZ", "xz"), (b"\x28\xb5\x2f\xfd", "zstd"), (b"\x04\x22\x4d\x18", "lz4"),
        (b"PK\x03\x04", "zip"),
    )
}  # fmt: skip
"""By the bytes that such a file begins with: what is to be done about it."""
UNREADABLE = (NOT_TEXT, NOT_GZIP, GZIP_UNNAMED, *PACKED.values())


def opened(path: Path) -> BufferedIOBase:
    """Return the content of a file, unpacked."""
    return gzip.open(path) if _is_gzip(path) else path.open("rb")


def mismatch(path: Path, head: bytes) -> str | None:
    """Return what makes a file unreadable that begins with `head`, unpacked; None where nothing does."""
    is_named = path.suffix == ".gz"
    if is_named != _is_gzip(path) and path.stat().st_size > 0:
        return NOT_GZIP if is_named else GZIP_UNNAMED
    packed = next((problem for magic, problem in PACKED.items() if head.startswith(magic)), None)
    return packed or (NOT_TEXT if b"\0" in head else None)


def _is_gzip(path: Path) -> bool:
    with path.open("rb") as stream:
        return stream.read(2) == GZIP_MAGIC
