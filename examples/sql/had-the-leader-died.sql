-- U9. Had the leader died then, how many records would have been lost? Add "AND TIMESTAMP '…' >= valid_from AND …".
SELECT cluster_id, topic, partition, leader_id, valid_from, valid_to, high_watermark, log_end_offset,
       single_copy_records, would_lose, could_lose, record_seconds
FROM exposure
WHERE greatest(could_lose, would_lose, single_copy_records) > 0  -- with an ISR of the leader alone only the last is told
   OR (could_lose IS NULL AND would_lose IS NOT NULL)  -- a member of the ISR was not heard from yet: nobody knows
ORDER BY greatest(could_lose, would_lose, single_copy_records) DESC, valid_from, cluster_id, topic, partition
LIMIT 20
