"""How far a consumer may read: up to the HW, under read_committed up to the LSO (`FetchIsolation`)."""

from __future__ import annotations

from schemas import columns as C
from schemas.columns import READ_COMMITTED


def readable(high_watermark: str, last_stable_offset: str) -> str:
    """Return, in SQL, which of the two columns bounds what the consumer of the row may read."""
    return f"if({C.ISOLATION_LEVEL} = {READ_COMMITTED}, {last_stable_offset}, {high_watermark})"


READABLE = readable(C.RESPONSE_HIGH_WATERMARK, C.RESPONSE_LAST_STABLE_OFFSET)
"""SQL: how far the response says that its consumer may read."""
