"""The one way a configuration of the check fails."""

from __future__ import annotations


class PolicyError(Exception):
    """A configuration that cannot be used: its message is one line, and names the file and the key."""
