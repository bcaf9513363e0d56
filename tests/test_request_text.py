"""Lines of Kafka 2.0 to 2.7, whose requests are text: they say what they would in JSON, or are rejected."""

from __future__ import annotations

import json
import re

import pytest
from pyspark.sql import Row, SparkSession
from pyspark.sql import functions as F

from sources.fetch_requests import fetch_requests
from sources.fetch_sessions import fetch_rows
from sources.leader_and_isr_requests import leader_and_isr_rows
from sources.produce_requests import produce_rows
from sources.request_log import COMPLETED, parse
from tests.log_lines import examples
from tests.request_lines import fetch, frame, ids_of

pytestmark = pytest.mark.spark

EXAMPLES = examples("requests.txt")
PRODUCE, FULL_FETCH, FETCH = (EXAMPLES[place][0] for place in (0, 1, 2))
FETCH_V12 = EXAMPLES[7][0]
FETCH_OF_2_3, LEADER_AND_ISR_OF_2_3 = EXAMPLES[-3][0], EXAMPLES[-2][0]
ASKED, ANSWERED = "{acks=-1,timeout=30000,numPartitions=1}", re.search(r"response:(\{.*\}) from", PRODUCE)[1]  # type: ignore[index]
AT_TRACE = "{acks=0,timeout=30000,partitionSizes=[my_orders.v-2-0=70,clicks-11=80]}"
REFUSED = "record_errors=[{batch_index=0,batch_index_error_message=bad, {it}}],error_message=One, {or} more"
RACK = "rack_id=a,b={c}"


def parsed(spark: SparkSession, *texts: str) -> list[Row]:
    """The lines with their outcomes; request and response as JSON."""
    rows = parse(frame(spark, texts), "UTC").withColumns(
        {"request": F.to_json("request"), "response": F.to_json("response")}
    )
    return rows.orderBy("source_line").collect()


def asked_and_answered(row: Row) -> str:
    """What a line came to, as in `requests.txt`."""
    return f"{row.api_name} v{row.api_version} of {row.client_id}: {row.request} {row.response}"


def test_each_wording_says_what_it_says(spark: SparkSession) -> None:
    """Names as in the JSON of later versions, records by their size, the partition's header beside it."""
    rows = parsed(spark, *[text for text, _ in EXAMPLES])

    assert [asked_and_answered(row) for row in rows] == [expected for _, expected in EXAMPLES]
    assert {row.outcome for row in rows} == {"landed"}


def test_times_are_those_of_the_line(spark: SparkSession) -> None:
    """To the microsecond, and none of the throttle's."""
    (row,) = parsed(spark, PRODUCE)
    times = (
        row.total_time_us, row.request_queue_time_us, row.local_time_us, row.remote_time_us,
        row.response_queue_time_us, row.send_time_us,
    )  # fmt: skip
    assert times == (11632, 96, 7010, 1903, 2382, 155)


def test_rows_are_made_of_them(spark: SparkSession) -> None:
    """An append by its answer, of a transaction or not; a fetch in its session; what a controller told."""
    lines = parse(frame(spark, [PRODUCE, FETCH, EXAMPLES[4][0]]), "UTC")
    (append,) = produce_rows(lines).collect()
    (asked,) = fetch_requests(lines).collect()
    told = leader_and_isr_rows(lines).orderBy("partition").collect()

    assert (append.topic, append.partition, append.base_offset, append.acks) == ("orders", 0, 10, -1)
    assert append.is_transactional is None
    assert (asked.session, asked.turn.replica_id, asked.turn.is_parked) == ("2034066319", 3, True)
    assert [(row.topic, row.leader_id, row.isr, row.partition_epoch) for row in told] == [
        ("orders", 1, [1, 2, 3], 0),
        ("orders", 2, [1, 2, 3], 0),
        ("orders", 3, [1, 2, 3], 0),
    ]


def test_records_of_2_3_are_as_long_as_their_part_of_the_file(spark: SparkSession) -> None:
    """Where they begin and end in it is told, and no size; of a response without any, neither."""
    no_ids = ids_of(spark)
    rows = fetch_rows(parse(frame(spark, [FETCH_OF_2_3]), "UTC"), no_ids).collect()

    assert {row.topic: row.records_size for row in rows} == {"orders": 2918 - 2738, "__consumer_offsets": 0}


def test_roles_of_2_3_are_told_by_topic_and_before_one_by_one(spark: SparkSession) -> None:
    """LEADER_AND_ISR v2, and v0 and v1, whose partitions name their topic."""
    states = re.search(r"partition_states=\[(.*?)\]\}\],live", LEADER_AND_ISR_OF_2_3)
    assert states is not None
    one_by_one = states[1].replace("{partition=", "{topic=orders,partition=")
    by_topic = LEADER_AND_ISR_OF_2_3
    v1 = re.sub(r"topic_states=\[.*?\]\}\],live", lambda _: f"partition_states=[{one_by_one}],live", by_topic)

    for line in (by_topic, v1):
        told = leader_and_isr_rows(parse(frame(spark, [line]), "UTC")).orderBy("partition").collect()
        assert [(row.topic, row.partition, row.leader_id, row.replicas, row.partition_epoch) for row in told] == [
            ("orders", 0, 1, [1, 2, 3], 0),
            ("orders", 1, 2, [2, 3, 1], 0),
            ("orders", 2, 3, [3, 1, 2], 0),
        ]


def test_who_asks_for_no_answer_is_known_at_trace_alone(spark: SparkSession) -> None:
    """At DEBUG the line tells how many partitions, not which: it is rejected."""
    unanswered = PRODUCE.replace(ANSWERED, "")
    at_debug, at_trace = (
        unanswered.replace(ASKED, ASKED.replace("-1", "0", 1)),
        unanswered.replace(ASKED, AT_TRACE),
    )
    rows = parse(frame(spark, [at_debug, at_trace, unanswered]), "UTC")

    assert [row.reason for row in rows.orderBy("source_line").collect()] == [
        "missing field: topicData",
        None,
        "missing field: topicData",
    ]
    appends = produce_rows(rows).orderBy("topic").collect()
    assert [(row.topic, row.partition, row.base_offset) for row in appends] == [
        ("clicks", 11, -1),
        ("my_orders.v-2", 0, -1),
    ]


@pytest.mark.parametrize("client", ["a, b=c) -- {d}", "x,response:{}", '"quoted\\"', "null", "{}=[]", ""])
def test_a_client_may_have_any_name(client: str, spark: SparkSession) -> None:
    """It is the one name on the line that everybody chooses."""
    whole, named = parsed(spark, FETCH, FETCH.replace("broker-3-fetcher-0", client))

    assert named.client_id == client
    assert (named.request, named.response, named.outcome) == (whole.request, whole.response, "landed")


def test_text_in_a_request_or_response_is_passed_over(spark: SparkSession) -> None:
    """A rack, an error's message: they hold what somebody wrote; topics are names, whatever they look like."""
    rack = [text.replace("rack_id=", RACK) for text in (FETCH, FETCH_V12)]
    refused = PRODUCE.replace("record_errors=[],error_message=null", REFUSED).replace("error_code=0", "error_code=87")
    named = [PRODUCE.replace("topic=orders", f"topic={name}") for name in ("null", "007", "base_offset", "a-0")]
    of_no_rack, of_no_rack_v12, *rows = parsed(spark, FETCH, FETCH_V12, *rack, refused, *named)

    assert {row.outcome for row in rows} == {"landed"}
    assert [row.request for row in rows[:2]] == [of_no_rack.request, of_no_rack_v12.request]
    assert json.loads(rows[2].response)["responses"][0]["partitionResponses"] == [
        {"partition": 0, "errorCode": 87, "baseOffset": 10, "logStartOffset": 0}
    ]
    names = [json.loads(row.response)["responses"][0]["topic"] for row in rows[3:]]
    assert names == ["null", "007", "base_offset", "a-0"]


def test_a_diverging_epoch_is_a_tagged_field(spark: SparkSession) -> None:
    """A follower of 2.8 fetches from a leader of 2.7 while a cluster is upgraded; other tags are passed over."""
    epoch, leader = "0={epoch=3,end_offset=7,_tagged_fields={}}", "1={leader_id=2,leader_epoch=9,_tagged_fields={}}"
    with_tags = (FETCH_V12.replace("),_tagged_fields={}", f"),_tagged_fields={{{tags}}}") for tags in (
        epoch, f"{epoch}, {leader}", leader,
    ))  # fmt: skip
    rows = parsed(spark, *with_tags)

    answers = [json.loads(row.response)["responses"][0]["partitionResponses"][0] for row in rows]
    assert [answer.get("divergingEpoch") for answer in answers] == [{"epoch": 3, "endOffset": 7}] * 2 + [None]


def test_converted_records_have_their_size(spark: SparkSession) -> None:
    """For consumers of an old format: records within records."""
    records = "FileRecords(size=99, file=/a (b)/0.log, start=0, end=9)"
    lazy = f"LazyDownConversionRecords(size=61, underlying={records}, toMagic=1, firstOffset=0)"
    (row,) = parsed(spark, re.sub(r"FileRecords\(.*?\)", lazy, FETCH))

    assert '"recordsSizeInBytes":61' in row.response


def test_of_records_without_a_text_the_size_is_not_known(spark: SparkSession) -> None:
    """Converted ones, up to 2.3: what else the line tells is read."""
    lazy = "org.apache.kafka.common.record.LazyDownConversionRecords@f99c5ab1"
    of_size, of_object = parsed(spark, FETCH, re.sub(r"FileRecords\(.*?\)", lazy, FETCH))

    without = re.sub(r'"recordsSizeInBytes":\d+,?', "", of_size.response).replace(",}", "}")
    assert json.loads(of_object.response) == json.loads(without) != json.loads(of_size.response)


def test_a_line_cut_anywhere_is_rejected_or_the_same(spark: SparkSession) -> None:
    """Its end gone, another line written into it: only behind the times there is nothing to lose."""
    for text, expected in EXAMPLES[:1] + EXAMPLES[2:3] + EXAMPLES[7:8]:
        begins, ends = (
            text.index(COMPLETED) + len(COMPLETED),
            text.index("securityProtocol:") + len("securityProtocol:"),
        )
        cut = parsed(spark, *[text[:place] for place in range(begins, len(text))])
        assert {row.reason for row in cut[: ends - begins]} == {"cut line"}
        assert {asked_and_answered(row) for row in cut[ends - begins :]} == {expected}

        run_together = parsed(spark, *[text[:place] + FULL_FETCH for place in range(begins, len(text))])
        assert {row.reason for row in run_together} == {"cut line"}


def test_a_wrong_letter_is_rejected_or_changes_a_name_alone(spark: SparkSession) -> None:
    """No number is another or lost, whatever letter it is that is wrong."""
    for text, expected in EXAMPLES[2:3] + EXAMPLES[7:8]:
        begins, ends = text.index(" -- ") + len(" -- "), text.index("securityProtocol:")
        rows = parsed(spark, *[f"{text[:place]}~{text[place + 1 :]}" for place in range(begins, ends)])
        landed = [row for row in rows if row.outcome == "landed"]

        assert {row.outcome for row in rows} == {"landed", "rejected"}
        assert {str(re.findall(r"-?\d+", asked_and_answered(row))) for row in landed} == {
            str(re.findall(r"-?\d+", expected))
        }


def test_json_and_text_may_follow_each_other(spark: SparkSession) -> None:
    """A broker that was upgraded goes on in the same log."""
    rows = parsed(spark, PRODUCE, fetch((9, 1)), FETCH_V12)

    assert [row.outcome for row in rows] == ["landed"] * 3
