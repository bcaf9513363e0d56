"""A small capture in which every kind of file names a topic, a host or a person."""

from __future__ import annotations

import json
from pathlib import Path

from tests.log_lines import stamped
from tests.request_lines import ORDERS_ID, line

TOPIC, HOST, PERSON = "salaries", "kafka1.example.com", "alice"
SECRETS = (TOPIC, HOST, "example.com", PERSON)
AT = "2026-11-21 10:00:00,{:03}"

LEADER = (
    f"[Broker id=1] Leader {TOPIC}-0 with topic id Some({ORDERS_ID}) starts at leader epoch 3 from offset 0 with "
    "partition epoch 0, high watermark 0, ISR [1,2], adding replicas [] and removing replicas [] . "
    "Previous leader None and previous leader epoch was -1."
)
SHRINKING = (
    f"[Partition {TOPIC}-0 broker=1] Shrinking ISR from 1,2 to 1. Leader: (highWatermark: 4, endOffset: 9). "
    "Out of sync replicas: (brokerId: 2, endOffset: 4, lastCaughtUpTimeMs: 1)."
)
ISR_UPDATED = f"[Partition {TOPIC}-0 broker=1] ISR updated to 1  and version updated to 1"
FETCHERS = (
    "[ReplicaFetcherManager on broker 1] Added fetcher to broker BrokerEndPoint(id=2, "
    f"host={HOST}:9092) for partitions Map({TOPIC}-0 -> InitialFetchState(Some({ORDERS_ID}),"
    f"BrokerEndPoint(id=2, host={HOST}:9092),3,4))"
)
CUT = f"[Partition {TOPIC}-0 broker=1] Shrinking ISR from 1,2 to 1 as {PERSON} on {HOST}"
BATCH = (
    "baseOffset: {0} lastOffset: {0} count: 1 baseSequence: -1 lastSequence: -1 producerId: -1 producerEpoch: -1 "
    "partitionLeaderEpoch: 3 isTransactional: false isControl: false position: 0 CreateTime: 1795257402334 size: 70 "
    "magic: 2 compresscodec: none crc: 7 isvalid: true"
)
RECORD = '| offset: {0} CreateTime: {0} keySize: -1 payload: {{"type":"{1}","version":0,"data":{2}}}'


def requests() -> list[str]:
    """A produce, a follower's fetch and a consumer's by name, one by id, markers, and what a controller told."""
    batch = {"name": TOPIC, "partitionData": [{"index": 0}]}
    answer = {"index": 0, "errorCode": 0, "baseOffset": 8}
    asked = [{"topic": TOPIC, "partitions": [{"partition": 0, "fetchOffset": 8}]}]
    given = [{"topic": TOPIC, "partitions": [{"partitionIndex": 0, "errorCode": 0, "highWatermark": 4}]}]
    by_id = [{"topicId": ORDERS_ID, "partitions": [{"partition": 0, "fetchOffset": 9}]}]
    state = {"partitionIndex": 0, "leader": 1, "leaderEpoch": 3, "isr": [1, 2], "replicas": [1, 2]}
    of_versions = (
        {"topicStates": [{"topicName": TOPIC, "partitionStates": [state]}]},
        {"topicStates": [{"topic": TOPIC, "partitionStates": [state]}]},
        {"ungroupedPartitionStates": [{"topicName": TOPIC, **state}]},
        {"partitionStates": [{"topic": TOPIC, **state}]},
    )
    marked = [
        {"producerId": 7, "topics": [{name: TOPIC, "partitions": [{"partitionIndex": 0, "errorCode": 0}]}]}
        for name in ("name", "topic")
    ]
    lines = [
        line(
            "PRODUCE", {"acks": 1, "topicData": [batch]}, {"responses": [{"name": TOPIC, "partitions": [answer]}]}, at=1
        ),
        line("FETCH", {"replicaId": 2, "topics": asked}, {"responses": given}, at=2),
        line("FETCH", {"replicaId": -1, "topics": by_id}, {"responses": []}, at=3),
        *[line("LEADER_AND_ISR", told, {}, at=at) for at, told in enumerate(of_versions, 4)],
        line("WRITE_TXN_MARKERS", {"markers": [{"producerId": 7}]}, {"markers": marked[:1]}, at=8),
        line("WRITE_TXN_MARKERS", {"markers": [{"producerId": 7}]}, {"transactionMarkers": marked[1:]}, at=9),
    ]
    named = [text.replace('"clientId":"test"', f'"clientId":"{PERSON}-at-{HOST}"') for text in lines]
    return [*named, named[0].replace('"acks":1,', "")]


def metadata() -> list[str]:
    """A topic, its partition and a setting of it, in the metadata log."""
    created = {
        "partitionId": 0, "topicId": ORDERS_ID, "isr": [1, 2], "replicas": [1, 2], "leader": 1, "leaderEpoch": 3,
        "partitionEpoch": 0,
    }  # fmt: skip
    setting = {"resourceType": 2, "resourceName": TOPIC, "name": "min.insync.replicas", "value": "2"}
    records = (("TOPIC_RECORD", {"name": TOPIC, "topicId": ORDERS_ID}), ("PARTITION_RECORD", created))
    told = [(n, name, json.dumps(data)) for n, (name, data) in enumerate((*records, ("CONFIG_RECORD", setting)))]
    return ["Dumping /data/__cluster_metadata-0/00000000000000000000.log", *[RECORD.format(*record) for record in told]]


def telling_capture(root: Path) -> Path:
    """The folder with these files."""
    about = {"kafka": "4.1.0", "config": {"listeners": f"SASL://{HOST}:9092", "replica.lag.time.max.ms": "3000"}}
    texts = (LEADER, "state.change.logger"), (FETCHERS, "kafka.server.ReplicaFetcherManager")
    server = (
        (SHRINKING, "kafka.cluster.Partition"),
        (ISR_UPDATED, "kafka.cluster.Partition"),
        (CUT, "kafka.cluster.Partition"),
    )
    files = {
        "broker-1/state-change.log": [stamped(text, logger, time=AT.format(0)) for text, logger in texts[:1]],
        f"broker-1/{HOST}-server.log.2": [
            stamped(text, logger, time=AT.format(9)) for text, logger in (*texts[1:], *server)
        ],
        "broker-1/kafka-request.log": requests(),
        f"broker-1/segments/{TOPIC}-0.txt": [BATCH.format(8), BATCH.format(9)],
        "broker-1/segments/__consumer_offsets-0.txt": [BATCH.format(0)],
        f"broker-1/{PERSON}/dump.txt": [f"Dumping /data/{TOPIC}-0/00000000000000000000.log", BATCH.format(8)],
        f"broker-2/{TOPIC}-0/leader-epoch-checkpoint": ["0", "1", "3 0"],
        "broker-2/replication-offset-checkpoint": ["0", "1", f"{TOPIC} 0 4", f"{TOPIC} of {PERSON}"],
        "cluster-metadata.txt": metadata(),
        "about.json": [json.dumps(about, indent=1)],
        f"{HOST}.txt": ["nothing"],
    }
    for name, lines in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return root
