-- How long did records wait for their commit, by partition and minute?
SELECT cluster_id, topic, partition, minute, appends, not_committed_in_epoch, p50_ms, p95_ms, p99_ms, max_ms
FROM commit_latency
ORDER BY p99_ms DESC NULLS LAST, cluster_id, topic, partition, minute
LIMIT 20
