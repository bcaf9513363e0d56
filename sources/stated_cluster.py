"""Which cluster a capture is of, by its brokers' own word."""

from __future__ import annotations

import re

from schemas.files import FileKind
from sources.sighting import COMPLETED, PREFIX_BYTES
from sources.source_file import SourceFile, byte_lines

CLUSTER_ID = re.compile(rb"Cluster ID = ([\w-]+)|of broker \d+ in cluster ([\w-]+)")


def stated_cluster_id(files: list[SourceFile]) -> str | None:
    """The cluster's id by a broker's own word; None where no line of it tells."""
    for file in files:
        if file.kind in (FileKind.SERVER_LOG, FileKind.CONSOLE_LOG) and file.is_readable:
            for line in byte_lines(file):
                if COMPLETED in line[:PREFIX_BYTES]:  # a long line, and never it
                    continue
                if match := CLUSTER_ID.search(line):
                    return (match[1] or match[2]).decode()
    return None
