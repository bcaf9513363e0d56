"""The same events under other rules: another truncation, another min.insync.replicas or lag time."""
