"""Whose a log outside of a broker's folder is: its lines tell, or those of the files it came with."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace

from schemas.columns import NO_REPLICA
from sources.file_kinds import LOGS, ROTATION
from sources.source_file import SourceFile

KIND_WORDS = re.compile(
    r"(kafka-?)?(request|state-change|server|controller|log-cleaner|authorizer|kafkaServer)(\.log|\.out)?"
)

DATE = re.compile(r"\d{4}-?\d\d-?\d\d([T_.-]?\d\d([:.-]?\d\d){0,2})?")


def attributed(files: list[SourceFile]) -> list[SourceFile]:
    """The files, those outside of a broker's folder with the broker whose own log they are."""
    logs = {file.name: file for file in files if file.broker_id == NO_REPLICA and file.kind in LOGS}
    own = _brokers_by_company(
        {name: file.brokers for name, file in logs.items()}, {name: ROTATION.sub("", name) for name in logs}
    )
    return [replace(file, broker_id=own.get(file.name, file.broker_id)) for file in files]


def _brokers_by_company(stated: Mapping[str, frozenset[int]], base_of: Mapping[str, str]) -> dict[str, int]:
    """The broker of each file that is one broker's own: its lines name no other, or those of its company do not.

    A company is the files of a folder whose names differ in nothing but the log and its rotation. `stated` has the
    brokers that each file's lines name, `base_of` its name without the rotation.
    """
    companies: dict[tuple[str, str], set[int]] = defaultdict(set)
    for name, brokers in stated.items():
        companies[_company(base_of[name])].update(brokers)
    found = {}
    for name, brokers in stated.items():
        company = companies[_company(base_of[name])]
        own = brokers or company
        if len(own) == 1:
            found[name] = next(iter(own))
    return found


def _company(base: str) -> tuple[str, str]:
    folder, _, name = base.rpartition("/")
    return folder, DATE.sub("", KIND_WORDS.sub("", name)).strip("._-")
