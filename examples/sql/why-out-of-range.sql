-- U4. Why did a consumer jump, or get OFFSET_OUT_OF_RANGE (1): truncated records, deleted records, or neither?
SELECT cluster_id, client_id, topic, partition, event_time, fetch_offset, log_start_offset, log_end_offset, error_code,
       position_is,
       CASE position_is WHEN 'BEYOND_LOG_END' THEN 'the records were truncated (see what-was-lost), or never there'
                        WHEN 'BELOW_LOG_START' THEN 'the records were deleted: retention or DeleteRecords'
                        WHEN 'OUTSIDE_FOLLOWERS_LOG' THEN 'neither: a follower has other ends, the leader has the offset'
                        ELSE 'the capture does not tell' END AS cause
FROM consumer_positions
WHERE error_code = 1
ORDER BY event_time, cluster_id, topic, partition, client_id
