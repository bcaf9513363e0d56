"""docs/rules.md: what a check judges."""

from __future__ import annotations

from expectations.invariant import Invariant
from expectations.invariants import INVARIANTS

HEAD = """\
# The rules

<!-- Made by `make docs` from the `*_rules.py` of expectations: edit those. -->

`tidegauge check` judges every rule on every row of its subject, keeps the verdict in `check_results` and the rows
that break it in `check_violations`. A verdict is **valid**, **invalid**, **unknown** (the capture tells too little:
neither a pass nor a violation) or **error** (it could not be judged). Exit code: 2 if a critical rule is broken, else 3
if one could not be judged or all are unknown, else 1 if a warning is broken and `--fail-on warn` is given, else 0.

By default no violation is tolerated. `--config FILE` gives a rule another severity, a number or a share of violations
to tolerate, also by topic, and sets known violations aside until a date: see `conf/check-example.yaml`. Each section
ends with the SQL of the rows that break the rule, for `tidegauge sql`.

Sources are of Kafka 4.1.0, with line numbers: P = `Partition.scala`, RM = `ReplicaManager.scala`, RFT =
`ReplicaFetcherThread.scala`, R = `Replica.java`, UL = `UnifiedLog.java`, LEFC = `LeaderEpochFileCache.java`.
"""


def rules_page() -> str:
    """The page: one section per rule, in the order of the table."""
    return HEAD + "".join(map(_section, INVARIANTS))


def _section(rule: Invariant) -> str:
    """A rule as a section: why, the SQL, and what to do."""
    lines = [f"- **Subject**: {_subject(rule)}", f"- **Severity**: {rule.severity.value}"]
    if rule.since:
        lines.append(f"- **Since**: Kafka {rule.since}; unknown before")
    if rule.scope != "true":
        lines.append(f"- **Speaks of rows where** `{rule.scope}`")
    if rule.known != "true":
        lines.append(f"- **Unknown unless** `{rule.known}`")
    lines += [
        f"- **Holds if** `{rule.holds}`",
        f"- **Source**: {rule.source}",
        f"- **If it is broken**: {rule.what_to_do}",
    ]
    words = "\n".join(lines)
    return f"\n## {rule.name}\n\n{rule.why}\n\n{words}\n\n```sql\n{rule.sql}\n```\n"


def _subject(rule: Invariant) -> str:
    """The table it stands for, its view, and the first sentence of what a row of that is."""
    grain = rule.subject.comment
    return f"`{rule.subject.table.name}`, in SQL `{rule.subject.view}`: {grain[0].lower()}{grain[1:]}"
