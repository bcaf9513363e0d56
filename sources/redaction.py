"""Names that are not to leave the house, replaced as they land: each by a pseudonym that only the key makes again.

A pseudonym is `topic-` or `client-` and the first 16 hex digits of HMAC-SHA256(key, kind + ":" + name): the same name
is the same pseudonym in every row and every delivery, so that joins and replays work as before. The request log's names
are replaced before anything is made of its lines, those of other files as soon as there are rows of them: what resolves
one delivery with the help of earlier ones then compares like with like.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from enum import StrEnum

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from schemas import columns as C
from schemas.kinds import KAFKA_VERSION
from sources.file_names import FileNames
from sources.line_parts import BROKER_SETTINGS, TOPIC_SETTINGS
from sources.metadata_records import FEATURE_NAMES
from sources.source_file import SourceFile

INTERNAL_TOPICS = (
    "__consumer_offsets", "__transaction_state", "__share_group_state", "__cluster_metadata", "__remote_log_metadata",
)  # fmt: skip
"""Kafka's own names, the same in every cluster: they tell nothing, and what such a topic is hangs on its name."""

INTERNAL_CLIENTS = r"^(broker-\d+-(fetcher-\d+|txn-marker-sender))?$"
"""Client ids of the brokers' own fetchers and coordinators, and of a client that says none."""

PSEUDONYM = r"^topic-[0-9a-f]{16}$"
"""A pseudonym stays what it is: a dump may have its topic from the name of its file, which is replaced first."""

TELLING_NOTHING = (*TOPIC_SETTINGS, *BROKER_SETTINGS, *FEATURE_NAMES, KAFKA_VERSION)
"""Settings whose values are numbers, versions or switches."""

DIGITS = 16
BLOCK_BYTES = 64
REDACTED = "(redacted)"

TOPICS_IN_REQUESTS = {
    "request": {
        "topics": "topic", "forgottenTopicsData": "topic", "topicData": "name", "ungroupedPartitionStates": "topicName",
        "partitionStates": "topic", "topicStates": "topicName topic",
    },
    "response": {"responses": "topic name"},
}  # fmt: skip
"""Where a line of the request log names topics: of each struct, the lists and the fields of their members."""


class Redacted(StrEnum):
    """What is to be replaced."""

    TOPICS = "topics"
    HOSTS = "hosts"
    PRINCIPALS = "principals"


@dataclass(frozen=True)
class Redaction:
    """What is replaced, and with which key. Text that may hold any of the three is replaced whichever is asked for."""

    what: frozenset[Redacted] = frozenset()
    key: bytes = field(default=b"", repr=False)

    @property
    def fingerprint(self) -> str:
        """What and with which key, without telling the key; `none` where nothing is replaced."""
        return f"{','.join(sorted(self.what))} {self._digits('fingerprint', '')[:DIGITS]}" if self.what else "none"

    def files(self, files: Iterable[SourceFile]) -> list[SourceFile]:
        """The files as they are landed: other names, and digests that nobody can compare with a guessed file's."""
        if not self.what:
            return list(files)
        topic = self.topic_name if Redacted.TOPICS in self.what else str
        names = FileNames(topic, lambda part: f"name-{self._digits('name', part)[:DIGITS]}")
        return [replace(file, name=names.of(file), digest=self.digest(file.digest)) for file in files]

    def digest(self, of_content: str) -> str:
        """A file's digest as it lands."""
        return self._digits("digest", of_content) if self.what else of_content

    def topic_name(self, name: str) -> str:
        """A topic's pseudonym."""
        return name if name in INTERNAL_TOPICS else f"topic-{self._digits('topic', name)[:DIGITS]}"

    def topics(self, rows: DataFrame) -> DataFrame:
        """Rows with a topic, under its pseudonym."""
        return rows.withColumn(C.TOPIC, self._topic(F.col(C.TOPIC))) if Redacted.TOPICS in self.what else rows

    def requests(self, parsed: DataFrame) -> DataFrame:
        """Lines of the request log, with pseudonyms for the client and each topic in request and response."""
        if not self.what:
            return parsed
        is_internal = F.col(C.CLIENT_ID).rlike(INTERNAL_CLIENTS)
        client = F.when(is_internal, F.col(C.CLIENT_ID)).otherwise(self._pseudonym("client", F.col(C.CLIENT_ID)))
        named = parsed.withColumn(C.CLIENT_ID, client)
        return named.withColumns(self._in_requests()) if Redacted.TOPICS in self.what else named

    def texts(self, rejected: DataFrame) -> DataFrame:
        """Rejected lines without their text: of what could not be parsed nobody knows where the names are."""
        return rejected.withColumn(C.LINE_TEXT, F.lit(REDACTED)) if self.what else rejected

    def settings(self, rows: DataFrame) -> DataFrame:
        """Settings, the values only of those that cannot name anything."""
        is_telling = ~F.col(C.NAME).isin(*TELLING_NOTHING) & F.col(C.VALUE).isNotNull()
        value = F.when(is_telling, F.lit(REDACTED)).otherwise(F.col(C.VALUE))
        return self.topics(rows).withColumn(C.VALUE, value) if self.what else rows

    def _in_requests(self) -> dict[str, Column]:
        """`request` and `response` with the topics in their lists replaced."""
        replaced = {}
        for side, lists in TOPICS_IN_REQUESTS.items():
            column = F.col(side)
            for name, fields in lists.items():
                column = column.withField(name, F.transform(F.col(side)[name], self._member(fields.split())))
            replaced[side] = column
        return replaced

    def _member(self, fields: list[str]) -> Callable[[Column], Column]:
        def hidden(member: Column) -> Column:
            for name in fields:
                member = member.withField(name, self._topic(member[name]))
            return member

        return hidden

    def _topic(self, name: Column) -> Column:
        is_kept = name.isin("", *INTERNAL_TOPICS) | name.rlike(PSEUDONYM)
        return F.when(is_kept, name).otherwise(self._pseudonym("topic", name))

    def _pseudonym(self, kind: str, name: Column) -> Column:
        """`hmac` in Spark's own functions: H(outer pad, H(inner pad, message))."""
        key = hashlib.sha256(self.key).digest() if len(self.key) > BLOCK_BYTES else self.key
        block = key.ljust(BLOCK_BYTES, b"\0")
        inner, outer = (bytes(byte ^ pad for byte in block) for pad in (0x36, 0x5C))
        message = F.encode(F.concat(F.lit(f"{kind}:"), name), "utf-8")
        digest = F.sha2(F.concat(F.lit(outer), F.unhex(F.sha2(F.concat(F.lit(inner), message), 256))), 256)
        return F.concat(F.lit(f"{kind}-"), F.substring(digest, 1, DIGITS))

    def _digits(self, kind: str, name: str) -> str:
        return hmac.new(self.key, f"{kind}:{name}".encode(), hashlib.sha256).hexdigest()
