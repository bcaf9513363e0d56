-- U9. Where were records held by the leader alone, how many at most, and for how many record-seconds in all?
SELECT topic, partition, max(single_copy_records) AS most_records, round(sum(record_seconds), 3) AS record_seconds
FROM exposure
GROUP BY topic, partition
ORDER BY record_seconds DESC, topic, partition
