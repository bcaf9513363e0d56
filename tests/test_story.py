"""The notation of the stories, and whether the twin tells each story as it is written."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given

from tests.story import SCENARIOS, load, parse, tell
from tests.strategies import DRAWN, histories
from tests.twin import commands as happens
from tests.twin import faults
from tests.twin.histories import History, history
from tests.twin.notation import NotationError, read
from tests.twin.words import Known, read_known

STORIES = sorted(SCENARIOS.glob("*.txt"))
COMMANDS = (
    happens.Lead(1, 0, (1, 2, 3), (1, 2)),
    happens.Append(5),
    happens.Append(5, -1, 1, 7),
    happens.Append(0, 0),
    happens.EndTransaction(7, "abort"),
    happens.TimeOutProduces(),
    happens.Fetch(2, 4),
    happens.Fetch(2, 4, 3, at_once=True, parked=True, dropped=True),
    happens.Respond(2),
    happens.ConsumerFetch(3, read_committed=True),
    happens.ProposeIsr((1, 2)),
    happens.CheckIsr(),
    happens.CommitIsr((1, 2, 3)),
    happens.CommitIsr((1,), by_metadata=True),
    happens.RejectIsr(),
    faults.Elect(2, 1),
    faults.Elect(2, 1, unclean=True, isr=(2, 3), untold=(1, 3)),
    faults.NoLeader(4),
    faults.Tell(3),
    faults.Kill(1),
    faults.Restart(1),
    faults.Restart(1, 3, 8, untold=True),
    happens.Truncate(2),
    happens.Truncate(2, 5),
    faults.PassTime(10_000),
    faults.PassTime(1_500),
    faults.SetMinIsr(2),
    happens.MoveLogStart(3),
    faults.SetReplicas((1, 2, 4)),
    faults.SetReplicas((1, 2), 3),
    faults.Fence(2),
    faults.Unfence(2),
)


@pytest.mark.parametrize("command", COMMANDS, ids=str)
def test_what_is_written_is_read(command: happens.Command) -> None:
    """Each kind of line, with all its options, reads back as what it was written from."""
    assert read(str(command)) == command


def test_every_command_is_in_the_notation() -> None:
    """No kind of command is left out above."""
    assert {type(command) for command in COMMANDS} == set(happens.Command.__subclasses__())


def test_everything_that_can_be_known_is_read() -> None:
    """Each word of the right side lands in its own field."""
    text = (
        "1:5  2:?  hw 4  isr 1 2  maximal isr 1 2 3 log start 3  lso 2  under min isr  replica 2: leo 5 hw 4  "
        "lost 2: 5 to 8  response hw ?  error 74  diverges 0 at 5  produce error 19  response omitted  "
        "1 and 2 differ at 1"
    )
    assert read_known(text) == Known(
        log_end_offset={1: 5, 2: -1},
        high_watermark=4,
        isr=frozenset({1, 2}),
        maximal_isr=frozenset({1, 2, 3}),
        log_start_offset=3,
        last_stable_offset=2,
        is_under_min_isr=True,
        replicas={2: (5, 4)},
        lost={2: (5, 8)},
        response_high_watermark=-1,
        is_omitted=True,
        error_code=74,
        diverging=(0, 5),
        produce_error_code=19,
        differs=(1, 2, 1),
    )
    assert read_known("no leader") == Known(has_leader=False)
    assert read_known("isr 1 2 1:5") == Known(isr=frozenset({1, 2}), log_end_offset={1: 5})
    assert read_known("isr 1 12:5") == Known(isr=frozenset({1}), log_end_offset={12: 5})
    assert read_known("") == Known()


@pytest.mark.parametrize("left", ["append", "2 fetches at 4, soon", "append 5, acks", "2 leaps", "isr"])
def test_what_is_not_in_the_notation_is_refused(left: str) -> None:
    """A typing error is an error, not a line without effect."""
    with pytest.raises((NotationError, ValueError)):
        read(left)


@pytest.mark.parametrize("right", ["hw", "hw 4 maybe", "1:x", "replica 2: leo 5"])
def test_what_cannot_be_known_is_refused(right: str) -> None:
    """Nor is one on the right."""
    with pytest.raises(NotationError):
        read_known(right)


def test_a_wrong_right_side_is_a_dispute() -> None:
    """A story can be wrong: each wrong fact is one dispute that names its line."""
    text = "1 leads epoch 0, replicas 1 2, isr 1 2 | 1:0  2:?  hw 0\nappend 5 | 1:5  2:0  hw 5  isr 1 2"
    disputes = tell("wrong", text).disputes
    assert [dispute.split(":")[1] for dispute in disputes] == ["2", "2"]
    assert "log_end_offset: the story says {1: 5, 2: 0}" in disputes[0]
    assert "high_watermark: the story says 5" in disputes[1]


def test_what_cannot_happen_is_an_error() -> None:
    """A story is not about a cluster that cannot be."""
    with pytest.raises(happens.NotNowError, match="epoch is 0"):
        tell("impossible", "1 leads epoch 0, replicas 1 2, isr 1 2\n2 is elected epoch 3")


def test_a_response_held_what_the_next_fetch_says() -> None:
    """What a follower got follows from where it fetches next, unless it restarted between."""
    _, _, lines = parse(
        "append 9\n2 fetches at 0\n3 fetches at 1\n2 fetches at 4\n3 fetches at 1\nkill 2\n2 fetches at 9\n"
    )
    fetches = [line.command for line in lines if isinstance(line.command, happens.Fetch)]
    assert [fetch.gets for fetch in fetches] == [4, None, None, None, None]


@pytest.mark.parametrize("path", STORIES, ids=lambda path: path.stem)
def test_the_twin_tells_the_story(path: Path) -> None:
    """Each right side, written by hand, is what the twin knows."""
    story = load(path)
    assert story.comment
    assert any(expected.known != Known() for expected in story.expected)
    assert not story.disputes, "\n".join(story.disputes)


@pytest.mark.parametrize("path", STORIES, ids=lambda path: path.stem)
def test_a_story_leaves_nothing_out_of_the_logs(path: Path) -> None:
    """All that happens is in some log, but in the stories that are about what is not."""
    story = load(path)
    unlogged = [row for cluster in story.clusters.values() for row in cluster.rows.leader if not row["is_logged"]]
    assert bool(unlogged) == path.stem.startswith("a_witness_")


def test_every_worked_example_is_a_story() -> None:
    """Examples a to j."""
    told = " ".join(load(path).comment for path in STORIES)
    assert [example for example in "abcdefghij" if f"Example {example}" not in told] == []


@pytest.mark.parametrize("seed", range(20))
def test_a_history_is_a_story(seed: int) -> None:
    """The text of a random history can be pasted into a file and told again."""
    _agrees_with_its_text(history(seed))


@DRAWN
@given(histories())
def test_any_history_is_a_story(drawn: History) -> None:
    """So is one that Hypothesis draws."""
    _agrees_with_its_text(drawn)


def _agrees_with_its_text(drawn: History) -> None:
    story = tell(drawn.name, drawn.text())
    assert not story.disputes, "\n".join([drawn.text(), *story.disputes])
    (cluster,) = story.clusters.values()
    assert cluster.rows.leader == drawn.expected_leader
    assert cluster.rows.landing == drawn.landing
