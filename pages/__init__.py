"""The pages of docs/ that are made of the code: `make docs`."""

from __future__ import annotations
