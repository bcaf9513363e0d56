-- U8. Which replicas held different records at the same offsets?
SELECT cluster_id, topic, partition, replica_id, from_offset, to_offset, started_at, ended_at, evidence
FROM incidents
WHERE kind = 'LOG_DIVERGENCE'
ORDER BY started_at, cluster_id, topic, partition
