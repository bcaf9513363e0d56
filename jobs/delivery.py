"""A delivery: a capture's files, whose they are, and how they are to be read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from jobs.command import DEFAULT_CLUSTER_ID, capture_option, cluster_option, pattern_option, timezone_option
from jobs.deliveries import digest_of
from jobs.ingest_summary import say_what_comes_twice, say_what_is_there, say_what_is_to_the_second
from jobs.progress import step
from jobs.redacting import redact_key_option, redact_option, redacting
from sources.capture_folder import capture_root
from sources.coverage import found, repeated
from sources.files import discover, with_unknown_layouts
from sources.log4j import Layout
from sources.redaction import Redacted, Redaction
from sources.source_file import SourceFile
from sources.stated_cluster import stated_cluster_id

DELIVERY_OPTIONS = (
    cluster_option(f"from the logs, or '{DEFAULT_CLUSTER_ID}'"), capture_option, timezone_option, pattern_option,
    redact_option, redact_key_option,
)  # fmt: skip
"""How a capture is to be read and named."""


class DeliveryArguments(TypedDict):
    """What a command hands on to `delivery_of`: the values of `DELIVERY_OPTIONS`."""

    cluster_id: str | None
    capture_id: str | None
    timezone: str
    layout: Layout | None
    redact: frozenset[Redacted]
    redact_key_file: Path | None


BYTES_A_REQUEST = 1_000
"""Of a capture's text, for each append and each fetch of a partition: of the bundled failover 1,100."""


@dataclass(frozen=True)
class Delivery:
    """A capture's files, whose they are, and how they are read."""

    files: list[SourceFile]
    cluster_id: str
    capture_id: str
    timezone: str
    layout: Layout | None
    redaction: Redaction
    is_cluster_told: bool = True
    """Whether somebody named the cluster, or a line of its brokers did."""

    @property
    def requests(self) -> int:
        """About how many requests of a partition there may be, by the size of what is in the files."""
        return sum(file.size for file in self.files) // BYTES_A_REQUEST


def delivery_of(
    capture: Path,
    *,
    cluster_id: str | None,
    capture_id: str | None,
    timezone: str,
    layout: Layout | None,
    redact: frozenset[Redacted],
    redact_key_file: Path | None,
) -> Delivery:
    """What is in a folder; looked at before Spark starts, so that a wrong folder or a weak key is told at once."""
    redaction = redacting(redact, redact_key_file)
    there = _find_files(capture, timezone)
    told = cluster_id or stated_cluster_id(there)
    cluster = told or DEFAULT_CLUSTER_ID
    files = redaction.files(with_unknown_layouts(there, layout))
    return Delivery(files, cluster, capture_id or digest_of(files), timezone, layout, redaction, told is not None)


def _find_files(capture: Path, timezone: str) -> list[SourceFile]:
    """The capture's files, and what they are, told."""
    with step("look at the capture") as looking:
        files = discover(capture_root(capture))
        looking.note = f"{len(files)} files"
    say_what_is_there(found(files, timezone))
    say_what_comes_twice(repeated(files, timezone), timezone)
    say_what_is_to_the_second(files)
    return files
