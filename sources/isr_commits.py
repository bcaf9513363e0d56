"""Changes of the ISR up to 2.3, whose commit no line tells at INFO: the line of what is proposed stands for it.

`Partition.updateIsr` wrote the ISR to ZooKeeper right after "Shrinking ISR" or "Expanding ISR", in the same lock of the
partition, and "ISR updated" was TRACE (INFO since 2.4). What ZooKeeper refused the next line tells: "… skip updating
ISR".
"""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from schemas import columns as C
from schemas.kinds import ChangeKind
from sources.cluster_release import UP_TO_2_3, is_of_release

_IS_AT_ONCE = "is_at_once"
_PROPOSALS = [kind.value for kind in (ChangeKind.ISR_SHRINK_PROPOSED, ChangeKind.ISR_EXPAND_PROPOSED)]


def with_isr_commits(changes: DataFrame, settings: DataFrame) -> DataFrame:
    """Rows of `leader_changes`, those of proposals as `isr_updated` where the latest version in `settings` is so old.

    A proposal that was refused stays one.
    """
    kind = F.col(C.CHANGE_KIND)
    is_proposed = kind.isin(_PROPOSALS)
    known = changes.withColumn(_IS_AT_ONCE, is_of_release(settings, UP_TO_2_3))
    is_of_isr = F.col(_IS_AT_ONCE) & (is_proposed | (kind == ChangeKind.ISR_CHANGE_REJECTED.value))
    in_order = Window.partitionBy(C.TOPIC, C.PARTITION, C.BROKER_ID, is_of_isr).orderBy(
        C.EVENT_TIME, C.SOURCE_FILE, C.SOURCE_LINE
    )
    is_refused = F.lead(C.CHANGE_KIND).over(in_order) == ChangeKind.ISR_CHANGE_REJECTED.value
    commits = is_of_isr & is_proposed & ~F.coalesce(is_refused, F.lit(False))
    found = F.when(commits, ChangeKind.ISR_UPDATED.value).otherwise(kind)
    return known.withColumn(C.CHANGE_KIND, found).select(*changes.columns)
