-- The state of each partition at its leader's last event. For another moment: examples/sql/state-at.sql.
SELECT cluster_id, topic, partition, leader_id, leader_epoch, event_time, log_end_offset, remote_log_end_offset, isr,
       high_watermark, last_stable_offset, exactness
FROM (
    SELECT *, row_number() OVER (PARTITION BY cluster_id, topic, topic_id, partition
                                 ORDER BY leader_epoch DESC, event_seq DESC) AS from_the_end
    FROM leader_timeline
)
WHERE from_the_end = 1
ORDER BY cluster_id, topic, partition
