-- U16. KIP-101 and KIP-279 as a table: by which rule were logs cut, how much of it had been committed, what parted ways?
-- docs/guides/the-protocol-by-scenarios.md draws the same, and tidegauge what-if replays it under the other rule.
-- Logs that parted stand beside the rule of their partition: 'none' if nothing was cut there, 'several' if by more rules.
WITH reached AS (
    SELECT cluster_id, topic, topic_id, partition, leader_epoch, max(high_watermark) AS high_watermark
    FROM leader_timeline
    GROUP BY ALL
),
committed AS (
    -- By the leaders before a cut: at the offsets that are cut the present one commits other records.
    SELECT t.cluster_id, t.topic, t.topic_id, t.partition, t.leader_epoch, max(r.high_watermark) AS committed_end
    FROM (SELECT DISTINCT cluster_id, topic, topic_id, partition, leader_epoch FROM truncations) t
    JOIN reached r ON r.cluster_id = t.cluster_id AND r.topic = t.topic AND r.topic_id = t.topic_id
                  AND r.partition = t.partition AND r.leader_epoch < t.leader_epoch
    GROUP BY ALL
),
cuts AS (
    -- A replica that lost its tail with a restart had it from whichever leader there was.
    -- How long a log was before is not always told (-1): then at least what had been committed is gone from it.
    SELECT *, if(method = 'restart', partition_high_watermark_before, coalesce(committed_end, -1)) AS committed_to,
           coalesce(nullif(from_offset, -1), committed_to) AS cut_from
    FROM truncations
    LEFT JOIN committed USING (cluster_id, topic, topic_id, partition, leader_epoch)
),
of_rules AS (
    SELECT method, count(DISTINCT cluster_id, topic, topic_id, partition) AS partitions, count(*) AS cuts,
           count_if(from_offset < 0) AS of_unknown_length,
           sum(greatest(cut_from - to_offset, 0)) AS records_cut,
           sum(greatest(least(cut_from, committed_to) - to_offset, 0)) AS committed_records_cut
    FROM cuts
    GROUP BY method
),
rules AS (
    SELECT cluster_id, topic, topic_id, partition, if(count(DISTINCT method) > 1, 'several', max(method)) AS method
    FROM truncations
    GROUP BY cluster_id, topic, topic_id, partition
),
partings AS (
    SELECT coalesce(method, 'none') AS method, count(*) AS divergences
    FROM incidents
    LEFT JOIN rules USING (cluster_id, topic, topic_id, partition)
    WHERE kind = 'LOG_DIVERGENCE'
    GROUP BY ALL
)
SELECT method, coalesce(partitions, 0) AS partitions, coalesce(cuts, 0) AS cuts,
       coalesce(of_unknown_length, 0) AS of_unknown_length, coalesce(records_cut, 0) AS records_cut,
       coalesce(committed_records_cut, 0) AS committed_records_cut, coalesce(divergences, 0) AS divergences
FROM of_rules
FULL JOIN partings USING (method)
ORDER BY committed_records_cut DESC, method
