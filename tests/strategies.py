"""What Hypothesis draws: histories of the twin, each step of them shrinkable."""

from __future__ import annotations

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from tests.twin.histories import History, drawn_history
from tests.twin.picking import Features
from tests.twin.profile import PROFILES, Profile

DRAWN = settings(max_examples=40, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow])
"""A drawn history takes a few milliseconds, but not on a machine that is busy with Spark."""


@st.composite
def histories(
    draw: st.DrawFn,
    profiles: tuple[Profile, ...] = PROFILES,
    features: Features | None = None,
    longest: int = 60,
) -> History:
    """A history of at most `longest` steps."""
    random = draw(st.randoms(use_true_random=False))
    profile, replicas = draw(st.sampled_from(profiles)), draw(st.integers(2, 5))
    length = draw(st.integers(1, longest))
    return drawn_history(random, "drawn", profile, replicas, length, features=features or Features())
