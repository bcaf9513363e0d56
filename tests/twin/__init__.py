"""The dumb twin: a small cluster for one partition, one event at a time, written from the protocol's description alone.

It shares no code with `replay/`, knows no Spark, and is slow on purpose: every rule is spelled out where it is used,
so that a person who has Kafka's sources open can dispute a line. Times are whole milliseconds of one clock.
"""
