-- U5. Which consumers read records that later vanished?
SELECT cluster_id, topic, partition, from_offset, to_offset, started_at, evidence
FROM incidents
WHERE kind = 'CONSUMER_READ_LOST_RECORDS'
ORDER BY started_at, cluster_id, topic, partition
