-- U12. Did the high watermark go back, where, and what was before it, at least? Where it is not known (-1) it went nowhere.
SELECT cluster_id, topic, partition, leader_epoch, event_seq, event_time, source_file, source_line, before_it,
       high_watermark, high_watermark_high, exactness
FROM (
    SELECT *, last_value(nullif(high_watermark, -1)) IGNORE NULLS OVER (
                  PARTITION BY cluster_id, topic, topic_id, partition ORDER BY leader_epoch, event_seq
                  ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before_it
    FROM leader_timeline
)
WHERE high_watermark >= 0 AND high_watermark_high < before_it
ORDER BY event_time, cluster_id, topic, partition
