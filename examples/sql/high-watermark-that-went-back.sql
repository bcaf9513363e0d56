-- U12. Did the high watermark go back, where, and what was before it?
SELECT topic, partition, leader_epoch, event_seq, event_time, source_file, source_line, before_it, high_watermark
FROM (
    SELECT *, lag(high_watermark) OVER (PARTITION BY cluster_id, topic, topic_id, partition
                                        ORDER BY leader_epoch, event_seq) AS before_it
    FROM leader_timeline
)
WHERE high_watermark < before_it
ORDER BY event_time, topic, partition
