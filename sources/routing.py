"""Which lines each parser is to see: those of its kinds of files, and of a console log those of its loggers.

A container writes every logger of a broker to one stream. Each line of it goes to one parser: it has one outcome.
"""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from schemas import columns as C
from schemas.files import FileKind
from sources.request_log import is_of_requests

WITH_REQUESTS = frozenset({FileKind.REQUEST_LOG, FileKind.CONSOLE_LOG})
WITH_OTHER_LINES = frozenset({FileKind.STATE_CHANGE_LOG, FileKind.SERVER_LOG, FileKind.CONSOLE_LOG})


def routed(lines: DataFrame, kinds: frozenset[FileKind]) -> DataFrame:
    """The lines of files of these kinds; of a console log the requests if request logs are asked for, else the others.

    A file of one kind is not looked through for lines of another: what it is, all of its lines have said.
    """
    whole = F.col(C.KIND).isin(_values(kinds - {FileKind.CONSOLE_LOG}))
    if FileKind.CONSOLE_LOG not in kinds:
        return lines.where(whole)
    is_request = is_of_requests(F.col(C.LINE_TEXT))
    is_ours = is_request if FileKind.REQUEST_LOG in kinds else ~is_request
    return lines.where(whole | ((F.col(C.KIND) == FileKind.CONSOLE_LOG.value) & is_ours))


def _values(kinds: Iterable[FileKind]) -> list[str]:
    return sorted(kind.value for kind in kinds)
