-- U14. Negative lag: is the high watermark stale, did it go back, or does read_committed wait for a transaction?
SELECT cluster_id, client_id, topic, partition, event_time, fetch_offset, high_watermark, response_high_watermark,
       last_stable_offset, lag,
       CASE position_is WHEN 'BEYOND_REGRESSED_HIGH_WATERMARK' THEN 'it went back with an election'
                        WHEN 'BEYOND_LAST_STABLE_OFFSET' THEN 'a transaction is open: read_committed waits'
                        ELSE 'the leader knew an old one' END AS cause
FROM consumer_positions
WHERE lag < 0
  AND position_is IN ('BEYOND_HIGH_WATERMARK', 'BEYOND_REGRESSED_HIGH_WATERMARK', 'BEYOND_LAST_STABLE_OFFSET')
ORDER BY event_time, cluster_id, topic, partition, client_id
