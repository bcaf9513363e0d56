-- U17. Which partitions break which rule in the latest check, and what of it was not there in the check before?
WITH runs AS (
    SELECT cluster_id, run_id, row_number() OVER (PARTITION BY cluster_id ORDER BY max(run_at) DESC) AS nth
    FROM check_results
    GROUP BY cluster_id, run_id
),
before AS (
    SELECT DISTINCT v.cluster_id, v.violation_id
    FROM check_violations v JOIN runs ON runs.run_id = v.run_id AND runs.nth = 2
)
SELECT v.cluster_id, v.rule, r.severity,
       coalesce(v.keys['topic'], v.observed['topic']) AS topic,  -- the key of a finding is its id
       coalesce(v.keys['partition'], v.observed['partition']) AS partition,
       count(DISTINCT v.violation_id) AS violations,
       count(DISTINCT v.violation_id) - count(DISTINCT b.violation_id) AS new_ones
FROM check_violations v
JOIN runs ON runs.run_id = v.run_id AND runs.nth = 1
JOIN check_results r ON r.run_id = v.run_id AND r.rule = v.rule
LEFT JOIN before b ON b.cluster_id = v.cluster_id AND b.violation_id = v.violation_id
GROUP BY ALL
ORDER BY new_ones DESC, violations DESC, v.cluster_id, v.rule, topic, partition
