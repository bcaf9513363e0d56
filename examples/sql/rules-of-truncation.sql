-- U16. KIP-101 and KIP-279 as a table: by which rule were logs cut, how much of it had been committed, what parted ways?
-- docs/guides/the-protocol-by-scenarios.md draws the same, and tidegauge what-if replays it under the other rule.
WITH cuts AS (
    SELECT cluster_id, topic, topic_id, partition, method, count(*) AS cuts,
           sum(greatest(from_offset - to_offset, 0)) AS records,
           sum(greatest(least(from_offset, partition_high_watermark_before) - to_offset, 0)) AS committed
    FROM truncations
    GROUP BY ALL
),
partings AS (
    SELECT cluster_id, topic, topic_id, partition, count(*) AS divergences
    FROM incidents
    WHERE kind = 'LOG_DIVERGENCE'
    GROUP BY ALL
)
SELECT method, count(*) AS partitions, sum(cuts) AS cuts, sum(records) AS records_cut,
       sum(committed) AS committed_records_cut, coalesce(sum(divergences), 0) AS divergences
FROM cuts
LEFT JOIN partings USING (cluster_id, topic, topic_id, partition)
GROUP BY method
ORDER BY committed_records_cut DESC, method
