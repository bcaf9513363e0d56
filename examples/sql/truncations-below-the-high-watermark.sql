-- U6, U7. Did a replica cut its log below its own high watermark, or records the partition had committed, and by which rule?
-- partition_high_watermark_before may be one that the present leader reached, with other records at these offsets: the
-- finding of a cut that took nothing which was committed is information alone.
SELECT cluster_id, topic, partition, replica_id, event_time, method, from_offset, to_offset, high_watermark_before,
       partition_high_watermark_before, is_stated
FROM truncations t
WHERE to_offset < high_watermark_before
   OR EXISTS (
       SELECT 1 FROM incidents i
       WHERE i.kind = 'TRUNCATED_BELOW_HIGH_WATERMARK' AND i.severity <> 'info'
         AND i.cluster_id = t.cluster_id AND i.topic = t.topic AND i.topic_id = t.topic_id AND i.partition = t.partition
         AND i.replica_id = t.replica_id AND i.leader_epoch = t.leader_epoch AND i.started_at = t.event_time)
ORDER BY event_time, cluster_id, topic, partition, replica_id
