-- U15. Which partitions does read_committed stop in, and was the marker that would free them in a range that was lost?
-- Of each partition what its last leader knew last: when the capture ended it may have had none any more.
WITH last_states AS (
    SELECT * FROM (
        SELECT *, row_number() OVER (PARTITION BY cluster_id, topic, topic_id, partition
                                     ORDER BY leader_epoch DESC, event_seq DESC) AS from_the_end
        FROM leader_states)
    WHERE from_the_end = 1
)
SELECT s.cluster_id, s.topic, s.partition, s.valid_from, s.last_stable_offset, s.high_watermark, i.kind, i.from_offset,
       i.to_offset, p.base_offset AS marker_offset, p.transaction_result, p.producer_id
FROM last_states s
LEFT JOIN incidents i
       ON i.cluster_id = s.cluster_id AND i.topic = s.topic AND i.topic_id = s.topic_id AND i.partition = s.partition
      AND i.kind LIKE '%RECORDS_LOST%'
LEFT JOIN produce_events p
       ON p.cluster_id = i.cluster_id AND p.topic = i.topic AND p.topic_id = i.topic_id AND p.partition = i.partition
      AND p.is_control AND p.base_offset >= i.from_offset AND p.base_offset < i.to_offset
WHERE s.last_stable_offset >= 0 AND s.last_stable_offset < s.high_watermark
ORDER BY s.cluster_id, s.topic, s.partition, i.from_offset, p.base_offset
