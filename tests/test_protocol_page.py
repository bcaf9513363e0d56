"""docs/protocol.md is made of the rules, and names every release with which one of them changed."""

from __future__ import annotations

import pytest

from pages.protocol import RELEASES, protocol_page
from replay.releases import profile_for, release
from replay.rules import EVALUATES_HIGH_WATERMARK, RULES

MINORS = {2: 9, 3: 10, 4: 4}
"""How many minor releases of each major one there are, or may be."""
ALL = [f"{major}.{minor}.{patch}" for major, count in MINORS.items() for minor in range(count) for patch in range(3)]


def test_the_page_is_made_of_the_rules() -> None:
    """Every row of both tables."""
    told = protocol_page()

    assert [rule.because for rule in RULES if rule.because not in told] == []
    assert [source for *_, source in EVALUATES_HIGH_WATERMARK if source not in told] == []


@pytest.mark.parametrize("kafka", ALL)
def test_a_release_plays_by_the_rules_of_the_last_one_that_is_named(kafka: str) -> None:
    """What changed in between would be in no column."""
    named = max((one for one in RELEASES if release(one) <= release(kafka)), key=release)

    assert profile_for(kafka) == profile_for(named)
