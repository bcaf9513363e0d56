"""Silent truncations: a log that is shorter than what was committed in it, and no line says that it was cut.

Kafka's own warning practically never fires before 4.2 (KAFKA-19474), and a wiped log directory leaves none. What a
broker writes by default is enough to see it: the LEO and HW with which each role and each load of a log begins.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from replay.findings.contacts import HELD_UP_TO
from replay.findings.finding import finding, text
from replay.findings.silent_epochs import silent_epochs
from replay.findings.spans import END_ISR, NUMBER, START_LEO
from replay.statements import ROLE_HWS, ROLE_LEOS, is_of
from replay.states.told_points import own_lines, points
from replay.windows import FIRST, NOW
from schemas import columns as C
from schemas import tables as T
from schemas.kinds import IncidentKind, Method, Severity, StatementKind

_HAD = "had"
"""struct<hw,epoch>: up to where the log had held committed records before, and the leader epoch in which."""


def silent_truncations(
    landed: Mapping[str, DataFrame], led: DataFrame, took_part: DataFrame, truncations: DataFrame
) -> DataFrame:
    """One row per log that begins a role shorter than it was, below a HW, and nothing tells of a cut in between.

    Of a leader that is a leader's HW (`led` is `spans.spans`), of another replica its own. Without topic ids a
    topic that was made again begins at epoch 0 again: an epoch must have passed.
    """
    statements = landed[T.BROKER_STATEMENTS.name]
    said = points(statements).unionByName(_deletions(statements), allowMissingColumns=True)
    told = said.withColumn(C.EVENT_TIME, F.timestamp_micros("us"))
    own = own_lines().rowsBetween(FIRST, -1)
    # A cut begins a new log, as it were: what the log had before it does not count.
    marked = told.withColumn("cuts", F.coalesce(F.sum(F.col("is_cut").cast("int")).over(own), F.lit(0)))
    shorter = (
        _shorter(marked)
        .where(_is_later(F.col(f"{_HAD}.epoch")))
        .withColumns({"as_leader": F.lit(False), "why": text("its own log had had HW {}", f"{_HAD}.hw")})
    )
    leaders = _uncut(_leaders(led, took_part, silent_epochs(landed, led)), marked, truncations)
    found = shorter.select(*_FOUND).unionByName(leaders.select(*_FOUND)).groupBy(*C.REPLICA_KEY, C.LEADER_EPOCH).agg(
        F.min(C.CAPTURE_ID).alias(C.CAPTURE_ID), F.min(C.EVENT_TIME).alias(C.STARTED_AT), F.min("leo").alias("leo"),
        F.max(f"{_HAD}.hw").alias("hw"), F.bool_or("as_leader").alias("as_leader"),
        F.max_by("why", F.struct("as_leader", f"{_HAD}.hw")).alias("why"),
    )  # fmt: skip
    return _findings(found)


def _shorter(marked: DataFrame) -> DataFrame:
    """Return the points at which a replica's log is first seen to be shorter than its own HW was since it was cut.

    The roles that follow have the same log: what it had before is compared once.
    """
    own = own_lines().rowsBetween(FIRST, -1)
    is_shorter = F.coalesce((F.col("leo") >= 0) & ~F.col("is_cut") & (F.col("leo") < F.col(f"{_HAD}.hw")), F.lit(False))
    reached = F.struct("hw", F.col(C.LEADER_EPOCH).alias("epoch"))

    def had(*since: str) -> Column:
        of_log = Window.partitionBy(*C.REPLICA_KEY, *since).orderBy("us", C.SOURCE_FILE, C.SOURCE_LINE)
        return F.max(reached).over(of_log.rowsBetween(FIRST, -1))

    ever = marked.withColumn(_HAD, had("cuts")).withColumn("is_shorter", is_shorter)
    counted = ever.withColumns(
        {
            "times": F.coalesce(F.sum(F.col("is_shorter").cast("int")).over(own), F.lit(0)),
            "then": F.last(F.when(F.col("is_shorter"), reached), ignorenulls=True).over(own),
        }
    )
    since = counted.withColumn(_HAD, F.greatest(had("cuts", "times"), "then"))
    return since.where(is_shorter)


_FOUND = (*C.REPLICA_KEY, C.LEADER_EPOCH, C.CAPTURE_ID, C.EVENT_TIME, "leo", _HAD, "as_leader", "why")


def _deletions(statements: DataFrame) -> DataFrame:
    """One row per log that was deleted, as `points` has a cut to nothing: a reassignment may begin it anew.

    Its leader epoch is that of the replica's role before, where a line tells of one.
    """
    own = own_lines().rowsBetween(FIRST, NOW)
    epoch = F.last(F.when(is_of(*ROLE_LEOS, *ROLE_HWS), F.col(C.LEADER_EPOCH)), ignorenulls=True).over(own)
    told = statements.where(is_of(*ROLE_LEOS, *ROLE_HWS, StatementKind.LOG_DELETED)).select(
        *C.PARTITION_KEY, F.col(C.BROKER_ID).alias(C.REPLICA_ID), *C.LINE, C.KIND, C.LEADER_EPOCH,
        F.unix_micros(C.EVENT_TIME).alias("us"), F.lit(True).alias("is_cut"), F.lit(0).cast("bigint").alias("leo"),
    )  # fmt: skip
    return told.withColumn(C.LEADER_EPOCH, epoch).where(is_of(StatementKind.LOG_DELETED)).drop(C.KIND)


def _is_later(epoch: Column) -> Column:
    return (F.col(C.TOPIC_ID) != "") | (epoch < F.col(C.LEADER_EPOCH))


def _leaders(led: DataFrame, took_part: DataFrame, silent: DataFrame) -> DataFrame:
    """One row per leader that began with less than its log had had below a leader's HW.

    It had held all below the HW of the leader before it, if that had it in its ISR; what it had asked for, in any case.
    One from outside the ISR may never have had the rest: an unclean election alone cuts nothing of it. What happened
    under a leader that left no file nobody knows.
    """
    in_order = Window.partitionBy(*C.PARTITION_KEY).orderBy(C.LEADER_EPOCH, NUMBER)
    reached = F.struct(F.col(C.HIGH_WATERMARK).alias("hw"), F.col(C.LEADER_EPOCH).alias("epoch"))
    asked = F.struct(F.col(HELD_UP_TO).alias("leo"), F.col(C.LEADER_EPOCH).alias("epoch"))
    own = took_part.groupBy(*C.PARTITION_KEY, F.col(C.REPLICA_ID).alias(C.LEADER_ID)).agg(
        F.collect_list(asked).alias("asked")
    )
    unheard = silent.groupBy(*C.PARTITION_KEY).agg(F.collect_list(f"silent.{C.LEADER_EPOCH}").alias("unheard"))
    known = led.withColumns(
        {
            "highest": F.max(reached).over(in_order.rowsBetween(FIRST, -1)),
            "before": F.lag(reached).over(in_order),
            "isr_before": F.lag(END_ISR).over(in_order),
        }
    )
    known = known.join(own, C.on_partition(C.LEADER_ID), "left").join(unheard, C.on_partition(), "left")
    earlier = F.filter("asked", lambda it: it["epoch"] < F.col(C.LEADER_EPOCH))
    longest = F.array_max(F.transform(earlier, lambda it: F.struct(it["leo"].alias("hw"), it["epoch"])))
    had_asked = F.struct(F.least(longest["hw"], "highest.hw").alias("hw"), longest["epoch"])
    is_member = F.array_contains("isr_before", F.col(C.LEADER_ID)) & (F.col("before.hw") > F.col(START_LEO))
    had = F.when(is_member, F.col("before")).when(longest["hw"] > F.col(START_LEO), had_asked)
    why = F.when(is_member, text("it was in the ISR of a leader with HW {}", "before.hw"))
    is_heard = ~F.exists("unheard", lambda it: (it < F.col(C.LEADER_EPOCH)) & (it > F.col("before.epoch")))
    return known.withColumn(_HAD, had).where(
        (F.col(START_LEO) < F.col(f"{_HAD}.hw")) & _is_later(F.col(f"{_HAD}.epoch")) & F.coalesce(is_heard, F.lit(True))
    ).select(
        *C.PARTITION_KEY, F.col(C.LEADER_ID).alias(C.REPLICA_ID), C.LEADER_EPOCH, C.CAPTURE_ID,
        F.col(C.STARTED_AT).alias(C.EVENT_TIME), F.col(START_LEO).alias("leo"), _HAD, F.lit(True).alias("as_leader"),
        F.coalesce(why, text("it had held records up to {} in epoch {}", longest["hw"], longest["epoch"])).alias("why"),
    )  # fmt: skip


def _uncut(began: DataFrame, marked: DataFrame, truncations: DataFrame) -> DataFrame:
    """Return the leaders whose log nothing tells was cut to where it began: no line, and no fetch.

    What was cut in an epoch before the one in which the log was known to be longer had grown again.
    """
    cut = (F.col(C.EVENT_TIME).alias("cut_at"), F.col(C.LEADER_EPOCH).alias("cut_in"))
    stated = marked.where("is_cut").select(*C.REPLICA_KEY, F.col("leo").alias("cut_to"), *cut)
    rebuilt = truncations.where(F.col(C.METHOD) != Method.RESTART.value).select(
        *C.REPLICA_KEY, F.col(C.TO_OFFSET).alias("cut_to"), *cut
    )
    is_since = F.coalesce(F.col("cut_in") >= F.col(f"{_HAD}.epoch"), F.lit(True))
    explained = began.join(stated.unionByName(rebuilt), C.on_partition(C.REPLICA_ID)).where(
        (F.col("cut_to") <= F.col("leo")) & (F.col("cut_at") <= F.col(C.EVENT_TIME)) & is_since
    )
    key = C.on_partition(C.REPLICA_ID, C.LEADER_EPOCH)
    return began.join(explained.select(*key), key, "left_anti")


def _findings(found: DataFrame) -> DataFrame:
    """One finding per replica and leader epoch that it began with a shorter log."""
    rows = found.withColumn(C.ENDED_AT, F.lit(None))
    evidence = text(
        "replica {} began at LEO {} in epoch {}, and {}; no line tells of a truncation in between",
        C.REPLICA_ID, "leo", C.LEADER_EPOCH, "why",
    )  # fmt: skip
    severity = F.when(F.col("as_leader"), Severity.CRITICAL.value).otherwise(Severity.WARNING.value)
    offsets = (F.col("leo"), F.col("hw"))
    kind = IncidentKind.SILENT_TRUNCATION
    return finding(rows, kind, severity, evidence, replica_id=F.col(C.REPLICA_ID), offsets=offsets)
