"""Text that may be JSON."""

from __future__ import annotations

import json
from typing import Any


def object_of(text: str) -> dict[str, Any] | None:
    """The JSON object that the text is; None where it is none."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):  # the latter of some thousand brackets in one another
        return None
    return found if isinstance(found, dict) else None
