"""What can be wrong with a capture as a whole; what is wrong with one line is a row of `rejected_lines`."""

from __future__ import annotations


class CaptureError(Exception):
    """The folder cannot be read as a capture; the message says what was looked for and where."""
