-- U14. Negative lag: is the high watermark stale, or did it go back?
SELECT cluster_id, client_id, topic, partition, event_time, fetch_offset, high_watermark, response_high_watermark, lag,
       IF(position_is = 'BEYOND_REGRESSED_HIGH_WATERMARK', 'it went back with an election', 'the leader knew an old one') AS cause
FROM consumer_positions
WHERE lag < 0 AND position_is LIKE 'BEYOND%HIGH_WATERMARK'
ORDER BY event_time, cluster_id, topic, partition, client_id
