-- U10. Why is it under-replicated: how far behind was a replica that left the ISR, how fast did it catch up?
SELECT i.cluster_id, i.topic, i.partition, i.replica_id, i.started_at, i.ended_at,
       min(f.event_time) AS first_fetch_after,
       min_by(f.log_end_offset - f.remote_log_end_offset[i.replica_id],
              struct(f.leader_epoch, f.event_seq)) AS records_behind_then,
       round((max(f.remote_log_end_offset[i.replica_id]) - min(f.remote_log_end_offset[i.replica_id]))
             / nullif(unix_millis(max(f.event_time)) - unix_millis(min(f.event_time)), 0) * 1000, 1) AS records_per_second
FROM incidents i
LEFT JOIN leader_timeline f
  ON f.cluster_id = i.cluster_id AND f.topic = i.topic AND f.topic_id = i.topic_id AND f.partition = i.partition
 AND f.replica_id = i.replica_id AND f.event_type = 'FETCH' AND f.event_time >= i.started_at
 AND (i.ended_at IS NULL OR f.event_time <= i.ended_at)
WHERE i.kind = 'ISR_SHRUNK'
GROUP BY i.cluster_id, i.topic, i.topic_id, i.partition, i.replica_id, i.started_at, i.ended_at
ORDER BY i.started_at, i.cluster_id, i.topic, i.partition, i.replica_id
