"""`kafka-dump-log --cluster-metadata-decoder` of a KRaft cluster's metadata log: a line to its record.

    | offset: 88 CreateTime: 1795257417692 … payload: {"type":"PARTITION_CHANGE_RECORD","version":2,"data":{…}}

What the records add up to: `metadata_rows`.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql.window import WindowSpec

from schemas import columns as C
from schemas import tables as T
from sources import outcomes
from sources.metadata_records import (
    CONFIG,
    CORRUPT,
    FEATURE,
    FEATURE_NAMES,
    PARTITION,
    PARTITION_CHANGE,
    PAYLOAD_SCHEMA,
    REGISTRATION_CHANGE,
    REQUIRED,
    SETTING_NAMES,
    TOPIC,
)
from sources.metadata_snapshots import BASE_END, SNAPSHOT_END, is_held, is_repeated, with_snapshots

RECORD = r"^\s*\| offset: (\d+) \w+: (\d+) "
MAX_MILLIS = 253402300799999
"""The end of the year 9999."""

PAYLOAD = r" payload: (\{.*)$"
CONTROL = r" (?:controlType|LeaderChange|SnapshotHeader|SnapshotFooter|KRaftVersion|KRaftVoters)[: ]"


def parse(lines: DataFrame) -> DataFrame:
    """Each line with its outcome and reason; of a record its offset, time, type and data."""
    millis = F.regexp_extract(C.LINE_TEXT, RECORD, 2).try_cast("bigint")
    records = lines.withColumns({
        C.METADATA_OFFSET: F.regexp_extract(C.LINE_TEXT, RECORD, 1).try_cast("bigint"),
        C.EVENT_TIME: F.when(millis.between(0, MAX_MILLIS), F.timestamp_millis(millis)),
        "payload": F.from_json(
            F.nullif(F.regexp_extract(C.LINE_TEXT, PAYLOAD, 1), F.lit("")),
            PAYLOAD_SCHEMA,
            {"columnNameOfCorruptRecord": CORRUPT},
        ),
    })  # fmt: skip
    flat = records.withColumns({"type": F.col("payload.type"), "data": F.col("payload.data")})
    numbered = with_snapshots(flat).withColumn("copy", F.row_number().over(_copies()))
    return outcomes.with_outcome(numbered, _verdict()).drop("payload", "copy", SNAPSHOT_END, BASE_END)


def _copies() -> WindowSpec:
    """The lines that are one record: several controllers' dumps have the same log, of which the first copy counts."""
    return Window.partitionBy(C.METADATA_OFFSET, C.LINE_TEXT).orderBy(*T.LINE)


def _verdict() -> Column:
    text, record, payload = F.col(C.LINE_TEXT), F.col("type"), F.col("payload")
    is_record = text.rlike(r"^\s*\| ")
    is_change_of_else = ~F.coalesce(F.col("data.fenced").isin("1", "-1"), F.lit(False)) & F.coalesce(
        F.col("data.inControlledShutdown") != "1", F.lit(True)
    )
    is_other_setting = ~F.col("data.name").isin(*SETTING_NAMES, *FEATURE_NAMES)
    return (
        F.when(~is_record & text.rlike(outcomes.NOT_TEXT), outcomes.rejected("not text"))
        .when(text.startswith("baseOffset: "), outcomes.ignored("batch"))
        .when(~is_record, outcomes.ignored("other line"))
        .when(F.col(C.METADATA_OFFSET).isNull(), outcomes.rejected("cut line"))
        .when(F.col(C.EVENT_TIME).isNull(), outcomes.rejected("no such time"))
        .when(payload.isNull() & text.rlike(CONTROL),
              outcomes.ignored("control record"))
        .when(payload.isNull() | payload[CORRUPT].isNotNull() | record.isNull(), outcomes.rejected("cut line"))
        .when(~record.isin(*REQUIRED), outcomes.ignored(F.concat(F.lit("other record: "), record)))
        .when(_missing_field().isNotNull(), outcomes.rejected(F.concat(F.lit("missing field: "), _missing_field())))
        .when(F.col("data.partitionId") < 0, outcomes.rejected(outcomes.OUT_OF_RANGE))
        .when(is_repeated(), outcomes.ignored("snapshot of what others tell"))
        .when(record.isin(PARTITION, PARTITION_CHANGE) & is_held(), outcomes.ignored("change that the snapshot holds"))
        .when(F.col("copy") > 1, outcomes.ignored("copy of a record"))
        .when(record == TOPIC, outcomes.ignored("name of a topic id"))
        .when((record == REGISTRATION_CHANGE) & is_change_of_else, outcomes.ignored("registration changed otherwise"))
        .when(record.isin(CONFIG, FEATURE) & is_other_setting, outcomes.ignored("no setting that bears on replication"))
        .otherwise(outcomes.landed())
    )  # fmt: skip


def _missing_field() -> Column:
    """The first field that the record needs and lacks; NULL when all are there."""
    return F.coalesce(*[
        F.when((F.col("type") == record) & F.col(f"data.{field}").isNull(), F.lit(field))
        for record, fields in REQUIRED.items() for field in fields
    ])  # fmt: skip
