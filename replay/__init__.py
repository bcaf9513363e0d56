"""The pure engine: DataFrames of landed events in, DataFrames of timelines out.

No session, path, clock, action, UDF or JVM handle in this package; it runs over Spark Connect as it is. The protocol
is in `rules`; the plan is in `timelines`.
"""
