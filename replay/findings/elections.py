"""Elections: who was elected to which epoch, and how."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from replay.findings.finding import finding, members, text
from replay.findings.silent_epochs import silent_epochs
from replay.findings.spans import END_ISR, NUMBER, START_HW, START_HW_HIGH, START_ISR, START_LEO
from replay.findings.unclean import IS_ELECTED_UNCLEANLY, IS_RECOVERING, holds, said_unclean, uncleanly_elected
from replay.profile import Profile
from replay.windows import FIRST
from schemas import columns as C
from schemas import tables as T
from schemas.kinds import IncidentKind, Severity

IS_UNCLEAN = str(C.IS_UNCLEAN)
"""boolean: elected from outside the ISR; NULL where nothing tells. Here also where it is inferred."""
_IS_STATED = "is_said_unclean"


def elections(landed: Mapping[str, DataFrame], led: DataFrame) -> DataFrame:
    """One row per leader epoch after the partition's first, with `is_unclean`; `led` is `spans.spans`.

    Metadata says it (`unclean`), of the first one too, and of one that no leader's line tells of. Where nothing does
    (ZooKeeper), a leader that was in no ISR its predecessor knew of, and begins as the ISR's only member, was elected
    uncleanly (`Election.leaderForOffline`: the ISR becomes the leader alone). If a leader in between gave the capture
    no file, the ISR that it left is not known.
    """
    said = said_unclean(landed[T.METADATA_CHANGES.name], landed[T.LEADER_CHANGES.name])
    in_order = Window.partitionBy(*C.PARTITION_KEY).orderBy(C.LEADER_EPOCH, NUMBER)
    silent = silent_epochs(landed, led).groupBy(*C.PARTITION_KEY)
    silents = silent.agg(F.collect_list(f"silent.{C.LEADER_EPOCH}").alias("silents"))
    told = led.join(said, C.on_partition(C.LEADER_EPOCH), "left").join(silents, C.on_partition(), "left")
    known = told.withColumns(
        {
            "isr_before": F.lag(END_ISR).over(in_order),
            "leader_before": F.lag(C.LEADER_ID).over(in_order),
            "epoch_before": F.lag(C.LEADER_EPOCH).over(in_order),
            "is_recovering_anew": ~F.lag(IS_RECOVERING).over(in_order)
            & (F.lag(C.LEADER_EPOCH).over(in_order) == F.col(C.LEADER_EPOCH) - 1),
        }
    )
    alone = F.col(START_ISR) == F.array(C.LEADER_ID)
    between = F.exists("silents", lambda it: (it > F.col("epoch_before")) & (it < F.col(C.LEADER_EPOCH)))
    is_heard = ~F.coalesce(between, F.lit(False))
    outside = F.when(is_heard, ~F.array_contains("isr_before", F.col(C.LEADER_ID)) & alone)
    # What was said within the epoch alone may be of an earlier election, but for one right after an epoch without it.
    may_be = F.coalesce("is_recovering_anew", F.lit(False)) | ~holds("isr_before", str(C.LEADER_ID))
    # NULL AND FALSE is FALSE: of what nothing was said nothing is denied.
    by_epoch = F.when(F.col(IS_RECOVERING).isNotNull(), F.col(IS_RECOVERING) & may_be)
    judged = (
        known.where(F.col(NUMBER) == 1)
        .withColumn(_IS_STATED, F.coalesce(IS_ELECTED_UNCLEANLY, by_epoch))
        .withColumn(IS_UNCLEAN, F.coalesce(_IS_STATED, outside))
        .where(F.col("leader_before").isNotNull() | F.coalesce(IS_ELECTED_UNCLEANLY, F.lit(False)))
    )
    return judged.unionByName(_unled(landed, led), allowMissingColumns=True)


def _unled(landed: Mapping[str, DataFrame], led: DataFrame) -> DataFrame:
    """One row per leader epoch that metadata says an unclean election began, and no leader's line tells of."""
    said = uncleanly_elected(landed[T.METADATA_CHANGES.name])
    return said.join(led.select(*C.EPOCH_KEY), C.on_partition(C.LEADER_EPOCH), "left_anti").withColumns(
        {_IS_STATED: F.lit(True), IS_UNCLEAN: F.lit(True)}
    )


def unclean_elections(elected: DataFrame, profile: Profile) -> DataFrame:
    """One row per unclean election; it need not have lost anything.

    An inferred one is a warning where the leader may have been eligible though it was in no ISR, which metadata alone
    tells (`Profile.elects_eligible`): such a leader has all that was committed.
    """
    may_be_eligible = F.lit(profile.elects_eligible)
    inferred = F.when(may_be_eligible, ", and it may have been an eligible one (KIP-966)").otherwise("")
    how = F.when(F.col(_IS_STATED), "metadata says so").otherwise(
        F.concat(F.lit("inferred: no line says how it was elected"), inferred)
    )
    is_sure = F.coalesce(F.col(_IS_STATED), F.lit(False)) | ~may_be_eligible
    severity = F.when(is_sure, Severity.CRITICAL.value).otherwise(Severity.WARNING.value)
    joining = F.when(holds("isr_before", str(C.LEADER_ID)), " with it, for it was to join").otherwise("")
    known = text(", which leader {} knew as {}{}", "leader_before", members("isr_before"), joining)
    began = text("it began at {}, HW {}", START_LEO, START_HW)
    evidence = text(
        "leader {} of epoch {} was elected from outside the ISR{}; {}; {}",
        C.LEADER_ID, C.LEADER_EPOCH, F.when(F.col("leader_before").isNotNull(), known).otherwise(""),
        F.when(F.col(START_HW).isNotNull(), began).otherwise("no line tells what it began with"), how,
    )  # fmt: skip
    rows = elected.where(IS_UNCLEAN).withColumn(C.ENDED_AT, F.lit(None))
    return finding(rows, IncidentKind.UNCLEAN_ELECTION, severity, evidence, replica_id=F.col(C.LEADER_ID))


def regressions(led: DataFrame) -> DataFrame:
    """One row per leadership that began with a lower HW than an earlier one had reached.

    After a clean election this is normal: a follower learns of the HW one fetch later (BecomeLeader of
    `KafkaReplication.tla`: "typically behind the 'true' high watermark"). It matters where the new leader's log is
    shorter than that HW.
    """
    in_order = Window.partitionBy(*C.PARTITION_KEY).orderBy(C.LEADER_EPOCH, NUMBER)
    known = led.withColumns(
        {
            "reached": F.max(C.HIGH_WATERMARK).over(in_order.rowsBetween(FIRST, -1)),
            # It is made good when a leadership has reached it again: later ones are not compared with time.
            C.ENDED_AT: F.lit(None),
        }
    ).where((F.col(START_HW) >= 0) & (F.col(START_HW_HIGH) < F.col("reached")))
    is_short = F.col(START_LEO) < F.col("reached")
    severity = F.when(is_short, Severity.WARNING.value).otherwise(Severity.INFO.value)
    evidence = F.concat(
        text("leader {} of epoch {} began at HW {}, a leader before had reached {}; its LEO was {}",
             C.LEADER_ID, C.LEADER_EPOCH, START_HW, "reached", START_LEO),
        F.when(is_short, "; the records between are not in its log")
        .when(is_short.isNull(), "; no line tells whether it held the records between")
        .otherwise("; it held the records between"),
    )  # fmt: skip
    offsets = (F.col(START_HW), F.col("reached"))
    kind = IncidentKind.HIGH_WATERMARK_REGRESSED
    return finding(known, kind, severity, evidence, replica_id=F.col(C.LEADER_ID), offsets=offsets)
