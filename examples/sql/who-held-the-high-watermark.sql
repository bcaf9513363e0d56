-- U2. Who held the high watermark back, for how long, and why?
SELECT cluster_id, topic, partition, leader_epoch, started_at, ended_at, lasted_ms, high_watermark, log_end_offset, why,
       waits_for
FROM high_watermark_held
WHERE lasted_ms >= 1000
ORDER BY lasted_ms DESC, cluster_id, topic, partition, started_at
