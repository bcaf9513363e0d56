r"""Lines that a container's runtime cut: it writes 16 KiB at most as one, and a request of many partitions is longer.

    2026-11-21T10:36:42.604123456Z stdout P [2026-11-21 10:36:42,604] DEBUG Completed request:{"requ    CRI
    2026-11-21T10:36:42.604123456Z stdout F estHeader":…
    {"log":"[2026-11-21 10:36:42,604] DEBUG Completed request:{\"requ","stream":"stdout","time":…}    docker's json-file
    {"log":"estHeader\":…\n","stream":"stdout","time":…}

A line is put together again where its first part lies; of the others only their place is left. One whose end is in
another file, for the runtime rotates its files wherever it likes, stays cut.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from schemas import columns as C
from sources.outcomes import LINE_COLUMNS
from sources.shippers import ISO
from sources.source_file import SourceFile

REST = "\t(the rest of a line that was cut)"
"""Text of what was put to the line before: for a parser the continuation of a message."""

_OF_STREAM = "std(?:out|err)"
_CRI = rf"^{ISO} {_OF_STREAM} [FP] "
_CRI_LENGTH = 64
"""Characters that hold what the runtime puts before a line."""
_DOCKER = '{"log":"'
_DOCKER_END = rf'(?s)^\{{"log":".*(","stream":"{_OF_STREAM}".*)$'
"""What docker puts before a line, and as a group what it puts behind it: that is looked for once, a line is long."""
_BEGINS = r"^\[?\d{4}-\d\d-\d\d[ T]\d\d:\d\d"
"""How a line begins, and no part of one: its process ended within the line before."""
_IS_PART = re.compile(rf'^{ISO} {_OF_STREAM} P |^\{{"log":".*(?<!\\n)","stream":"{_OF_STREAM}"'.encode(), re.DOTALL)
_STREAM, _LINE, _IS_CUT, _PARTS = "stream", "line_number", "is_cut", "parts"
_HEAD, _PIECE, _TAIL = "head", "piece", "tail"


def is_part(line: bytes) -> bool:
    """Whether the line goes on in the next one of its stream."""
    return _IS_PART.match(line) is not None


def with_parts_joined(lines: DataFrame, files: Iterable[SourceFile]) -> DataFrame:
    """The lines, as their collector wrote them, those that it cut in one piece."""
    parted = [file.name for file in files if file.has_parts]
    if not parted:
        return lines
    is_of_those = F.col(C.SOURCE_FILE).isin(parted)
    return lines.where(~is_of_those).unionByName(_joined(lines.where(is_of_those)))


def _joined(lines: DataFrame) -> DataFrame:
    """The same of files in which some line was cut: their text is shuffled once."""
    in_stream = Window.partitionBy(C.SOURCE_FILE, _STREAM).orderBy(C.SOURCE_LINE)
    goes_on = F.coalesce(F.lag(_IS_CUT).over(in_stream), F.lit(False)) & ~F.col(_PIECE).rlike(_BEGINS)
    numbered = (
        lines.select(*LINE_COLUMNS, *_dissected())
        .withColumn("begins", (~goes_on).cast("int"))
        .withColumn(_LINE, F.sum("begins").over(in_stream.rowsBetween(Window.unboundedPreceding, Window.currentRow)))
    )
    part = F.struct(C.SOURCE_LINE, C.BROKER_ID, _HEAD, _PIECE, _TAIL)
    whole = numbered.groupBy(C.SOURCE_FILE, C.KIND, _STREAM, _LINE).agg(
        F.sort_array(F.collect_list(part)).alias(_PARTS)
    )
    parts = F.col(_PARTS)
    text = F.concat(parts[0][_HEAD], F.concat_ws("", parts[_PIECE]), F.element_at(parts, -1)[_TAIL])
    each = F.transform(
        _PARTS,
        lambda it, place: F.struct(
            it[C.SOURCE_LINE].alias(C.SOURCE_LINE),
            it[C.BROKER_ID].alias(C.BROKER_ID),
            F.when(place == 0, text).otherwise(REST).alias(C.LINE_TEXT),
        ),
    )
    return whole.select(C.SOURCE_FILE, C.KIND, F.inline(each)).select(*LINE_COLUMNS)


def _dissected() -> list[Column]:
    """What the runtime put before a part and behind it, its stream, and whether the next one of that goes on."""
    text = F.col(C.LINE_TEXT)
    head = F.regexp_extract(F.left(text, F.lit(_CRI_LENGTH)), _CRI, 0)
    end = F.regexp_extract(text, _DOCKER_END, 1)
    is_docker = end != ""
    put_before = F.when(is_docker, F.lit(_DOCKER)).otherwise(head)
    piece = F.substring(text, F.length(put_before) + 1, F.length(text) - F.length(put_before) - F.length(end))
    return [
        put_before.alias(_HEAD),
        piece.alias(_PIECE),
        end.alias(_TAIL),
        F.regexp_extract(F.when(is_docker, end).otherwise(head), _OF_STREAM, 0).alias(_STREAM),
        F.when(is_docker, ~piece.endswith("\\n")).otherwise(head.endswith(" P ")).alias(_IS_CUT),
    ]
