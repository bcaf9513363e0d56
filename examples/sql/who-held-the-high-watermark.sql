-- U2. Who held the high watermark back, and for how long?
SELECT topic, partition, replica_id, started_at, ended_at, evidence
FROM incidents
WHERE kind = 'HIGH_WATERMARK_STALLED'
ORDER BY started_at, topic, partition
