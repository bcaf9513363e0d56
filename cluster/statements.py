"""The brokers' own words at DEBUG and TRACE, by kind: what truth.jsonl.gz is made of.

The wordings are those of 2.3 to 4.4. `topic_partition` is common to all; other names become a row's fields.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

TOPIC_PARTITION = r"(?P<topic_partition>\S+-\d+)"
PARTITION = rf"^\[Partition {TOPIC_PARTITION} broker=\d+\] "
LOG = rf"^\[(?:UnifiedLog|Log|MergedLog) partition={TOPIC_PARTITION}, dir=[^\]]*\] "
FETCHER = r"^\[ReplicaFetcher replicaId=(?P<replica>\d+), leaderId=(?P<leader>-?\d+), fetcherId=\d+\] "
BROKER = r"^\[Broker id=\d+\] "
STARTS = r"starts at leader epoch (?P<epoch>-?\d+) from offset (?P<leo>-?\d+) with partition epoch -?\d+"
STARTS_BEFORE_3_3 = (
    r"starts at leader epoch (?P<epoch>-?\d+) from offset (?P<leo>-?\d+) with high watermark (?P<to>-?\d+)"
)

BECOMES = frozenset({"become_leader", "become_follower"})
"""Kinds that begin a leader epoch at their broker."""


@dataclass(frozen=True)
class Statement:
    """A kind of statement: the words that every such line holds (a cheap test), and the pattern with its fields."""

    kind: str
    words: str
    pattern: re.Pattern[str]


def _statement(kind: str, words: str, pattern: str) -> Statement:
    return Statement(kind, words, re.compile(pattern))


STATEMENTS = (
    _statement(
        "leader_hw",
        "High watermark updated from",
        PARTITION + r"High watermark updated from \(offset=(?P<from>-?\d+)\D.* to \(offset=(?P<to>-?\d+)\D",
    ),
    _statement(
        "leader_hw",  # up to 2.3
        "High watermark updated to",
        PARTITION + r"High watermark updated to \(offset=(?P<to>-?\d+)\D",
    ),
    _statement(
        "remote_leo",
        "Recorded replica",
        PARTITION + r"Recorded replica (?P<replica>\d+) log end offset \(LEO\) position (?P<to>-?\d+)",
    ),
    _statement(
        "append",
        "Appended message set",
        LOG + r"Appended message set with last offset: (?P<last>-?\d+), "
        r"first offset: (?:Some\(|Optional\[\(offset=)?(?P<first>-?\d+)\D.*?"
        r"next offset: (?P<to>-?\d+)",
    ),
    _statement(
        "follower_leo",
        "Follower has replica log end offset",
        FETCHER + r"Follower has replica log end offset (?P<to>-?\d+) after appending (?P<bytes>\d+) bytes of messages "
        rf"for partition {TOPIC_PARTITION}",
    ),
    _statement(
        "follower_hw",
        "Follower received high watermark",
        FETCHER + r"Follower received high watermark (?P<received>-?\d+) from the leader and updated replica high "
        rf"watermark to (?P<to>-?\d+) for partition {TOPIC_PARTITION}",
    ),
    _statement(
        "follower_hw",  # up to 3.2; after each response, whether it changes or not
        "Follower set replica high watermark",
        FETCHER + rf"Follower set replica high watermark for partition {TOPIC_PARTITION} to (?P<to>-?\d+)",
    ),
    _statement("truncate", "Truncating to offset", LOG + r"Truncating to offset (?P<to>-?\d+)"),
    _statement(
        "log_start",
        "Incremented log start offset",
        LOG + r"Incremented log start offset to (?P<to>\d+) due to (?P<why>.+)",
    ),
    _statement("log_start", "Incrementing log start offset", LOG + r"Incrementing log start offset to (?P<to>\d+)"),
    _statement(
        "loaded",
        "with initial high watermark",
        PARTITION + r"Log loaded for partition \S+ with initial high watermark (?P<to>-?\d+)",
    ),
    _statement(
        "loaded",  # up to 2.3; of other brokers' replicas too, with 0
        "with initial high watermark",
        rf"^Replica loaded for partition {TOPIC_PARTITION} with initial high watermark (?P<to>-?\d+)",
    ),
    _statement(
        "become_leader",
        "Leader ",
        BROKER + rf"Leader {TOPIC_PARTITION} with topic id \S+ {STARTS}, high watermark (?P<to>-?\d+), "
        r"ISR \[(?P<isr>[\d,]*)\]",
    ),
    _statement(
        "become_leader",  # 2.4 and 2.5: by the partition itself, and no ISR
        "starts at leader epoch",
        PARTITION + rf"\S+ {STARTS_BEFORE_3_3}\.",
    ),
    _statement(
        "become_leader",  # 2.4.0, and before: no HW either
        "starts at Leader Epoch",
        PARTITION + r"\S+ starts at Leader Epoch (?P<epoch>-?\d+) from offset (?P<leo>-?\d+)\.",
    ),
    _statement(
        "become_leader",  # 2.6 to 3.2
        "starts at leader epoch",
        BROKER + rf"Leader {TOPIC_PARTITION} {STARTS_BEFORE_3_3} ISR \[(?P<isr>[\d,]*)\]",
    ),
    _statement(
        "become_follower",  # 2.6 to 3.2
        "starts at leader epoch",
        BROKER + rf"Follower {TOPIC_PARTITION} {STARTS_BEFORE_3_3}\.",
    ),
    _statement(
        "become_follower",
        "Follower ",
        BROKER + rf"Follower {TOPIC_PARTITION} {STARTS} and high watermark (?P<to>-?\d+)\. "
        r"Current leader is (?P<leader>-?\d+)",
    ),
)
