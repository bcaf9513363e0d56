"""What must hold, as one table: every rule the check judges, each true of real Kafka within the scope it names.

A rule is three SQL booleans over one row of its subject (`expectations.subject`):

- `scope`: the rows it speaks of. Only a row for which this is certainly false escapes.
- `known`: whether the capture tells enough to judge the row. A row that is certainly not known is *unknown*: neither a
  pass nor a violation. A value that is only `bounded` can break no rule.
- `holds`: what must be true. NULL is not true: a rule fails closed, where plain SQL would let the row slip away.

Rendered from here: the Great Expectations suites (`expectations.suites`) and docs/rules.md (`pages.rules`).
Sources: lines of Kafka 4.1.0, by the short names of `replay.rules`;
KafkaReplication.tla and Kip320.tla of hachikuji/kafka-specification; kip_966_properties.tla of Vanlightly/kafka-tlaplus.
"""

from __future__ import annotations

from expectations.capture_rules import CAPTURE_RULES
from expectations.election_rules import ELECTION_RULES
from expectations.finding_rules import FINDING_RULES
from expectations.record_rules import RECORD_RULES
from expectations.stated_rules import STATED_RULES
from expectations.timeline_rules import TIMELINE_RULES

INVARIANTS = (
    *TIMELINE_RULES, *ELECTION_RULES, *STATED_RULES, *RECORD_RULES, *FINDING_RULES, *CAPTURE_RULES,
)  # fmt: skip
"""The rules, in the order in which they are reported."""
