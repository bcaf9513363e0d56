-- U1. Which records were lost, were they committed, and by which election?
SELECT cluster_id, topic, partition, kind, from_offset, to_offset, to_offset - from_offset AS records, leader_epoch,
       started_at, evidence
FROM incidents
WHERE kind LIKE '%RECORDS_LOST%'
ORDER BY kind, cluster_id, topic, partition, from_offset
