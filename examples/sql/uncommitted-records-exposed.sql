-- U13. Did a replica hold records below its own high watermark that it then had to cut (KAFKA-14704)?
SELECT t.cluster_id, t.topic, t.partition, t.replica_id, t.event_time, t.method, t.to_offset AS cut_to,
       t.high_watermark_before AS its_high_watermark, t.high_watermark_before - t.to_offset AS records_exposed
FROM truncations t
WHERE t.high_watermark_before > t.to_offset
ORDER BY records_exposed DESC, t.event_time, t.cluster_id, t.topic, t.partition
