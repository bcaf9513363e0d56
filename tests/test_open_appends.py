"""Appends of which nothing tells where they ended: no dump, no fetch and no append after them."""

from __future__ import annotations

import pytest

from replay.profile import profile_for
from schemas.columns import NO_BOUND, UNKNOWN_OFFSET
from schemas.kinds import StatementKind
from tests.literal_lines import Row, append, begins, fetch, line, told_of_brokers
from tests.rebuilt import Answers, Logs, asked

pytestmark = pytest.mark.spark

FOLLOWED, ALONE, FOLLOWS = "followed", "alone", "follows"
"""Followers have not asked for it yet; the leader is the only member of the ISR; the same, and an append follows."""


def open_append(topic: str, ms: int, base: int) -> Row:
    """An append at `base`, of nobody knows how many records."""
    return append(topic, ms, base, base + 1) | {"last_offset": UNKNOWN_OFFSET}


@asked
def of_open_appends() -> Logs:
    """Each log begins empty."""
    clusters = [FOLLOWED, ALONE, FOLLOWS]
    stated = [line(c, 0, kind=StatementKind.BECAME_LEADER_LEO.value, offset=0, replica_id=-1) for c in clusters]
    landing = {
        "leader_changes": [
            begins(FOLLOWED, isr=[1, 2], replicas=[1, 2]),
            *[begins(c, isr=[1], replicas=[1, 2]) for c in (ALONE, FOLLOWS)],
        ],
        "broker_statements": stated,
        "produce_events": [
            append(FOLLOWED, 100, 0, 10), open_append(FOLLOWED, 300, 10),
            append(ALONE, 100, 0, 10), open_append(ALONE, 300, 10),
            append(FOLLOWS, 100, 0, 10), open_append(FOLLOWS, 300, 10), append(FOLLOWS, 400, 17, 20),
        ],
        "fetch_events": [fetch(FOLLOWED, 200, 2, 10, 0), fetch(FOLLOWED, 400, 2, 10, 10)],
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
