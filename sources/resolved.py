"""The rows that need each other: what a line leaves out, another file of this delivery or of an earlier one says."""

from __future__ import annotations

from functools import reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from schemas import columns as C
from schemas import tables as T
from sources import metadata_rows, segment_rows, server_log
from sources.append_ends import with_ends
from sources.created_anew import created_anew
from sources.earlier import Earlier
from sources.fetch_epochs import with_forgotten_epochs
from sources.fetch_sessions import fetch_rows
from sources.isr_commits import with_isr_commits
from sources.leader_and_isr_requests import leader_and_isr_rows
from sources.loaded_watermarks import with_one_hw_a_load
from sources.marker_requests import marker_rows
from sources.parsed import Parsed, none_like, settled
from sources.produce_requests import produce_rows
from sources.redaction import Redaction
from sources.request_schema import LEADER_AND_ISR, WRITE_TXN_MARKERS
from sources.resolve_appends import batch_ends, ends_of_leaders
from sources.resolve_epochs import terms, with_append_epoch, with_fetch_epoch, with_statement_epoch
from sources.resolve_leaders import with_leader
from sources.resolve_old_batches import old_batch_ends
from sources.resolve_topics import of_known_topic, rejected_for_topic, with_topic
from sources.resolve_unlogged import unlogged_appends
from sources.state_change_log import leader_change_rows
from sources.topic_ids import topic_ids

AT_THE_END = 2**33
"""Seconds (year 2242) for a checkpoint or a dump, which have no time: they were made after all that the logs tell."""


def resolved(
    parsed: Parsed, checkpointed: DataFrame, epoch_starts: DataFrame, settings: DataFrame, earlier: Earlier,
    redaction: Redaction,
) -> dict[str, DataFrame]:  # fmt: skip
    """The rows that need each other, by table; `rejected_lines` has those whose topic nothing names.

    `settings` are those of the delivery.
    """
    all_settings = earlier.and_now(T.SETTINGS, settings)
    changes, stated, metadata = _told(parsed, checkpointed, redaction, all_settings)
    of_topics = ((T.LEADER_CHANGES, changes), (T.BROKER_STATEMENTS, stated), (T.METADATA_CHANGES, metadata))
    told = [earlier.and_now(table, frame) for table, frame in of_topics]
    ids = topic_ids(*told)
    ids = settled(ids.unionByName(created_anew(ids, *told[:2]), allowMissingColumns=True))
    at = F.col(C.EVENT_TIME)
    changes, stated = (
        with_topic(changes, ids, at),
        with_topic(stated, ids, F.coalesce(at, F.timestamp_seconds(F.lit(AT_THE_END)))),
    )
    batches = with_topic(redaction.topics(segment_rows.batch_rows(parsed.dumps)), ids)
    batches = settled(batches) if parsed.has_dumps else none_like(batches)
    fetches = fetch_rows(parsed.requests, ids, earlier.rows(T.FETCH_EVENTS))
    fetches = settled(with_forgotten_epochs(fetches, all_settings))
    appends = settled(with_topic(_asked(parsed, redaction), ids, at))
    rejections = settled(rejected_for_topic(fetches).unionByName(rejected_for_topic(appends)))
    fetches, appends = of_known_topic(fetches), of_known_topic(appends)

    epochs = settled(_terms(changes, fetches, stated, earlier))
    fetches = settled(with_fetch_epoch(fetches, epochs, parsed.to_the_second))
    changes = settled(with_leader(settled(with_statement_epoch(changes, epochs)), earlier.rows(T.LEADER_CHANGES)))
    stated = settled(with_statement_epoch(stated, epochs))
    appends = settled(with_append_epoch(appends, epochs, parsed.to_the_second))
    ended = settled(_with_ends(appends, fetches, stated, epochs, batches, earlier))
    return {
        T.PRODUCE_EVENTS.name: _with_unlogged(ended, batches, changes, earlier) if parsed.has_dumps else ended,
        T.FETCH_EVENTS.name: fetches,
        T.LEADER_CHANGES.name: changes,
        T.BROKER_STATEMENTS.name: stated,
        T.METADATA_CHANGES.name: metadata,
        T.SEGMENT_BATCHES.name: batches,
        T.EPOCH_STARTS.name: with_topic(redaction.topics(epoch_starts), ids),
        T.REJECTED_LINES.name: rejections,
    }


def _asked(parsed: Parsed, redaction: Redaction) -> DataFrame:
    """What requests had appended, by producers and by coordinators."""
    markers = marker_rows(parsed.requests_of(WRITE_TXN_MARKERS))
    return produce_rows(parsed.requests).unionByName(redaction.topics(markers))


def _told(
    parsed: Parsed, checkpointed: DataFrame, redaction: Redaction, settings: DataFrame
) -> tuple[DataFrame, DataFrame, DataFrame]:
    """The changes of leaders, the statements and the records of metadata that lines tell by themselves."""
    changes = redaction.topics(leader_change_rows(parsed.logs)).unionByName(
        leader_and_isr_rows(parsed.requests_of(LEADER_AND_ISR))
    )
    said = (server_log.statement_rows(parsed.logs), segment_rows.statement_rows(parsed.dumps), checkpointed)
    stated = redaction.topics(reduce(DataFrame.unionByName, said))
    return (
        settled(with_isr_commits(changes, settings)),
        settled(with_one_hw_a_load(stated, settings)),
        redaction.topics(metadata_rows.change_rows(parsed.metadata)),
    )


def _terms(changes: DataFrame, fetches: DataFrame, stated: DataFrame, earlier: Earlier) -> DataFrame:
    """The leader epochs that brokers were in, by all that is known."""
    of = ((T.LEADER_CHANGES, changes), (T.FETCH_EVENTS, fetches), (T.BROKER_STATEMENTS, stated))
    return terms(*[earlier.and_now(table, frame) for table, frame in of])


def _with_ends(
    appends: DataFrame, fetches: DataFrame, stated: DataFrame, epochs: DataFrame, batches: DataFrame, earlier: Earlier
) -> DataFrame:
    """The appends with where they ended."""
    all_batches = earlier.and_now(T.SEGMENT_BATCHES, batches)
    all_stated = earlier.and_now(T.BROKER_STATEMENTS, stated)
    ends = batch_ends(earlier.and_now(T.FETCH_EVENTS, fetches), all_stated)
    told = ends.unionByName(ends_of_leaders(all_stated, epochs)).unionByName(old_batch_ends(appends, all_batches))
    return with_ends(appends, all_stated, all_batches, told)


def _with_unlogged(ended: DataFrame, batches: DataFrame, changes: DataFrame, earlier: Earlier) -> DataFrame:
    """The appends, and those that only a batch in a dump bears witness to."""
    all_appends = earlier.and_now(T.PRODUCE_EVENTS, ended)
    return ended.unionByName(unlogged_appends(all_appends, batches, earlier.and_now(T.LEADER_CHANGES, changes)))
