-- U6, U7. Did a replica cut its log below its own high watermark, or the partition's, and by which rule?
SELECT topic, partition, replica_id, event_time, method, from_offset, to_offset, high_watermark_before,
       partition_high_watermark_before, is_stated
FROM truncations
WHERE to_offset < greatest(high_watermark_before, partition_high_watermark_before)
ORDER BY event_time, topic, partition, replica_id
