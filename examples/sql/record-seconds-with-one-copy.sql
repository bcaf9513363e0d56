-- U9. Where were records held by the leader alone, how many at most, and for how many record-seconds in all?
-- What lasts still counts up to the last request in its leader's log; where no request is logged, nothing of it does.
SELECT cluster_id, topic, topic_id, partition, max(single_copy_records) AS most_records, round(sum(record_seconds), 3) AS record_seconds
FROM exposure
GROUP BY cluster_id, topic, topic_id, partition
ORDER BY record_seconds DESC, cluster_id, topic, topic_id, partition
