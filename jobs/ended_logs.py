"""Logs that end before others': looked for before anything is planned, and said."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from jobs.progress import say
from replay.events.early_ends import EARLY_ENDS, early_ends
from replay.events.ended_logs import ENDED, ends_in_silence
from replay.events.heard import HEARD_UNTIL_US
from replay.keep import Keep
from schemas import columns as C


def with_early_ends(landed: Mapping[str, DataFrame], keep: Keep) -> Mapping[str, DataFrame]:
    """The tables, and whose logs ended before others' (`early_ends.early_ends`): in most deliveries nobody's."""
    early = keep(early_ends(landed), is_small=True)
    if not early.isEmpty():
        return {**landed, EARLY_ENDS: early}
    none = {**landed, EARLY_ENDS: early.limit(0)}
    return {**none, ENDED: ends_in_silence(none).limit(0)}


def say_whose_logs_ended(ended: DataFrame) -> None:
    """Tell which brokers led on, a line each; `ended` is `replay.events.ended_logs.ends_in_silence`."""
    partitions = F.count_distinct(*C.PARTITION_KEY).alias("partitions")
    by_broker = ended.groupBy(C.BROKER_ID).agg(partitions, F.max(HEARD_UNTIL_US).alias(HEARD_UNTIL_US))
    for row in by_broker.orderBy(C.BROKER_ID).collect():
        until = f"{datetime.fromtimestamp(row[HEARD_UNTIL_US] // 1_000_000, UTC):%Y-%m-%d %H:%M:%S} UTC"
        led = f"{row['partitions']} partition{'s' if row['partitions'] > 1 else ''} that it leads on"
        say(f"  the request log of broker {row[C.BROKER_ID]} ends at {until}, bounded from there: {led}")
