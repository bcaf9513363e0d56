"""Settings, starting fetchers, places and times of broker logs; and lines that are cut, garbled or impossible."""

from __future__ import annotations

from datetime import datetime

import pytest
from pyspark.sql import SparkSession

from schemas.kinds import FileKind
from sources import broker_log
from sources.server_log import setting_rows, statement_rows
from sources.state_change_log import leader_change_rows
from tests.log_lines import by_line, lines_of, stamped, verdicts

pytestmark = pytest.mark.spark

STATE, PARTITION = "state.change.logger", "kafka.cluster.Partition"
FOLLOWER = (
    "[Broker id=5] Follower t-0 starts at leader epoch 7 from offset 11 with partition epoch 9 and high watermark 10. "
    "Current leader is 3. Previous leader epoch was 6."
)
