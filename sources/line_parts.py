"""Lists within a line: laggards, fetchers, settings; as data, like the wordings of sources/line_patterns.py."""

from __future__ import annotations

LAGGARD = r"\(brokerId: (\d+), endOffset: (-?\d+)"
FETCHER_STARTS = (
    r"([^\s,(]+)-(\d+) -> InitialFetchState[\[(](?:topicId=)?(?:Some\(|Optional\[)?([\w-]{22})?[^B]*"
    r"BrokerEndPoint[\[(][^\])]*[\])], ?(?:currentLeaderEpoch=)?(-?\d+), ?(?:initOffset=)?(-?\d+)[\])]"
)
"""Of each partition: topic, partition, topic id, leader epoch, offset (2.7 and later)."""

FETCHER_STARTS_BEFORE_2_7 = r"([^\s,(]+)-(\d+) -> \(offset=(-?\d+), leaderEpoch=(-?\d+)\)"

METADATA_TOPIC = "__cluster_metadata"
"""Replicated by the quorum of the controllers: another protocol."""

CONFIG_LINE = r"^\s+([\w.]+) = (.*)$"
CONFIG_HEADER = "KafkaConfig values"

TOPIC_SETTINGS = ("min.insync.replicas", "unclean.leader.election.enable", "message.format.version")
"""Settings of a topic that bear on replication."""

BROKER_SETTINGS = (
    *TOPIC_SETTINGS[:2], "replica.lag.time.max.ms", "replica.fetch.wait.max.ms", "inter.broker.protocol.version",
    "log.message.format.version", "replica.high.watermark.checkpoint.interval.ms", "default.replication.factor",
)  # fmt: skip
"""Settings of a broker that do."""
