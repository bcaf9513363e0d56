"""Each wording of state-change.log and server.log, literally, by version; and what cannot be used."""

from __future__ import annotations

from datetime import datetime

import pytest
from pyspark.sql import SparkSession

from schemas.kinds import ChangeKind, FileKind, StatementKind
from sources import broker_log
from sources.line_patterns import WORDINGS
from sources.server_log import setting_rows, statement_rows
from sources.state_change_log import leader_change_rows
from tests.log_lines import by_line, lines_of, stamped, verdicts

pytestmark = pytest.mark.spark

STATE = "state.change.logger"
PARTITION = "kafka.cluster.Partition"
LOG = "org.apache.kafka.storage.internals.log.UnifiedLog"
FETCHER = "kafka.server.ReplicaFetcherThread"
UUID = "1vDJC378Tw2AvQYNxpXPlg"
S, K = StatementKind, ChangeKind

CHANGE = ("change_kind", "topic", "partition", "leader_epoch", "partition_epoch", "leader_id", "isr", "replicas", "is_unclean")
PARTITION_STATE = (
    f"for a-b.c_d-0 with topic id Some({UUID}) and partition state LeaderAndIsrPartitionState(topicName='a-b.c_d', "
    "partitionIndex=0, controllerEpoch=-1, leader=2, leaderEpoch=7, isr=[3, 2], {epoch}=9, replicas=[1, 2, 3], "
    "addingReplicas=[], removingReplicas=[]{rest}) since"
)
REGISTRATION = (
    f"for a-b.c_d-0 with topic id Some({UUID}), partition registration PartitionRegistration(replicas=[1, 2, 3], "
    "directories=[IGb2wdfukkSayJYuGtaOwA, M5AOyqNxF77sQmAYFbANiA], isr=[3, 2], removingReplicas=[], addingReplicas=[], elr=[], "
    "lastKnownElr=[], leader=2, leaderRecoveryState=RECOVERING, leaderEpoch=7, partitionEpoch=9) and isNew=false since"
)

CHANGES = [
    ("[Broker id=2] Leader a-b.c_d-0 with topic id Some(" + UUID + ") starts at leader epoch 7 from offset 11 with partition "
     "epoch 9, high watermark 10, ISR [3,2], adding replicas [] and removing replicas [] . Previous leader Some(1) and "
     "previous leader epoch was 6.", STATE, (K.BECOME_LEADER, 7, 9, 2, [2, 3], None, None)),
    ("[Broker id=2] Leader a-b.c_d-0 with topic id None starts at leader epoch 7 from offset 11 with partition epoch 9, high "
     "watermark 10, ISR [3,2], adding replicas [] and removing replicas [] (under-min-isr). Previous leader None and previous "
     "leader epoch was -1.", STATE, (K.BECOME_LEADER, 7, 9, 2, [2, 3], None, None)),
    ("[Broker id=2] Leader a-b.c_d-0 starts at leader epoch 7 from offset 11 with high watermark 10 ISR [3,2] addingReplicas [] "
     "removingReplicas []. Previous leader epoch was 6.", STATE, (K.BECOME_LEADER, 7, -1, 2, [2, 3], None, None)),
    ("[Partition a-b.c_d-0 broker=2] a-b.c_d-0 starts at leader epoch 7 from offset 11 with high watermark 10. Previous leader "
     "epoch was 6.", PARTITION, (K.BECOME_LEADER, 7, -1, 2, None, None, None)),
    ("[Partition a-b.c_d-0 broker=2] a-b.c_d-0 starts at Leader Epoch 7 from offset 11. Previous Leader Epoch was: 6", PARTITION,
     (K.BECOME_LEADER, 7, -1, 2, None, None, None)),
    # 3.6.0-4.1 print the new leader and epoch as the previous ones.
    ("[Broker id=2] Follower a-b.c_d-0 starts at leader epoch 7 from offset 11 with partition epoch 9 and high watermark 10. "
     "Current leader is 3. Previous leader Some(3) and previous leader epoch was 7.", STATE, (K.BECOME_FOLLOWER, 7, 9, 3, None, None, None)),
    ("[Broker id=2] Follower a-b.c_d-0 starts at leader epoch 7 from offset 11 with partition epoch 9 and high watermark 10. "
     "Current leader is -1. Previous leader epoch was 6.", STATE, (K.BECOME_FOLLOWER, 7, 9, -1, None, None, None)),
    ("[Broker id=2] Follower a-b.c_d-0 starts at leader epoch 7 from offset 11 with high watermark 10. Previous leader epoch was "
     "-1.", STATE, (K.BECOME_FOLLOWER, 7, -1, None, None, None, None)),
    ("[Broker id=2] Skipped the become-leader state change " + PARTITION_STATE.format(epoch="partitionEpoch", rest=", isNew=false, "
     "leaderRecoveryState=1") + " it is already the leader with leader epoch 7. Current high watermark 10, ISR [3,2], adding "
     "replicas [] and removing replicas [].", STATE, (K.LEADER_METADATA, 7, 9, 2, [2, 3], [1, 2, 3], True)),
    ("[Broker id=2] Skipped the become-leader state change " + PARTITION_STATE.format(epoch="zkVersion", rest=", isNew=false")
     + " it is already the leader with leader epoch 7. Current high watermark 10, ISR [3,2], adding replicas [] and removing "
     "replicas [].", STATE, (K.LEADER_METADATA, 7, 9, 2, [2, 3], [1, 2, 3], None)),
    ("[Broker id=2] Skipped the become-leader state change " + REGISTRATION + " it is already the leader with leader epoch 7. "
     "Current high watermark 10, ISR [3,2], adding replicas [] and removing replicas [].", STATE,
     (K.LEADER_METADATA, 7, 9, 2, [2, 3], [1, 2, 3], True)),
    ("[Broker id=2] Skipped the become-follower state change " + PARTITION_STATE.format(epoch="partitionEpoch", rest=", isNew=false, "
     "leaderRecoveryState=0") + " it is already a follower with leader epoch 7.", STATE,
     (K.FOLLOWER_METADATA, 7, 9, 2, [2, 3], [1, 2, 3], False)),
    ("[Broker id=2] Skipped the become-follower state change " + REGISTRATION + " it is already a follower with leader epoch 7.",
     STATE, (K.FOLLOWER_METADATA, 7, 9, 2, [2, 3], [1, 2, 3], True)),
    ("[Partition a-b.c_d-0 broker=2] Shrinking ISR from 1,2,3 to 3,2. Leader: (highWatermark: 10, endOffset: 14). Out of sync "
     "replicas: (brokerId: 1, endOffset: 10, lastCaughtUpTimeMs: 1795257407069).", PARTITION,
     (K.ISR_SHRINK_PROPOSED, -1, -1, 2, [2, 3], None, None)),
    ("[Partition a-b.c_d-0 broker=2] Shrinking ISR from 1,2,3 to 3,2", PARTITION, (K.ISR_SHRINK_PROPOSED, -1, -1, 2, [2, 3], None, None)),
    ("[Partition a-b.c_d-0 broker=2] Expanding ISR from 2 to 2,3", PARTITION, (K.ISR_EXPAND_PROPOSED, -1, -1, 2, [2, 3], None, None)),
    ("[Partition a-b.c_d-0 broker=2] ISR updated to 3,2  and version updated to 9", PARTITION, (K.ISR_UPDATED, -1, 9, 2, [2, 3], None, None)),
    ("[Partition a-b.c_d-0 broker=2] ISR updated to 2 (under-min-isr) and version updated to 9", PARTITION,
     (K.ISR_UPDATED, -1, 9, 2, [2], None, None)),
    ("[Partition a-b.c_d-0 broker=2] ISR updated to 3,2 and version updated to [9]", PARTITION, (K.ISR_UPDATED, -1, 9, 2, [2, 3], None, None)),
    ("[Partition a-b.c_d-0 broker=2] ISR updated from AlterIsr to 3,2 and version updated to [9]", PARTITION,
     (K.ISR_UPDATED, -1, 9, 2, [2, 3], None, None)),
    ("[Partition a-b.c_d-0 broker=2] ISR updated to [3,2] and zkVersion updated to [9]", PARTITION, (K.ISR_UPDATED, -1, 9, 2, [2, 3], None, None)),
    ("[Partition a-b.c_d-0 broker=2] Failed to alter partition to PendingExpandIsr(newInSyncReplicaId=1, sentLeaderAndIsr=LeaderAndIsr("
     "leader=2, leaderEpoch=7, isr=List(2, 3, 1), partitionEpoch=9)) since the controller rejected the request with INELIGIBLE_REPLICA. "
     "Partition state has been reset to the latest committed state CommittedPartitionState(isr=Set(3, 2), "
     "leaderRecoveryState=RECOVERED).", PARTITION, (K.ISR_CHANGE_REJECTED, -1, -1, 2, [2, 3], None, None)),
]  # fmt: skip

STATEMENTS = [
    (CHANGES[0][0], STATE, [(S.BECAME_LEADER_HW, 10, -1), (S.BECAME_LEADER_LEO, 11, -1)]),
    (CHANGES[4][0], PARTITION, [(S.BECAME_LEADER_LEO, 11, -1)]),
    (CHANGES[7][0], STATE, [(S.BECAME_FOLLOWER_HW, 10, -1), (S.BECAME_FOLLOWER_LEO, 11, -1)]),
    (CHANGES[10][0], STATE, [(S.LEADER_METADATA_HW, 10, -1)]),
    ("[Broker id=2] Creating new partition a-b.c_d-0 with topic id " + UUID + ".", STATE, [(S.PARTITION_CREATED, -1, -1)]),
    ("[Partition a-b.c_d-0 broker=2] Shrinking ISR from 1,2,3 to 2. Leader: (highWatermark: 10, endOffset: 14). Out of sync replicas: "
     "(brokerId: 1, endOffset: 11) (brokerId: 3, endOffset: -1).", PARTITION,
     [(S.SHRINKING_HW, 10, -1), (S.SHRINKING_LEO, 14, -1), (S.SHRINKING_REMOTE_LEO, -1, 3), (S.SHRINKING_REMOTE_LEO, 11, 1)]),
    ("[Partition a-b.c_d-0 broker=2] Log loaded for partition a-b.c_d-0 with initial high watermark 8", PARTITION, [(S.LOADED_HW, 8, -1)]),
    ("[UnifiedLog partition=a-b.c_d-0, dir=/var/lib/kafka data] Truncating to offset 5", LOG, [(S.TRUNCATED_TO, 5, -1)]),
    ("[Log partition=a-b.c_d-0, dir=/d] Truncating to 5 has no effect as the largest offset in the log is 3", "kafka.log.Log",
     [(S.TRUNCATED_WITHOUT_EFFECT, 4, -1)]),
    ("[UnifiedLog partition=a-b.c_d-0, dir=/d] Truncating a-b.c_d-0 to offset 5 below high watermark 7", LOG, [(S.TRUNCATED_BELOW_HW, 7, -1)]),
    ("[UnifiedLog partition=a-b.c_d-0, dir=/d] Non-monotonic update of high watermark from (offset=9segment=[0:9]) to (offset=7"
     "segment=[0:7])", LOG, [(S.HW_LOWERED_TO, 7, -1)]),
    ("[UnifiedLog partition=a-b.c_d-0, dir=/d] Incremented log start offset to 4 due to segment deletion", LOG, [(S.LOG_START_MOVED, 4, -1)]),
    ("[Log partition=a-b.c_d-0, dir=/d] Incrementing log start offset to 4", "kafka.log.Log", [(S.LOG_START_MOVED, 4, -1)]),
    ("Completed load of Log(dir=/d/a-b.c_d-0, topicId=" + UUID + ", topic=a-b.c_d, partition=0, highWatermark=0, lastStableOffset=0, "
     "logStartOffset=3, logEndOffset=246) with 1 segments, local-log-start-offset 0 and log-end-offset 246 in 45ms (1/5 completed in /d)",
     "kafka.log.LogManager", [(S.LOADED_LEO, 246, -1), (S.LOADED_LOG_START, 3, -1)]),
    ("[Log partition=a-b.c_d-0, dir=/d] Completed load of log with 1 segments, log start offset 3 and log end offset 246 in 45 ms",
     "kafka.log.Log", [(S.LOADED_LEO, 246, -1), (S.LOADED_LOG_START, 3, -1)]),
    ("[ReplicaFetcher replicaId=2, leaderId=3, fetcherId=0] Truncating partition a-b.c_d-0 with TruncationState(offset=165, completed=true) "
     "due to leader epoch and offset EpochEndOffset(errorCode=0, partition=0, leaderEpoch=0, endOffset=165)", FETCHER,
     [(S.TRUNCATION_TARGET, 165, -1)]),
    ("[ReplicaFetcher replicaId=2, leaderId=3, fetcherId=0] Truncating partition a-b.c_d-0 with TruncationState(offset=0, completed=true) "
     "due to local high watermark 0", FETCHER, [(S.TRUNCATION_TARGET, 0, -1), (S.TRUNCATION_TO_HW, 0, -1)]),
    ("[ReplicaFetcher replicaId=2, leaderId=3, fetcherId=0] Truncating partition a-b.c_d-0 to local high watermark 10", FETCHER,
     [(S.TRUNCATION_TARGET, 10, -1), (S.TRUNCATION_TO_HW, 10, -1)]),
    ("[ReplicaFetcher replicaId=2, leaderId=3, fetcherId=0] Reset fetch offset for partition a-b.c_d-0 from 9 to current leader's latest "
     "offset 5", FETCHER, [(S.TRUNCATION_OUT_OF_RANGE, 5, -1), (S.TRUNCATION_TARGET, 5, -1)]),
    ("[ReplicaFetcher replicaId=2, leaderId=3, fetcherId=0] Reset fetch offset for partition a-b.c_d-0 from 9 to current leader's start "
     "offset 50", FETCHER, [(S.TRUNCATED_FULLY_AT, 50, -1)]),
    ("[ReplicaFetcher replicaId=2, leaderId=3, fetcherId=0] Truncate fully and reset fetch offset for partition a-b.c_d-0 from 9 to the "
     "current leader's start offset 50 because the local replica's end offset is smaller than the current leader's start offsets.", FETCHER,
     [(S.TRUNCATED_FULLY_AT, 50, -1)]),
]  # fmt: skip


def test_each_wording_of_a_change_gives_its_row(spark: SparkSession) -> None:
    """2.3 to 4.3: what the line tells is in the row, what it does not is unknown."""
    parsed = broker_log.parse(lines_of(spark, [stamped(message, logger) for message, logger, _ in CHANGES]), "UTC")

    expected = [
        (kind.value, "a-b.c_d", 0, epoch, version, leader, isr, replicas, unclean)
        for _, _, (kind, epoch, version, leader, isr, replicas, unclean) in CHANGES
    ]
    assert by_line(leader_change_rows(parsed), *CHANGE) == expected
    assert by_line(parsed, "outcome", "event_time") == [("landed", datetime(2026, 11, 21, 10, 36, 42, 604000))] * len(CHANGES)


def test_each_wording_of_an_offset_gives_its_statements(spark: SparkSession) -> None:
    """Several statements of one line have its place."""
    parsed = broker_log.parse(lines_of(spark, [stamped(message, logger) for message, logger, _ in STATEMENTS]), "UTC")

    rows = by_line(statement_rows(parsed), "topic", "partition", "kind", "offset", "replica_id")
    expected = [
        ("a-b.c_d", 0, kind.value, offset, replica)
        for _, _, stated in STATEMENTS
        for kind, offset, replica in sorted(stated, key=lambda s: s[0].value)
    ]
    assert sorted(rows, key=str) == sorted(expected, key=str)


def test_every_wording_of_the_table_has_a_line_here(spark: SparkSession) -> None:
    """A wording without an example is a guess."""
    lines = [stamped(message, logger) for message, logger, _ in [*CHANGES, *STATEMENTS]]
    parsed = broker_log.parse(lines_of(spark, [*lines, *(line for line, _ in OTHERS)]), "UTC")

    used = {tuple(row) for row in parsed.select("wording.name", "wording.regex").distinct().collect()}
    assert {(w.name, w.regex) for w in WORDINGS} - used == set()


FETCHERS = (
    "[ReplicaFetcherManager on broker 2] Added fetcher to broker 3 for partitions "
    f"HashMap(a-b.c_d-1 -> InitialFetchState(Some({UUID}),BrokerEndPoint[id=3, host=127.0.0.1, port=19093],0,177), "
    "t-0 -> InitialFetchState(None,BrokerEndPoint(id=3, host=h.example:9092),1,246))"
)
FETCHERS_2_6 = (
    "[ReplicaFetcherManager on broker 2] Added fetcher to broker BrokerEndPoint(id=3, host=h.example:9092) for partitions "
    "Map(a-b.c_d-1 -> (offset=177, leaderEpoch=0), t-0 -> (offset=246, leaderEpoch=1))"
)
CONFIG = "kafka.server.metadata.DynamicConfigPublisher"

OTHERS = [
    (stamped(FETCHERS, "kafka.server.ReplicaFetcherManager"), ("landed", None)),
    (stamped(FETCHERS_2_6, "kafka.server.ReplicaFetcherManager"), ("landed", None)),
    (stamped("[DynamicConfigPublisher broker id=2] Updating topic t with new configuration : min.insync.replicas -> 2", CONFIG), ("landed", None)),
    (stamped("[DynamicConfigPublisher broker id=2] Updating topic t with new configuration : ", CONFIG), ("landed", None)),
    (stamped("[DynamicConfigPublisher broker id=2] Updating cluster configuration : min.insync.replicas -> 1", CONFIG), ("landed", None)),
    (stamped("[DynamicConfigPublisher broker id=2] Updating node 2 with new configuration : min.insync.replicas -> 3", CONFIG), ("landed", None)),
    (stamped("[DynamicConfigPublisher broker id=2] Updating group g with new configuration : x -> 3", CONFIG),
     ("ignored", "settings of no topic or broker")),
    (stamped("Processing override for entityPath: topics/t with config: HashMap(min.insync.replicas -> 2, x -> 1)", "kafka.server.DynamicConfigManager"),
     ("landed", None)),
    (stamped("Processing override for entityPath: brokers/<default> with config: Map()", "kafka.server.DynamicConfigManager"),
     ("ignored", "settings of no topic or broker")),
    (stamped("Created log for partition t-0 in /d/t-0 with properties {cleanup.policy=compact,delete, min.insync.replicas=2}", "kafka.log.LogManager"),
     ("landed", None)),
    (stamped("Created log for partition t-0 in /d/t-0 with properties {}", "kafka.log.LogManager"),
     ("ignored", "no setting that bears on replication")),
    (stamped("[BrokerServer id=2] Transition from SHUTDOWN to STARTING", "kafka.server.BrokerServer"), ("landed", None)),
    (stamped("starting", "kafka.server.KafkaServer"), ("landed", None)),
    (stamped("Kafka version: 4.1.0", "org.apache.kafka.common.utils.AppInfoParser"), ("landed", None)),
    (stamped("[BrokerServer id=2] shutting down", "kafka.server.BrokerServer"), ("landed", None)),
    (stamped("[KafkaServer id=2] shutting down", "kafka.server.KafkaServer"), ("landed", None)),
    (stamped("[Partition t-0 broker=2] No checkpointed highwatermark is found for partition t-0", PARTITION),
     ("ignored", "no checkpointed high watermark")),
    (stamped("[Broker id=2] Skipped the become-leader state change for t-0 with topic id None and partition state X since the leader is already at a "
             "newer partition epoch 4.", STATE), ("ignored", "older metadata, not applied")),
    (stamped("[Broker id=2] Skipped the become-follower state change for t-0 with topic id None and partition state X since the follower is already at "
             "a newer partition epoch 4.", STATE), ("ignored", "older metadata, not applied")),
    (stamped("[Broker id=2] Skipped the become-leader state change after marking its partition as leader with correlation id 3 from controller 1",
             STATE), ("ignored", "metadata applied, but not told")),
    (stamped("[Broker id=2] Skipped the become-follower state change after marking its partition as follower with correlation id 3", STATE),
     ("ignored", "metadata applied, but not told")),
    (stamped("Completed load of Log(dir=/d/t-0.0b1-future, topic=t, partition=0, highWatermark=0, ", "kafka.log.LogManager"),
     ("ignored", "load of a log that is no replica")),
    (stamped("[ReplicaFetcher replicaId=2, leaderId=3, fetcherId=0] Reset fetch offset for partition t-0 from 9 to the current local replica's end "
             "offset 9", FETCHER), ("ignored", "fetch offset reset, nothing cut")),
    (stamped("[ReplicaFetcher replicaId=2, leaderId=3, fetcherId=0] Truncating t-0 to offset 5 below high watermark 7", FETCHER, "WARN"),
     ("landed", None)),
    (stamped("[Partition t-0 broker=2] High watermark updated from (offset=1 segment=[0:9]) to (offset=2 segment=[0:9])", PARTITION, "DEBUG"),
     ("ignored", "debug line")),
    (stamped("[UnifiedLog partition=__cluster_metadata-0, dir=/d] Truncating to offset 5", LOG), ("ignored", "metadata partition")),
    (stamped("[Partition t-0 broker=2] what else there is", PARTITION), ("ignored", "other message of kafka.cluster.Partition")),
    (stamped("Client requested connection close", "org.apache.kafka.clients.NetworkClient"), ("ignored", "other logger")),
    ("\tat kafka.server.ReplicaFetcherThread.doWork(ReplicaFetcherThread.scala:96)", ("ignored", "continuation of a message")),
    ("", ("ignored", "continuation of a message")),
    ("[2026-11-21 10:36:42,604] INFO KafkaConfig values: ", ("ignored", "first line of a message")),
    ("\treplica.lag.time.max.ms = 3000", ("landed", None)),
    ("\tsocket.send.buffer.bytes = 102400", ("ignored", "continuation of a message")),
]  # fmt: skip


def test_every_line_has_one_outcome(spark: SparkSession) -> None:
    """What is not wanted is ignored by a name, and what is gives rows."""
    parsed = broker_log.parse(lines_of(spark, [line for line, _ in OTHERS]), "UTC")

    assert verdicts(parsed) == [verdict for _, verdict in OTHERS]
