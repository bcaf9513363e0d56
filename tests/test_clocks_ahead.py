"""Whose clock is ahead by how much, from bounds alone."""

from __future__ import annotations

from itertools import permutations

from hypothesis import given
from hypothesis import strategies as st

from replay.clocks.ahead import NARROW_US, TOGETHER_US, Bound, ahead_of
from tests.strategies import DRAWN

CONTROLLERS = -1
S = 1_000_000
LINE_US = 10_000
"""So late after what came first is what came after, in these tests."""


def bound(earlier: int, later: int, at_least_us: int, *, is_sure: bool = True) -> Bound:
    """A bound in the one cluster of a test."""
    return Bound("here", earlier, later, at_least_us, is_sure)


def both_ways(one: int, other: int, ahead_us: int) -> list[Bound]:
    """What two brokers that followed each other tell, where the clock of the one is ahead."""
    return [bound(one, other, ahead_us - LINE_US), bound(other, one, -ahead_us - LINE_US)]


def of_brokers(bounds: list[Bound]) -> dict[int, int]:
    """How far clocks are ahead, by broker."""
    return {broker: us for (_, broker), us in ahead_of(bounds).items()}


def test_clocks_that_may_be_one_are_one() -> None:
    """Lines and requests take some milliseconds, whatever the clocks."""
    apart = TOGETHER_US - LINE_US
    assert of_brokers([*both_ways(1, 2, 0), *both_ways(1, 3, apart), *both_ways(2, 3, apart)]) == {}


def test_what_most_agree_with_is_the_one_clock() -> None:
    """Of two brokers and one, the one is wrong."""
    assert of_brokers([*both_ways(1, 2, -3 * S), *both_ways(1, 3, -3 * S), *both_ways(2, 3, 0)]) == {1: -3 * S}


def test_it_follows_by_way_of_a_third() -> None:
    """Two that never followed each other."""
    assert of_brokers([*both_ways(1, 2, 2 * S), *both_ways(2, 3, 3 * S)]) == {2: -2 * S, 3: -5 * S}


def test_each_cluster_has_clocks_of_its_own() -> None:
    """The same broker ids."""
    there = [Bound("there", 1, 2, 7 * S, is_sure=True)]
    assert ahead_of([*both_ways(1, 2, 0), *there]) == {("there", 2): -7 * S}


def test_no_more_is_taken_than_is_certain_where_one_side_tells() -> None:
    """A broker that only ever followed: by how much its clock is ahead at most nothing says."""
    assert of_brokers([bound(2, 1, 5 * S)]) == {2: 5 * S}
    assert of_brokers([bound(2, 1, 5 * S), bound(1, 2, -5 * S - 2 * NARROW_US)]) == {2: 5 * S}
    assert of_brokers([bound(2, 1, 5 * S), bound(1, 2, -5 * S - NARROW_US // 2)]) == {2: 5 * S + NARROW_US // 4}


def test_controllers_write_just_before_brokers_hear_of_it() -> None:
    """Nothing tells how much before; where all other clocks are one nobody asks."""
    written = [bound(CONTROLLERS, 1, -30_000), bound(CONTROLLERS, 2, -40 * S - 30_000)]
    assert of_brokers([*both_ways(1, 2, -40 * S), *written]) == {2: 40 * S, CONTROLLERS: -30_000}
    assert of_brokers([*both_ways(1, 2, 0), bound(CONTROLLERS, 1, -20 * S), bound(CONTROLLERS, 2, -20 * S)]) == {}


def test_where_a_clock_was_set_none_is_believed() -> None:
    """Its first lines are ahead, and its later ones behind."""
    assert of_brokers([*both_ways(1, 2, 4 * S), *both_ways(1, 2, -4 * S)]) == {}


def test_a_request_may_have_waited_in_a_frozen_leader() -> None:
    """Broker 2 took its next role at 10 s, its last request of before was read by 1 at 22 s: that thawed then."""
    waited = bound(1, 2, 12 * S, is_sure=False)
    assert of_brokers([*both_ways(1, 2, 0), waited]) == {}
    assert of_brokers([waited]) == {}


def test_a_request_of_before_tells_too_where_nothing_is_against_it() -> None:
    """Broker 2 only ever followed: its roles tell the one side, its last requests the other."""
    told = [bound(2, 1, 5 * S - LINE_US), bound(1, 2, -5 * S - LINE_US, is_sure=False)]
    assert of_brokers(told) == {2: 5 * S}


@given(st.data())
@DRAWN
def test_any_clocks_are_found(data: st.DataObject) -> None:
    """Two brokers each way, each with a delay of its own: the difference of any two is found, to that delay."""
    brokers = range(1, data.draw(st.integers(2, 5)) + 1)
    seconds = st.integers(-10_000, 10_000).filter(lambda s: s == 0 or abs(s) >= 2)
    clock = {one: data.draw(seconds) * S for one in brokers}
    delays = st.integers(0, TOGETHER_US // 2)
    bounds = [bound(a, b, clock[a] - clock[b] - data.draw(delays)) for a, b in permutations(brokers, 2)]

    found = of_brokers(bounds)

    for one, other in permutations(brokers, 2):
        difference = found.get(one, 0) - found.get(other, 0)
        assert abs(difference - (clock[one] - clock[other])) <= TOGETHER_US
