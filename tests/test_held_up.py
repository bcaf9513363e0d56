"""A broker that stood still while it was at work on a request: whether it had taken effect, the line after it tells."""

from __future__ import annotations

from datetime import timedelta

import pytest

from replay.events.held_up import HELD_UP_US
from replay.events.requests import APPENDS_AFTER, FETCHES_AFTER
from schemas import tables as T
from tests.rebuilt import Answers, Logs, asked, logs_of
from tests.story import Story, tell
from tests.told import Row, disputes
from tests.twin.histories import combined

pytestmark = pytest.mark.spark

HEAD = """
lag 10 s
1 leads epoch 0, replicas 1 2 3, isr 1 2 3 | 1:0  2:?  3:?  hw 0
append 6                                   | 1:6  2:?  3:?  hw 0
2 fetches at 6, at once                    | 1:6  2:6  3:?  hw 0
"""
FETCH_UNDONE = """# The leader stands still before it records where 3 is, and shrinks the ISR; 3 joins by that fetch.
3 fetches at 4                             | 1:6  2:6  3:4  hw 4
time +11 s                                 | hw 4
2 fetches at 6, at once                    | 1:6  2:6  3:4  hw 4
propose isr 1 2                            | 1:6  2:6  3:4  hw 4
isr 1 2                                    | 1:6  2:6  3:4  hw 6  isr 1 2
3 fetches at 6, at once                    | 1:6  2:6  3:6  hw 6  maximal isr 1 2 3
append 1                                   | 1:7  2:6  3:6  hw 6
2 fetches at 6                             | 1:7  2:6  3:6  hw 6
2 fetches at 7, at once                    | 1:7  2:7  3:6  hw 6
"""
FETCH_DONE = """# It stands still after that.
3 fetches at 6, at once                    | 1:6  2:6  3:6  hw 6
time +4 s                                  | hw 6
append 1                                   | 1:7  2:6  3:6  hw 6
2 fetches at 6                             | 1:7  2:6  3:6  hw 6
2 fetches at 7, at once                    | 1:7  2:7  3:6  hw 6
time +11 s                                 | hw 6
2 fetches at 7, at once                    | 1:7  2:7  3:6  hw 6
propose isr 1 2                            | 1:7  2:7  3:6  hw 6
isr 1 2                                    | 1:7  2:7  3:6  hw 7  isr 1 2
"""
APPEND_UNDONE = """# It stands still before it appends: the line of the shrinking ISR states a shorter log.
3 fetches at 4, dropped                    | 1:6  2:6  3:4  hw 4
time +11 s                                 | hw 4
2 fetches at 6, at once                    | 1:6  2:6  3:4  hw 4
propose isr 1 2                            | 1:6  2:6  3:4  hw 4
isr 1 2                                    | 1:6  2:6  3:4  hw 6  isr 1 2
append 2                                   | 1:8  2:6  3:4  hw 6
2 fetches at 6                             | 1:8  2:6  3:4  hw 6
2 fetches at 8, at once                    | 1:8  2:8  3:4  hw 8
"""
APPEND_DONE = """# It stands still after that.
3 fetches at 4, dropped                    | 1:6  2:6  3:4  hw 4
append 2                                   | 1:8  2:6  3:4  hw 4
2 fetches at 6                             | 1:8  2:6  3:4  hw 4
time +11 s                                 | hw 4
2 fetches at 8, at once                    | 1:8  2:8  3:4  hw 4
propose isr 1 2                            | 1:8  2:8  3:4  hw 4
isr 1 2                                    | 1:8  2:8  3:4  hw 8  isr 1 2
"""
STORIES = {
    "fetch_undone": HEAD + FETCH_UNDONE, "fetch_done": HEAD + FETCH_DONE,
    "append_undone": HEAD + APPEND_UNDONE, "append_done": HEAD + APPEND_DONE,
}  # fmt: skip
FETCH, APPEND = {"replica_id": 3, "fetch_offset": 6}, {"base_offset": 6}
"""The values of the request that took seconds, by what it is in the names of the stories."""
LONG = timedelta(seconds=20)
"""How long it was at work: until it took effect, or until long after that."""


def lengthened(name: str, row: Row) -> Row:
    """The row, if it is the story's request, with the begin and the end that its broker would have logged."""
    request, share = (FETCH, FETCHES_AFTER) if name.startswith("fetch") else (APPEND, APPENDS_AFTER)
    if any(row.get(column) != value for column, value in request.items()):
        return row
    before = timedelta(microseconds=HELD_UP_US) * share if name.endswith("_done") else LONG
    return row | {
        "event_time": row["event_time"] - before,
        "response_time": row["response_time"] + LONG - before,
        "local_time_us": row["local_time_us"] + LONG // timedelta(microseconds=1),
    }


def told() -> list[Story]:
    """The stories, with the times that a broker would have logged."""
    stories = [tell(name, text) for name, text in STORIES.items()]
    for story in stories:
        for table in (T.FETCH_EVENTS.name, T.PRODUCE_EVENTS.name):
            story.landing[table] = [lengthened(story.name, row) for row in story.landing[table]]
    return stories


@asked
def held_up() -> Logs:
    """Their logs."""
    stories = told()
    return logs_of(stories, 3, combined(stories))


@pytest.mark.parametrize("story", told(), ids=lambda story: story.name)
def test_it_took_effect_before_or_after_the_line(story: Story, rebuilt: Answers) -> None:
    """By what the line states of the leader's LEO, and of who is out of sync."""
    assert list(disputes(story, rebuilt[held_up][story.name])) == []
