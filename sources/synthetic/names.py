"""Columns that live only in a synthetic cluster's rounds and epochs."""

from __future__ import annotations

P, E, M = "p", "e", "m"
"""Partition, leader epoch and round of the epoch, from 0."""
LEO, LEO_BEFORE, BEGIN = "leo", "leo_before", "begin"
"""The leader's LEO after the round's append and before it; where the epoch began."""
AWAY, GONE, OUT, BACK = "away", "gone", "out", "back"
"""The follower that is away in the epoch (0 none), and its `Absence`."""
LOSES, LOST_BEFORE = "loses", "lost_before"
"""Records that the epoch's leader alone has at its end; those that the leader before it had alone."""
TURN, US, OWN_LEO = "turn", "us", "own_leo"
"""Of a role: 0 leads, else which follower; when the broker takes it; its own LEO then."""
