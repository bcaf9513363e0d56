"""The pages of docs/ that are made: as the code is, and every word on them explained."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum

import pytest

from pages.__main__ import DOCS, PAGES
from pages.tables import WORDS
from pages.words import in_use, meanings
from schemas.answers import HeldBy, Position
from schemas.kinds import EventType


@pytest.mark.parametrize(("name", "made"), PAGES.items(), ids=PAGES)
def test_a_page_is_fresh(name: str, made: Callable[[], str]) -> None:
    """`make docs` writes it; nobody edits it."""
    assert (DOCS / name).read_text(encoding="utf-8") == made()


@pytest.mark.parametrize("words", [*WORDS.values(), HeldBy, Position], ids=lambda words: words.__name__)
def test_every_word_is_explained(words: type[StrEnum]) -> None:
    """That a row may have: who reads it in SQL has the page and no code."""
    assert {word.name for word in words} == set(meanings(words))


def test_a_word_that_no_row_has_is_not_told() -> None:
    """Who filters by it would find nothing, and believe it."""
    assert [word for word in EventType if word not in in_use(EventType)] == ["BECOME_FOLLOWER", "TRUNCATE"]
