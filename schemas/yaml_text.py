"""YAML that people write: what is wrong with it is told in one line, by its name and the line."""

from __future__ import annotations

from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError


class NoMappingError(ValueError):
    """The text is no YAML, or not keys and values: the message is one line, and names the text and the line."""


def mapping_of(text: str, name: str) -> dict[str, Any]:
    """The keys and values of a YAML text, as Python's own types; an empty text has none."""
    try:
        document = YAML(typ="safe", pure=True).load(text)
    except YAMLError as error:
        mark = error.problem_mark if isinstance(error, MarkedYAMLError) else None
        what = error.problem if isinstance(error, MarkedYAMLError) else str(error).splitlines()[0]
        message = f"{name}{f', line {mark.line + 1}' if mark else ''}: no YAML: {what}"
        raise NoMappingError(message) from error
    if document is None:
        return {}
    if not isinstance(document, dict):
        message = f"{name}: it takes keys and values"
        raise NoMappingError(message)
    return document
