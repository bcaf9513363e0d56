"""The lines of a delivery, each kind parsed once and for all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from schemas.kinds import FileKind
from sources import broker_log, metadata_dump, request_log, routing, segment_dump
from sources.future_logs import without_future_logs
from sources.redaction import Redaction
from sources.source_file import SourceFile
from sources.whole_seconds import spread_over_seconds


@dataclass(frozen=True)
class Parsed:
    """The lines of each kind, parsed, with what became of each line (`sources.outcomes`)."""

    requests: DataFrame
    logs: DataFrame
    dumps: DataFrame
    metadata: DataFrame
    has_dumps: bool
    """Whether there is a segment's dump at all."""
    to_the_second: frozenset[str]
    """The files whose times have no fraction: they are spread over their second, and may be wrong by one."""

    @property
    def frames(self) -> tuple[DataFrame, ...]:
        """All of them."""
        return self.requests, self.logs, self.dumps, self.metadata


def parsed_lines(lines: DataFrame, files: Sequence[SourceFile], timezone: str, redaction: Redaction) -> Parsed:
    """Each kind's lines, parsed once and for all; a kind without a file costs nothing."""
    present = {file.kind for file in files}

    def parsed(kinds: frozenset[FileKind], parse: Callable[[DataFrame], DataFrame]) -> DataFrame:
        if kinds.isdisjoint(present):
            return none_like(parse(lines))
        return settled(parse(routing.routed(lines, kinds)))

    logs = parsed(routing.WITH_OTHER_LINES, partial(broker_log.parse, timezone=timezone))
    if any(file.has_future_logs for file in files):
        logs = settled(without_future_logs(logs))
    requests = parsed(routing.WITH_REQUESTS, lambda each: redaction.requests(request_log.parse(each, timezone)))
    to_the_second = frozenset(file.name for file in files if file.is_to_the_second)
    if to_the_second:
        requests, logs = map(settled, spread_over_seconds(requests, logs, to_the_second))
    return Parsed(
        requests,
        logs,
        parsed(frozenset({FileKind.SEGMENT_DUMP}), segment_dump.parse),
        parsed(frozenset({FileKind.METADATA_DUMP}), metadata_dump.parse),
        FileKind.SEGMENT_DUMP in present,
        to_the_second,
    )


def settled(frame: DataFrame) -> DataFrame:
    """The frame computed once and for all, its plan cut.

    Each step uses most of those before it, several times over: the plan of all together takes minutes to analyse.
    """
    return frame.localCheckpoint()


def none_like(frame: DataFrame) -> DataFrame:
    """No rows of the frame's columns, in a plan that Spark sees to be empty, and so all that is made of it."""
    nothing = [F.lit(None).cast(field.dataType).alias(field.name) for field in frame.schema]
    return frame.sparkSession.range(0).select(*nothing).where(F.lit(False))
