"""The pure engine: DataFrames of landed events in, DataFrames of timelines out.

No session, path, clock, action, UDF or JVM handle in this package; it runs over Spark Connect as it is.

The protocol is in `rules`, `high_watermark` and `in_sync`, its versions in `profile`. The plan is in `replayed`, what
comes of it in `timelines`. The other modules here are what all share. The rest lies in folders, of which each knows
those above it in this list and none below:

    events      what happened, a row each, in the leadership it belongs to
    states      what each leader knew, and each replica had, after every event
    order       which event came first: the leader's clock, and the evidence of responses, for which states are tried
    clocks      how far two brokers' clocks are apart, and all times on one
    going_on    a replay of what has landed since the last one
    stretches   a replay of hot partitions, cut by time
    findings    `incidents`, made of timelines
    what_if     the same events under other rules
    views       what is worked out of timelines when it is asked
    agreement   timelines beside what brokers stated

Words of the evidence, in names here: *stated* is a broker's own word on an offset, *told* what a response told the one
that asked, or a line whoever reads it; *heard* is a broker whose requests are logged at the time, *silent* one of whom
none is; *untold* is what no line tells, *shown* what a request shows all the same.
"""
