-- U3. The ISR flaps: is it one follower, one leader, one pair of them, or every partition?
SELECT cluster_id, clustered_by, replica_id, leader_id, times_out, partitions, not_back, seconds_out_median, seconds_out_max
FROM isr_flapping
ORDER BY times_out DESC, cluster_id, clustered_by, replica_id, leader_id
