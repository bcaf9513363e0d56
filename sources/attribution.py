"""Whose a log outside of a broker's folder is: its lines tell, or those of the files it came with."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import replace

from schemas.columns import NO_REPLICA
from sources.file_kinds import LOGS, ROTATION
from sources.source_file import SourceFile

KIND_WORDS = re.compile(
    r"(kafka-?)?(request|state-change|server|controller|log-cleaner|authorizer|kafkaServer)(\.log|\.out)?"
)

DATE = re.compile(r"\d{4}-?\d\d-?\d\d([T_.-]?\d\d([:.-]?\d\d){0,2})?")


def attributed(files: list[SourceFile]) -> list[SourceFile]:
    """The files, those outside of a broker's folder with the broker whose own log they are.

    That is one whose lines name no other broker or, where they name none, those of its company do not. A company is the
    logs of a folder whose names differ in nothing but the log and its rotation.
    """
    logs = [file for file in files if file.broker_id == NO_REPLICA and file.kind in LOGS]
    companies: dict[tuple[str, str], set[int]] = defaultdict(set)
    for log in logs:
        companies[_company(log.name)].update(log.brokers)
    own: dict[str, int] = {}
    for log in logs:
        brokers = log.brokers or companies[_company(log.name)]
        if len(brokers) == 1:
            own[log.name] = next(iter(brokers))
    return [replace(file, broker_id=own.get(file.name, file.broker_id)) for file in files]


def _company(log: str) -> tuple[str, str]:
    folder, _, name = ROTATION.sub("", log).rpartition("/")
    return folder, DATE.sub("", KIND_WORDS.sub("", name)).strip("._-")
