-- U3, from the findings alone: who left the in-sync replicas, how often, in how many partitions?
SELECT cluster_id, replica_id, count(*) AS times_out, count(DISTINCT topic, topic_id, partition) AS partitions,
       percentile(unix_micros(ended_at) - unix_micros(started_at), 0.5) / 1000000 AS median_seconds_out
FROM incidents
WHERE kind = 'ISR_SHRUNK'
GROUP BY cluster_id, replica_id
ORDER BY times_out DESC, cluster_id, replica_id
