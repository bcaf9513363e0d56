-- U11. When was a partition under its min.insync.replicas?
SELECT cluster_id, topic, partition, started_at, ended_at, evidence
FROM incidents
WHERE kind = 'UNDER_MIN_ISR'
ORDER BY started_at, cluster_id, topic, partition
