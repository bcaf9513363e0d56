"""The request log of Kafka 2.0 to 2.7, which is no JSON yet: a completed request's text to the JSON of later releases.

    RequestHeader(apiKey=FETCH, apiVersion=11, clientId=broker-3-fetcher-0, correlationId=77) -- {replica_id=3,…},
    response:{…} from connection 127.0.0.1:9092-127.0.0.1:43684-1;totalTime:1.556,requestQueueTime:0.356,…

Request and response are printed by `Struct.toString`: names with underscores, `=`, and no quotes. Each step reads the
text once, as the step before left it. What is no such text becomes no JSON either, and its line is rejected.

| in the text                                               | in the JSON                                           |
|-----------------------------------------------------------|-------------------------------------------------------|
| `fetch_offset=5`                                          | `"fetchOffset":5`, for each name of the schema        |
| `partition_header={partition=0,…}` (FETCH, up to 2.6)     | its fields beside the others                          |
| `record_set=FileRecords(size=129, …)`                     | `"recordsSizeInBytes":129`                            |
| `record_set=FileRecords(…, start=5, end=9)` (up to 2.3)   | `"recordsStart":5,"recordsEnd":9`                     |
| `record_set=[]` (up to 2.3)                               | `"recordsSizeInBytes":0`                              |
| `record_set=….LazyDownConversionRecords@5a7` (up to 2.3)  | nothing: the size is not told                         |
| `session_id=7,epoch=2` (FETCH v7 and v8)                  | `"sessionId":7,"sessionEpoch":2`                      |
| `_tagged_fields={0={epoch=3,end_offset=7}}` (FETCH v12)   | `"divergingEpoch":{"epoch":3,"endOffset":7}`          |
| `partitionSizes=[orders-0=70]` (PRODUCE, at TRACE alone)  | `"topicData":[…]` with acks=0, which has no response  |
| `rack_id`, `error_message`, `record_errors`               | nothing: they may hold whatever somebody wrote there  |
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DataType, StructType

from sources.request_schema import REQUEST, RESPONSE

BEGINS = "RequestHeader("
API_NAME = r"^RequestHeader\(apiKey=([A-Z_0-9]{1,60}), "

HEADER = r"(?s)^RequestHeader\(apiKey=([A-Z_0-9]+), apiVersion=(\d+), clientId=(.*?), correlationId=-?\d+\) -- \{"
BODY = r"(?s)^.*?, correlationId=-?\d+\) -- (\{.*\},response:(?:\{.*\})?) from connection "
MS = r"\d+(?:\.\d+)?(?:E-?\d+)?"
TIMES = (
    rf"(?s)^.* from connection [^ ;\"]+;totalTime:({MS}),requestQueueTime:({MS}),localTime:({MS}),remoteTime:({MS}),"
    rf"throttleTime:{MS},responseQueueTime:({MS}),sendTime:({MS}),securityProtocol:.*$"
)
TIMES_AS_JSON = (
    ',"totalTimeMs":$1,"requestQueueTimeMs":$2,"localTimeMs":$3,"remoteTimeMs":$4,"responseQueueTimeMs":$5,'
    '"sendTimeMs":$6}'
)

STEPS = (
    # What may hold any text goes first: up to what follows it wherever it stands.
    (r"(?s),rack_id=.*?(?=(?:,_tagged_fields=\{\})?\},response:)", ""),
    (r"(?s),record_errors=.*?,error_message=.*?(?=\}\]\}|\},\{partition=\d)", ""),
    (r"(?s)record_set=\w+\(size=(\d+), .*?\)(?=\}|,_tagged_fields=)", "records_size_in_bytes=$1"),
    (r"(?s)record_set=FileRecords\(file=.*?, start=(\d+), end=(\d+)\)(?=\})", "records_start=$1,records_end=$2"),
    (r"record_set=\[\](?=\})", "records_size_in_bytes=0"),
    # Records that are converted for an old consumer have no text of their own there (`Object.toString`).
    (r",record_set=[\w.$]+@[0-9a-f]+(?=\})", ""),
    (r"(session_id=-?\d+,)epoch=", "$1session_epoch="),
    (r",_tagged_fields=\{\}", ""),
    (
        r"_tagged_fields=\{0=(\{epoch=-?\d+,end_offset=-?\d+\})(?:, \d+=\{[^{}]*\})*\}",
        "diverging_epoch=$1",
    ),
    (r",_tagged_fields=\{(?:\d+=(?:\{[^{}]*\}|[^{},]*)(?:, )?)*\}", ""),
    (r",aborted_transactions=(?:null|\[[^\[\]]*\])", ""),
    (r"partition_header=\{([^{}]*)\}", "$1"),
    (r"(\{acks=0,timeout=-?\d+,)partitionSizes=", "$1topicData="),
    (r"([\[,])([\w.-]+)-(\d+)=\d+(?=[,\]])", r'$1{"name":"$2","partitionData":[{"index":$3}]}'),
    # From here on it is JSON, but for its names.
    (r"([{,])(\w+)=", r'$1"$2":'),
    (r'"(topic|topic_name|name|host|host_name)":(?!")([^,}"]*)', r'"$1":"$2"'),
    (r"\},response:", '},"response":'),
    (r'"response":$', '"response":null'),
)
"""What is replaced by what, one after the other."""


def as_json(text: Column) -> Column:
    """What follows `Completed request:`, as JSON; of a torn text nothing that could be read as a whole."""
    header = F.to_json(
        F.struct(
            F.regexp_extract(text, HEADER, 1).alias("requestApiKeyName"),
            F.regexp_extract(text, HEADER, 2).try_cast("int").alias("requestApiVersion"),
            F.regexp_extract(text, HEADER, 3).alias("clientId"),
        )
    )
    body = _with_names_of_json(_replaced(F.regexp_extract(text, BODY, 1)))
    times = F.regexp_replace(text, TIMES, TIMES_AS_JSON)
    return F.concat(F.lit('{"requestHeader":'), header, F.lit(',"request":'), body, times)


def _replaced(body: Column) -> Column:
    for pattern, by in STEPS:
        body = F.regexp_replace(body, pattern, by)
    return body


def _with_names_of_json(body: Column) -> Column:
    for name in sorted({*_names(REQUEST), *_names(RESPONSE)}):
        if (in_text := re.sub("[A-Z]", lambda capital: f"_{capital[0].lower()}", name)) != name:
            body = F.replace(body, F.lit(f'"{in_text}":'), F.lit(f'"{name}":'))
    return body


def _names(of: DataType) -> Iterator[str]:
    """The names of all fields, whatever struct or array they are in."""
    if isinstance(of, ArrayType):
        yield from _names(of.elementType)
    elif isinstance(of, StructType):
        for field in of.fields:
            yield field.name
            yield from _names(field.dataType)
