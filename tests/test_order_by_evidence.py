"""What the clock leaves open the HW in a response decides: a fetch comes before a rise, or after it, as it was told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from replay.profile import Profile
from tests.literal_lines import append, at, begins, fetch, line, omitted, told_of_brokers
from tests.rebuilt import Answers, Logs, asked

pytestmark = pytest.mark.spark
Row = dict[str, Any]
Step = tuple[int, int]
APPENDED = (-1, 0)
"""An append, at which the HW is 0 still."""


def of_ten(topic: str, *more: Row) -> dict[str, list[Row]]:
    """A leader with ten records, and what else it does."""
    rows = (append(topic, 10, 0, 10), *more)
    return {
        "leader_changes": [begins(topic)],
        "produce_events": [row for row in rows if "base_offset" in row],
        "fetch_events": [row for row in rows if "replica_id" in row],
    }


def of_elected(topic: str, hw: int | None, *more: Row) -> dict[str, list[Row]]:
    """A leader that is elected with seven records, and the line of it that states its HW, or does not."""
    stated = {"became_leader_log_end_offset": 7} | ({} if hw is None else {"became_leader_high_watermark": hw})
    lines = [line(topic, 0, kind=kind, offset=offset, leader_epoch=1) for kind, offset in stated.items()]
    of_epoch_1 = [
        row | ({"current_leader_epoch": 1} if "replica_id" in row else {}) | {"leader_epoch": 1} for row in more
    ]
    return {
        "leader_changes": [begins(topic, 1)],
        "broker_statements": lines,
        "produce_events": [row for row in of_epoch_1 if "base_offset" in row],
        "fetch_events": [row for row in of_epoch_1 if "replica_id" in row],
    }


def told() -> dict[str, dict[str, list[Row]]]:
    """By topic: all are within a few milliseconds of the rise that they are about, if they do not say `far`."""
    return {
        # Replica 3's fetch raises the HW to 10. Another of 2, told 10 before that by the clock, came after it.
        "later": of_ten("later", fetch("later", 100, 2, 10, 0), fetch("later", 110, 3, 10, 0),
                        fetch("later", 105, 2, 10, 10)),
        "far_later": of_ten("far_later", fetch("far_later", 100, 2, 10, 0), fetch("far_later", 110, 3, 10, 0),
                            fetch("far_later", 104, 2, 10, 10)),
        # The same with an append before: of 3, told 0 after 2 has raised the HW to 10, it came before it.
        "earlier": of_ten("earlier", fetch("earlier", 100, 3, 10, 0), append("earlier", 105, 10, 20),
                          fetch("earlier", 110, 2, 10, 0), fetch("earlier", 113, 3, 10, 0)),
        "far_earlier": of_ten("far_earlier", fetch("far_earlier", 100, 3, 10, 0), fetch("far_earlier", 101, 2, 10, 0),
                              fetch("far_earlier", 112, 2, 10, 10), fetch("far_earlier", 113, 3, 10, 0)),
        # A response that omits the partition tells that the HW is still what the session was told.
        "omitted": of_ten("omitted", fetch("omitted", 100, 3, 10, 0), append("omitted", 105, 10, 20),
                          fetch("omitted", 110, 2, 10, 0), omitted(fetch("omitted", 113, 3, 10, 0))),
        # What 2 asks for at 113 it has since 110.5, when its fetch at 5 was answered: after the HW rose to 5.
        "heard": of_ten("heard", fetch("heard", 109, 2, 5, 0) | {"response_time": at(110.5)},
                        fetch("heard", 110, 3, 10, 0), fetch("heard", 113, 2, 10, 0)),
        # 2 goes on to fetch at 14 before the HW rises by the clock: after its own fetch at 12, wherever that went.
        "its_next": of_ten("its_next", append("its_next", 20, 10, 20), fetch("its_next", 100, 2, 10, 0),
                           fetch("its_next", 110, 3, 10, 0), fetch("its_next", 107, 2, 12, 10),
                           fetch("its_next", 108, 2, 14, 10) | {"is_parked": True, "response_time": at(600)}),
        # The leader begins with a HW of 0, and a log that ends at 7.
        "stated": of_elected("stated", 0, fetch("stated", 100, 2, 7, 0), fetch("stated", 110, 3, 7, 0),
                             fetch("stated", 107, 2, 7, 7)),
        # No line states it: when all ISR members have fetched at the LEO of the begin it is known.
        "known": of_elected("known", None, fetch("known", 10, 2, 7, 7), fetch("known", 20, 3, 7, 7),
                            append("known", 50, 7, 10), fetch("known", 100, 2, 10, 7), fetch("known", 110, 3, 10, 7),
                            fetch("known", 107, 2, 10, 10)),
        # Not yet when 2, that lost its tail, asks at 4: the leader's is 7 all the while, and no response tells a rise.
        "not_yet_known": of_elected("not_yet_known", None, fetch("not_yet_known", 100, 3, 7, 7),
                                    fetch("not_yet_known", 110, 2, 4, 7), fetch("not_yet_known", 113, 3, 7, 7),
                                    fetch("not_yet_known", 116, 2, 7, 7)),
    }  # fmt: skip


ORDER: Mapping[str, list[Step]] = {
    "later": [APPENDED, (2, 0), (3, 10), (2, 10)],
    "far_later": [APPENDED, (2, 0), (2, 0), (3, 10)],
    "earlier": [APPENDED, (3, 0), APPENDED, (3, 0), (2, 10)],
    "far_earlier": [APPENDED, (3, 0), (2, 10), (2, 10), (3, 10)],
    "omitted": [APPENDED, (3, 0), APPENDED, (3, 0), (2, 10)],
    "heard": [APPENDED, (2, 0), (3, 5), (2, 10)],
    "its_next": [APPENDED, APPENDED, (2, 0), (3, 10), (2, 10), (2, 10)],
    "stated": [(2, 0), (3, 7), (2, 7)],
    "known": [(2, -1), (3, 7), (-1, 7), (2, 7), (3, 10), (2, 10)],
    "not_yet_known": [(3, -1), (2, 7), (3, 7), (2, 7)],
}
"""By topic: who asked, -1 for an append, and the HW after that."""


def of_an_append_just_after(topic: str, *more: Row) -> dict[str, list[Row]]:
    """The clock has an append of [0, 10) just after a fetch at 8, which was accepted."""
    return {
        "leader_changes": [begins(topic), *more],
        "produce_events": [append(topic, 200, 0, 10)],
        "fetch_events": [fetch(topic, 199, 2, 8, 0)],
    }


def proposed(topic: str) -> Row:
    """A line of a shrinking ISR, of a release that states no LEO there."""
    change = {"change_kind": "isr_shrink_proposed", "leader_id": 1, "isr": [1, 2], "replicas": None}
    return line(topic, 199.5, partition_epoch=0, **change)


AHEAD, PAST_A_LINE = "ahead", "past_a_line"


@asked
def evidence() -> Logs:
    """All of them, a topic each."""
    every = told() | {
        AHEAD: of_an_append_just_after(AHEAD), PAST_A_LINE: of_an_append_just_after(PAST_A_LINE, proposed(PAST_A_LINE)),
    }  # fmt: skip
    tables = {name for one in every.values() for name in one}
    landing = {name: [row for one in every.values() for row in one.get(name, ())] for name in tables}
    return Logs(landing | told_of_brokers(every), dict.fromkeys(every, Profile(lag_time_ms=10_000)), 3)


def requests(rows: list[Row]) -> list[Row]:
    """The appends and fetches of a leader's rows, in order."""
    return [row for row in rows if row["event_type"] in ("APPEND", "FETCH")]


@pytest.mark.parametrize("topic", ORDER)
def test_a_fetch_is_where_its_response_says(rebuilt: Answers, topic: str) -> None:
    """Across the next rise of the HW, if that is near; not before what it had heard, nor past its replica's next."""
    found = [(row["replica_id"], row["high_watermark"]) for row in requests(rebuilt[evidence][topic].leader)]

    assert found == ORDER[topic]


def test_a_replicas_fetches_stay_in_their_order(rebuilt: Answers) -> None:
    """The last one says what the leader knows of it."""
    last = rebuilt[evidence]["its_next"].leader[-1]

    assert last["remote_log_end_offset"] == {2: 14, 3: 10}


@pytest.mark.parametrize("topic", [AHEAD, PAST_A_LINE])
def test_a_fetch_comes_after_the_append_of_what_it_asks_for(rebuilt: Answers, topic: str) -> None:
    """Or it would have been out of range; a line without a LEO in between is no append."""
    found = [(row["event_type"], row["log_end_offset"]) for row in requests(rebuilt[evidence][topic].leader)]

    assert found == [("APPEND", 10), ("FETCH", 10)]
