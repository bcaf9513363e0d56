"""Jobs: thin `spark-submit` entry points (arguments, read, one call, write), and what they share: tables, reports."""

from __future__ import annotations

import os

__version__ = "0.1.0"
"""The distribution's version; pyproject.toml reads it, so that it also holds inside a `--py-files` archive."""

# Great Expectations sends usage analytics unless told otherwise before its first import.
os.environ.setdefault("GX_ANALYTICS_ENABLED", "false")
