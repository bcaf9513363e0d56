"""Names of files under which a redacted delivery lands: Kafka's own words stay, every other one is replaced."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from schemas.files import FileKind
from sources.capture_folder import BROKER_FOLDER
from sources.source_file import SourceFile

KAFKAS = frozenset((
    "kafka-request.log", "request.log", "state-change.log", "server.log", "leader-epoch-checkpoint",
    "leader-epoch-checkpoint.json", "leader-epoch-checkpoints.json", "replication-offset-checkpoint",
    "log-start-offset-checkpoint", "about.json", "cluster-metadata.txt", "segments", "logs", "capture",
))  # fmt: skip
"""Names of files and folders that are the same everywhere; a file's without what rotation has put behind."""

SEGMENT = re.compile(r"^\d{20}\.(?:log|txt)(?:\.gz)?$")
PARTITION = re.compile(r"^(?P<topic>.+)(?P<rest>-\d+(?:\.(?:txt|log))?(?:\.gz)?)$")
ROTATED = r"(?:\.\d{1,3}|[.-]\d{4}-\d\d-\d\d(?:[-.]\d\d)?|-\d{8})?(?:\.gz)?$"
"""What rotation puts behind; narrower than what is read as one, for `.10.0.0.12` is no number of a file."""

ENDING = re.compile(rf"(?:\.(?:log|txt|json){ROTATED}|(?:\.gz)?$)")


@dataclass(frozen=True)
class FileNames:
    """How names of files are replaced."""

    topic: Callable[[str], str]
    """Of the topic that a dump or a checkpoint is named after."""
    other: Callable[[str], str]
    """Of a part that may name a host, a person, or anything."""

    def of(self, file: SourceFile) -> str:
        """The file's name, relative to the capture."""
        *folders, last = file.name.split("/")
        hidden = [self._folder(name) for name in folders]
        if folders and file.kind in (FileKind.LEADER_EPOCH_CHECKPOINT, FileKind.SEGMENT_DUMP):
            hidden[-1] = self._of_partition(folders[-1]) or hidden[-1]
        return "/".join([*hidden, self._last(file, last)])

    def _folder(self, name: str) -> str:
        return name if name in KAFKAS or BROKER_FOLDER.match(name) else self.other(name)

    def _last(self, file: SourceFile, name: str) -> str:
        if re.sub(ROTATED, "", name, count=1) in KAFKAS or SEGMENT.match(name):
            return name
        ending = ENDING.search(name)
        hidden = self.other(name) + (ending[0] if ending else "")
        return self._of_partition(name) or hidden if file.kind is FileKind.SEGMENT_DUMP else hidden

    def _of_partition(self, name: str) -> str:
        """The name of a partition's file or folder; empty where it names none."""
        match = None if BROKER_FOLDER.match(name) else PARTITION.match(name)
        return self.topic(match["topic"]) + match["rest"] if match else ""
