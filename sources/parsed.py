"""The lines of a delivery, each kind parsed once and for all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from schemas.files import FileKind
from sources import broker_log, metadata_dump, outcomes, request_log, routing, segment_dump
from sources.future_logs import without_future_logs
from sources.redaction import Redaction
from sources.request_schema import READ
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
    request_counts: DataFrame
    """How many lines `requests` has, by file, outcome, reason and the API if it is read.

    They are many, and wide: to look through a million for what is not there costs half a second.
    """
    request_outcomes: frozenset[tuple[str, str]]
    """Of which outcomes and APIs it has some."""

    @property
    def others(self) -> tuple[DataFrame, ...]:
        """All lines but those of requests."""
        return self.logs, self.dumps, self.metadata

    def requests_of(self, api_name: str) -> DataFrame:
        """The lines of requests; none of them where no usable line is of that API."""
        return self.requests if (outcomes.LANDED, api_name) in self.request_outcomes else none_like(self.requests)

    @property
    def with_rejected_requests(self) -> tuple[DataFrame, ...]:
        """All frames in which lines may have been rejected."""
        is_some = any(outcome == outcomes.REJECTED for outcome, _ in self.request_outcomes)
        return (self.requests, *self.others) if is_some else self.others


def parsed_lines(lines: DataFrame, files: Sequence[SourceFile], timezone: str, redaction: Redaction) -> Parsed:
    """Each kind's lines, parsed once and for all; a kind without a file costs nothing."""
    present = {file.kind for file in files}

    def parsed(kinds: frozenset[FileKind], parse: Callable[[DataFrame], DataFrame]) -> DataFrame:
        """The lines of files of these kinds, parsed; none if the capture has no such file."""
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
    counts = settled(
        outcomes.counted(requests, F.when(F.col("api_name").isin(*READ), F.col("api_name")).alias("api_name"))
    )
    found = counts.select(outcomes.OUTCOME, "api_name").distinct().collect()
    return Parsed(
        requests,
        logs,
        parsed(frozenset({FileKind.SEGMENT_DUMP}), segment_dump.parse),
        parsed(frozenset({FileKind.METADATA_DUMP}), metadata_dump.parse),
        FileKind.SEGMENT_DUMP in present,
        to_the_second,
        counts,
        frozenset((outcome, api_name) for outcome, api_name in found),
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
