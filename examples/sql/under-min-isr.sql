-- U11. When was a partition under its min.insync.replicas?
SELECT topic, partition, started_at, ended_at, evidence
FROM incidents
WHERE kind = 'UNDER_MIN_ISR'
ORDER BY started_at, topic, partition
