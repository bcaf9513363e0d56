"""What must hold of the tables: rules as data, Great Expectations suites made of them, three-valued verdicts."""

from __future__ import annotations

import os

# Great Expectations sends usage analytics unless told otherwise before its first import.
os.environ.setdefault("GX_ANALYTICS_ENABLED", "false")
