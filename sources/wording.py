"""A wording of a line, as data, and the pieces that wordings are made of.

A wording's `text` is a regular expression in which `{field}` stands for a value (`FIELDS`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from schemas.kinds import ChangeKind, StatementKind

INTEGER, INTEGERS, TOPIC_NAME, REST = r"(-?\d+)", r"([\d, ]*)", r"(\S+)", r"(.*)"

FIELDS = {
    "topic": TOPIC_NAME, "topic_id": r"([\w-]{22})?", "partition": r"(\d+)", "broker": r"(\d+)",
    "leader_id": INTEGER, "leader_epoch": INTEGER, "partition_epoch": INTEGER,
    "isr": INTEGERS, "replicas": INTEGERS, "adding_replicas": INTEGERS, "removing_replicas": INTEGERS,
    "recovery_state": r"(\w+)",
    "offset": INTEGER, "log_end_offset": INTEGER, "high_watermark": INTEGER, "log_start_offset": INTEGER,
    "last_offset": INTEGER, "checked_high_watermark": INTEGER,
    "local_end": INTEGER,
    "laggards": REST, "fetchers": REST, "settings": REST, "directory": REST,
    "target": r"([\w./<>-]+)", "version": r"(\S+)",
}  # fmt: skip
OFFSETS = tuple(name for name in FIELDS if name.endswith(("offset", "watermark")))
IDS = ("partition", "broker", "leader_id", "leader_epoch", "partition_epoch")

TP = "{topic}-{partition}"
TOPIC_ID = r"(?:Some\(|Optional\[|None|Optional\.empty)?{topic_id}[)\]]?"
BROKER, PARTITION = r"\[Broker id={broker}\] ", r"\[Partition \S+ broker={broker}\] "
PARTITION_TP = rf"\[Partition {TP} broker={{broker}}\] "
LOG_TP = rf"\[(?:UnifiedLog|LocalLog|Log|LogLoader) partition={TP}, dir=[^\]]*\] "
FETCHER = r"\[ReplicaFetcher replicaId={broker}, leaderId=\d+, fetcherId=\d+\] "
STATE = (
    r"LeaderAndIsrPartitionState\(topicName='[^']*', partitionIndex=\d+, controllerEpoch=-?\d+, leader={leader_id}, "
    r"leaderEpoch=-?\d+, isr=\[{isr}\], (?:partitionEpoch|zkVersion)={partition_epoch}, replicas=\[{replicas}\], "
    r"addingReplicas=\[{adding_replicas}\], removingReplicas=\[{removing_replicas}\], isNew=\w+"
    r"(?:, leaderRecoveryState={recovery_state})?\)"
)
REGISTRATION = (
    r"PartitionRegistration\(replicas=\[{replicas}\], directories=\[.*?\], isr=\[{isr}\], "
    r"removingReplicas=\[{removing_replicas}\], addingReplicas=\[{adding_replicas}\], elr=\[.*?\], "
    r"lastKnownElr=\[.*?\], leader={leader_id}, leaderRecoveryState={recovery_state}, leaderEpoch=-?\d+, "
    r"partitionEpoch={partition_epoch}\)"
)


@dataclass(frozen=True)
class Wording:
    """How some versions say one thing, and what rows it gives."""

    name: str
    versions: str
    logger: str
    cue: str
    text: str
    change: ChangeKind | None = None
    states: tuple[tuple[StatementKind, str], ...] = ()
    """Statements of the line: the kind, and the field that has the offset (empty: none, it is -1)."""
    ignored: str | None = None
    """Why the line gives no row, where it gives none."""

    is_cue_specific: bool = True
    """Whether the cue alone shows what the line was to say; "starting" does not."""

    @property
    def regex(self) -> str:
        """The whole message as a regular expression."""
        return "^" + re.sub(r"\{(\w+)\}", lambda field: FIELDS[field[1]], self.text)

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields of the regular expression's groups, in order."""
        return tuple(re.findall(r"\{(\w+)\}", self.text))


S = StatementKind
LEADER_STATES = ((S.BECAME_LEADER_LEO, "log_end_offset"), (S.BECAME_LEADER_HW, "high_watermark"))
FOLLOWER_STATES = ((S.BECAME_FOLLOWER_LEO, "log_end_offset"), (S.BECAME_FOLLOWER_HW, "high_watermark"))
LOADED_STATES = ((S.LOADED_LEO, "log_end_offset"), (S.LOADED_LOG_START, "log_start_offset"))
SHRINKING_STATES = ((S.SHRINKING_HW, "high_watermark"), (S.SHRINKING_LEO, "log_end_offset"))
RESET_STATES = ((S.TRUNCATION_TARGET, "offset"), (S.TRUNCATION_OUT_OF_RANGE, "offset"))
NO_REPLICAS_LOG = "load of a log that is no replica"
