"""What kinds of files a capture has."""

from __future__ import annotations

from enum import StrEnum


class FileKind(StrEnum):
    """What a file of a capture is."""

    REQUEST_LOG = "request_log"
    """kafka-request.log: requests and their responses, as JSON or before 2.8 as text."""
    STATE_CHANGE_LOG = "state_change_log"
    """state-change.log: leaders, followers and ISRs."""
    SERVER_LOG = "server_log"
    """server.log, rotated or not."""
    CONSOLE_LOG = "console_log"
    """One stream of all of a broker's loggers, requests among them, as containers write it."""
    SEGMENT_DUMP = "segment_dump"
    """What kafka-dump-log.sh prints of a partition's segments."""
    METADATA_DUMP = "metadata_dump"
    """The same of the metadata log of a KRaft cluster."""
    LEADER_EPOCH_CHECKPOINT = "leader_epoch_checkpoint"
    """A partition's leader-epoch-checkpoint."""
    HW_CHECKPOINT = "replication_offset_checkpoint"
    """A log folder's replication-offset-checkpoint."""
    LOG_START_CHECKPOINT = "log_start_offset_checkpoint"
    """A log folder's log-start-offset-checkpoint."""
    ABOUT = "about"
    """A capture's about.json."""
    SCENARIO = "scenario"
    """No log: a scenario of `generate`, and each row that landed a line of it."""
    UNKNOWN = "unknown"
    """None of these: what it holds was not read."""


QUIET_MINUTES = {FileKind.REQUEST_LOG: 2, FileKind.CONSOLE_LOG: 2, FileKind.SERVER_LOG: 120}
"""How long a running broker may write nothing: followers fetch all the time; a quiet one still cleans up now and then.
A broker's state changes may be years apart: their log has no gaps. Those of a console log are gaps of its requests,
which may be logged for minutes of a day of other lines."""
