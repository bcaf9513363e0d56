-- U9. When was the leader the only one to hold records, and how many would its death have lost?
SELECT topic, partition, leader_id, event_time,
       log_end_offset - array_max(map_values(remote_log_end_offset)) AS records_with_one_copy
FROM leader_timeline
WHERE log_end_offset > array_max(map_values(remote_log_end_offset)) AND array_max(map_values(remote_log_end_offset)) >= 0
ORDER BY records_with_one_copy DESC, event_time, topic, partition
LIMIT 20
