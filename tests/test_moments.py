"""Each replica at a moment: one state, whatever broker died, or was not told of the next leader."""

from __future__ import annotations

import pytest

from tests.bounds import at_once
from tests.rebuilt import Answers
from tests.test_replay_histories import few, of_all_protocols

pytestmark = pytest.mark.spark


def test_replicas_have_one_state_at_a_moment(rebuilt: Answers) -> None:
    """Of whatever fault."""
    found = {each.name: list(at_once(rebuilt[few][each.name].replica)) for each in of_all_protocols()}

    assert {name: overlaps for name, overlaps in found.items() if overlaps} == {}
