"""Options from a YAML file: `--run-config FILE` gives them, the command line goes before, `--show-config` tells.

The file has a section per command, and `common` for what all of them take:

    common: {warehouse: /data/lake}
    ingest: {timezone: Europe/Berlin}
    check: {max-age: 26h, fail-on: warn}

A value is checked as the command line's would be; a section or key that does not exist is refused by its name.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from schemas.yaml_text import NoMappingError, mapping_of

COMMON = "common"
COMMANDS = (
    "pipeline", "ingest", "reconstruct", "check", "report", "generate", "what-if", "show", "sql", "capture", "agree",
)  # fmt: skip
IN_COMMON = ("warehouse", "database", "cluster-id")
OWN = ("run_config", "show_config")
SOURCES = {
    ParameterSource.COMMANDLINE: "command line",
    ParameterSource.ENVIRONMENT: "environment",
    ParameterSource.DEFAULT_MAP: "run configuration",
    ParameterSource.DEFAULT: "default",
}


class Configured(click.Command):
    """A command whose options may also come from a file."""

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        """Take the command's own options, and these two."""
        super().__init__(*arguments, **keywords)
        self.params += [
            click.Option(
                ["--run-config"], type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="FILE",
                is_eager=True, expose_value=False, callback=_take, help="Options as YAML, a section a command.",
            ),
            click.Option(["--show-config"], is_flag=True, help="Tell each option and where it comes from; do nothing."),
        ]  # fmt: skip

    def invoke(self, context: click.Context) -> Any:
        """Run the command, or tell its options."""
        if context.params.pop("show_config", False):
            for line in told(context):
                click.echo(line)
            return 0
        return super().invoke(context)


def told(context: click.Context) -> list[str]:
    """The options in force, a line of YAML each, with where each comes from."""
    lines = []
    for parameter in context.command.params:
        name = parameter.name or ""
        if name in OWN or name not in context.params:
            continue
        source = SOURCES.get(context.get_parameter_source(name) or ParameterSource.DEFAULT, "")
        lines.append(f"{_key(parameter)}: {_shown(context.params[name])}  # {source}")
    return lines


def _shown(value: object) -> str:
    """A value as it is written on the command line."""
    return ",".join(sorted(value)) if isinstance(value, frozenset) else "" if value is None else str(value)


def _take(context: click.Context, _option: click.Parameter, file: Path | None) -> None:
    """Let the file's options stand where the command line gives none."""
    if file is not None:
        given = _options_of(file, context.command)
        context.default_map = {**(context.default_map or {}), **given}


def _options_of(file: Path, command: click.Command) -> dict[str, Any]:
    """The command's options in the file, by the names of its parameters."""
    names = {_key(parameter): parameter.name for parameter in command.params if isinstance(parameter, click.Option)}
    sections = _sections(file)
    mine = sections.get(command.name or "", {})
    unknown = [f"{command.name}.{key}" for key in mine if key not in names]
    unknown += [f"{COMMON}.{key}" for key in sections.get(COMMON, {}) if key not in IN_COMMON]
    unknown += [name for name in sections if name not in (COMMON, *COMMANDS)]
    if unknown:
        message = f"{file}: there is no {', '.join(sorted(unknown))}"
        raise click.UsageError(message)
    common = {key: value for key, value in sections.get(COMMON, {}).items() if key in names}
    return {str(names[key]): value for key, value in {**common, **mine}.items()}


def _sections(file: Path) -> dict[str, dict[str, Any]]:
    """The sections of the file."""
    try:
        document = mapping_of(file.read_text(encoding="utf-8"), str(file))
    except NoMappingError as error:
        raise click.UsageError(str(error)) from error
    if not all(isinstance(section, dict) for section in document.values()):
        message = f"{file}: it takes a section a command, each with options"
        raise click.UsageError(message)
    return document


def _key(parameter: click.Parameter) -> str:
    """An option's name as it is written: `--fail-on` is fail-on."""
    longest = max(parameter.opts, key=len)
    return longest.lstrip("-")
