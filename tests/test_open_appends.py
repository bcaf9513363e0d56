"""Appends of which nothing tells where they ended: no dump, no fetch and no append after them."""

from __future__ import annotations

import pytest

from replay.releases import profile_for
from schemas.columns import NO_BOUND, UNKNOWN_OFFSET
from schemas.kinds import StatementKind
from tests.literal_lines import Row, append, begins, begins_with, fetch, line, told_of_brokers
from tests.rebuilt import Answers, Logs, asked

pytestmark = pytest.mark.spark

FOLLOWED, ALONE, FOLLOWS, TAKEN, DEPOSED, KILLED = "followed", "alone", "follows", "taken", "deposed", "killed"
"""Followers have not asked for it yet; the leader is the only member of the ISR; the same, and an append follows; a
follower took it, and led next with a LEO of 13; the leader was alone in the ISR, and 2 leads next with what it had; the
leader was killed and loads a log of 13, with an HW of 10."""


def open_append(topic: str, ms: int, base: int) -> Row:
    """An append at `base`, of nobody knows how many records."""
    return append(topic, ms, base, base + 1) | {"last_offset": UNKNOWN_OFFSET}


@asked
def of_open_appends() -> Logs:
    """Each log begins empty; where somebody leads next, it is replica 2."""
    clusters = [FOLLOWED, ALONE, FOLLOWS, TAKEN, DEPOSED, KILLED]
    next_one = {"ms": 9_000, "leader_epoch": 1, "broker_id": 2}
    stated = [begins_with(c, 0) for c in clusters]
    stated += [begins_with(TAKEN, 13, **next_one), begins_with(DEPOSED, 8, **next_one)]
    led_on = (TAKEN, DEPOSED, KILLED)
    loads = ((StatementKind.LOADED_LEO, 13), (StatementKind.LOADED_HW, 10))
    stated += [line(KILLED, 9_500, kind=kind.value, offset=offset, replica_id=-1) for kind, offset in loads]
    follows = {"leader_epoch": 1, "kind": StatementKind.BECAME_FOLLOWER_LEO.value, "offset": 13}
    stated += [line(KILLED, 9_600, replica_id=-1, **follows)]
    landing = {
        "leader_changes": [
            *[begins(c, isr=[1, 2], replicas=[1, 2]) for c in (FOLLOWED, TAKEN, KILLED)],
            *[begins(c, isr=[1], replicas=[1, 2]) for c in (ALONE, FOLLOWS, DEPOSED)],
            *[begins(c, 1, 9_000, isr=[2], replicas=[1, 2], leader_id=2, broker_id=2) for c in led_on],
            begins(KILLED, 1, 9_600, isr=[2], replicas=[1, 2], leader_id=2, change_kind="become_follower"),
        ],
        "broker_statements": stated,
        "produce_events": [
            *[append(c, 100, 0, 10) for c in clusters], *[open_append(c, 300, 10) for c in clusters],
            append(FOLLOWS, 400, 17, 20),
        ],
        "fetch_events": [
            *[fetch(c, 200, 2, 10, 0) for c in (FOLLOWED, TAKEN, KILLED)],
            *[fetch(c, 400, 2, 10, 10) for c in (FOLLOWED, TAKEN)],
        ],
    } | told_of_brokers(clusters)  # fmt: skip
    return Logs(landing, dict.fromkeys(clusters, profile_for("4.1.0", "4.1", 10_000)), 2)


def bounds(rebuilt: Answers, cluster: str) -> list[tuple[object, ...]]:
    """After each event from the open append on: LEO and HW, from and to, and how well that is known."""
    named = [f"{what}_{bound}" for what in ("log_end_offset", "high_watermark") for bound in ("low", "high")]
    rows = rebuilt[of_open_appends][cluster].leader
    return [tuple(row[c] for c in (*named, "exactness")) for row in rows if row["log_end_offset"] > 10]


def test_it_is_one_record_at_least(rebuilt: Answers) -> None:
    """The LEO is past its first record, and nobody knows how far; the HW waits for who has not fetched it."""
    assert bounds(rebuilt, FOLLOWED) == [(11, NO_BOUND, 10, 10, "exact")] * 2


def test_alone_in_the_isr_it_is_committed(rebuilt: Answers) -> None:
    """As far as it came."""
    assert bounds(rebuilt, ALONE) == [(11, NO_BOUND, 11, NO_BOUND, "bounded")]


def test_it_ends_where_the_next_one_begins_or_before_it(rebuilt: Answers) -> None:
    """In between there may be more of which nothing tells: acks=0."""
    assert bounds(rebuilt, FOLLOWS) == [(11, 17, 11, 17, "bounded"), (20, 20, 20, 20, "exact")]


def test_of_who_took_it_nothing_tells_how_much_came(rebuilt: Answers) -> None:
    """The line of its next role tells of 13; the last of them an answer may have brought of which there is no line."""
    taken = [row for row in rebuilt[of_open_appends][TAKEN].replica if row["replica_id"] == 2]

    ends = [(row["leader_epoch"], *(row[f"log_end_offset{it}"] for it in ("", "_low", "_high"))) for row in taken]
    assert ends[-2:] == [(0, 10, 10, NO_BOUND), (1, 13, 13, 13)]
    assert taken[-2]["exactness"] == "bounded"


def test_who_led_may_have_more_than_is_known(rebuilt: Answers) -> None:
    """It was alone in the ISR: what it appended last it committed, and nobody knows how much."""
    led = [row for row in rebuilt[of_open_appends][DEPOSED].replica if row["replica_id"] == 1][-1]

    bounds = [(led[f"{it}_low"], led[f"{it}_high"]) for it in ("log_end_offset", "high_watermark")]
    assert (led["role"], led["leader_epoch"], *bounds) == ("FOLLOWER", 1, (11, NO_BOUND), (11, NO_BOUND))
    assert led["exactness"] == "bounded"


def test_what_was_in_flight_may_have_raised_the_hw_to_all_that_it_had(rebuilt: Answers) -> None:
    """The process loads a log of 13: its follower may have asked for all of it."""
    (restart,) = [row for row in rebuilt[of_open_appends][KILLED].leader if row["event_type"] == "RESTART"]

    ends = [(restart[f"{it}_low"], restart[f"{it}_high"]) for it in ("log_end_offset", "high_watermark")]
    assert ends == [(11, 13), (10, 13)]
