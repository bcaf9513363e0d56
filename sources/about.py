"""about.json: what a capture says of itself, of which the version of Kafka and its settings land."""

from __future__ import annotations

from typing import Any

from schemas import columns as C
from schemas.kinds import KAFKA_VERSION
from sources.json_text import object_of
from sources.outcomes import IGNORED, LANDED, REJECTED
from sources.source_file import SourceFile
from sources.told import Told


def read_about(file: SourceFile, lines: list[str], told: Told) -> None:
    """Settings of the cluster; a line is landed that has one."""
    about = object_of("\n".join(lines))
    settings = _settings_of(about or {})
    for number, line in enumerate(lines, 1):
        here = [name for name in settings if f'"{name}"' in line or (name == KAFKA_VERSION and '"kafka"' in line)]
        for name in here:
            told.settings.append((C.NO_REPLICA, "", name, settings.pop(name), None, file.name, number))
        if about is None:
            told.note(file, number, line, REJECTED, "not JSON")
        else:
            told.note(file, number, line, *((LANDED, None) if here else (IGNORED, "no setting")))


def _settings_of(about: dict[str, Any]) -> dict[str, str]:
    config = about.get("config")
    settings = {str(name): str(value) for name, value in config.items()} if isinstance(config, dict) else {}
    return settings | ({KAFKA_VERSION: str(about["kafka"])} if "kafka" in about else {})
