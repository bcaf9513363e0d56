"""Views: what post-mortem questions are asked of, derived from the tables when they are asked, and never stored."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql import DataFrame

from replay.findings.held_back import high_watermark_held
from replay.views.commits import commit_latency, commit_times
from replay.views.epoch_caches import MADE_OF, leader_epoch_caches
from replay.views.exposure import exposure
from replay.views.flapping import isr_flapping
from replay.views.positions import consumer_positions
from replay.views.sources_found import rejected_shapes, sources_found
from replay.views.states import leader_states
from schemas import tables as T
from schemas.tables import Table


@dataclass(frozen=True)
class View:
    """A view: its name, what one row is, the tables it is made of, and how."""

    name: str
    comment: str
    of: tuple[Table, ...]
    make: Callable[..., DataFrame]


VIEWS = (
    View(
        "high_watermark_held", "A stretch in which the HW stood below the LEO: who held it, and why.",
        (T.LEADER_TIMELINE,), high_watermark_held,
    ),
    View(
        "commit_times", "An append, and when the HW was past it.",
        (T.LEADER_TIMELINE,), commit_times,
    ),
    View(
        "commit_latency", "A partition's minute: percentiles of the time from append to commit.",
        (T.LEADER_TIMELINE,), commit_latency,
    ),
    View(
        "exposure", "What only the leader held, and what its death would have lost, from one event to the next.",
        (T.LEADER_TIMELINE,), exposure,
    ),
    View(
        "leader_states",
        "What a partition's leader knew, from one event to the next: at any moment one row, none while nobody leads.",
        (T.LEADER_TIMELINE, T.LEADER_CHANGES, T.METADATA_CHANGES), leader_states,
    ),
    View(
        "isr_flapping", "How often replicas left the ISR, by follower, by leader, by pair, and in the whole cluster.",
        (T.LEADER_TIMELINE,), isr_flapping,
    ),
    View(
        "consumer_positions", "A consumer's fetch, and where its position lay in the leader's log.",
        (T.FETCH_EVENTS, T.LEADER_TIMELINE), consumer_positions,
    ),
    View(
        "leader_epoch_caches", "A leader epoch in a replica's log at the end: its first offset, and its end.",
        MADE_OF, leader_epoch_caches,
    ),
    View(
        "sources_found", "A kind of file of one broker: its files, their time span, and the minutes that are missing.",
        (T.SOURCE_FILES,), sources_found,
    ),
    View(
        "rejected_shapes", "A shape of line that could not be used: why, how many there are, and one of them.",
        (T.REJECTED_LINES,), rejected_shapes,
    ),
)  # fmt: skip
