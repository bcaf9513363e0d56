-- The state of every replica at a moment, beside what its leader knew then. Any moment may stand here.
SELECT cluster_id, topic, partition, leader_id, leader_epoch, isr, leader_log_end_offset, leader_high_watermark,
       replica_id, role, log_end_offset, remote_log_end_offset, high_watermark, in_isr, exactness
FROM state_at(TIMESTAMP '2026-11-21 10:49:24')
ORDER BY cluster_id, topic, partition, replica_id
