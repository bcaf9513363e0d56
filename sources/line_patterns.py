"""What brokers write of offsets, leaders and ISRs, of every version and log: the wordings in the order they are tried.

The first wording (sources/wording.py) of a line that matches counts. Its `cue` is what every such line contains: a line
with the cue that no wording matches was cut, or has a wording not known here, and is rejected. Of the logger the last
part of the name counts, as packages moved.
"""

from __future__ import annotations

from sources.line_patterns_of_0_11 import OLDEST_WORDINGS
from sources.line_patterns_of_server_log import SERVER_WORDINGS
from sources.line_patterns_of_state_change_log import STATE_CHANGE_WORDINGS

WORDINGS = (*STATE_CHANGE_WORDINGS, *SERVER_WORDINGS, *OLDEST_WORDINGS)

SAME_LOGGER = {
    "Log": "UnifiedLog",
    "ZkConfigManager": "DynamicConfigManager",
    "BrokerMetadataPublisher": "DynamicConfigPublisher",
}
"""Loggers that were renamed, to the name the wordings have."""
