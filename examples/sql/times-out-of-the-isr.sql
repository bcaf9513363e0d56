-- U3, from the findings alone: who left the in-sync replicas, how often, in how many partitions?
SELECT replica_id, count(*) AS times_out, count(DISTINCT topic, partition) AS partitions,
       percentile(unix_timestamp(ended_at) - unix_timestamp(started_at), 0.5) AS median_seconds_out
FROM incidents
WHERE kind = 'ISR_SHRUNK'
GROUP BY replica_id
ORDER BY times_out DESC, replica_id
