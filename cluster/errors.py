"""Why a capture could not be made."""

from __future__ import annotations


class ClusterError(Exception):
    """No Java, no jars, a broker that does not start: the message says which, for a person."""


class ToolFailedError(ClusterError):
    """Kafka's own tool did not do what it was asked: its last lines say why."""


class InVainError(ClusterError):
    """What a scenario waited for has not come: among random faults that may happen."""


class NotOfferedError(ClusterError):
    """The brokers are older than what a scenario asks of them: to ask again is no use."""
