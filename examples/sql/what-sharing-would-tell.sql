-- U18. Can it be shared? Names and texts that the tables hold in the clear: none of a warehouse made with --redact.
SELECT what, told, count(*) AS rows
FROM (
    SELECT 'topic' AS what, topic AS told FROM leader_changes
    UNION ALL SELECT 'topic', topic FROM broker_statements
    UNION ALL SELECT 'topic', topic FROM fetch_events
    UNION ALL SELECT 'topic', topic FROM produce_events
    UNION ALL SELECT 'client', client_id FROM produce_events
    UNION ALL SELECT 'client', client_id FROM fetch_events
    UNION ALL SELECT 'line', text FROM rejected_lines
)
WHERE told <> '' AND told <> '(redacted)' AND told NOT LIKE '\\_\\_%'
  AND NOT rlike(told, '^(topic|client)-[0-9a-f]{16}$|^broker-[0-9]+-fetcher-[0-9]+$')
GROUP BY what, told
ORDER BY what DESC, told
