"""What a local session is started with."""

from __future__ import annotations

import os

import pytest

from jobs.session import name_files_in_utf8


@pytest.mark.parametrize(
    ("given", "then"), [("C", "C.UTF-8"), ("POSIX", "C.UTF-8"), ("de_DE.UTF-8", "de_DE.UTF-8"), ("", "")]
)
def test_java_names_files_as_python_does(given: str, then: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of LC_ALL=C Python takes UTF-8, and Java ASCII: a folder named Zürich would be "unmappable" to it."""
    monkeypatch.setenv("LC_ALL", given)
    name_files_in_utf8()

    assert os.environ["LC_ALL"] == then
