"""`tidegauge sql`: ad-hoc SQL over a warehouse, all its tables registered by name."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Sequence

import click
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from jobs.command import debug_option, options, run
from jobs.errors import CouldNotRunError, ExitCode, reason
from jobs.opening import open_warehouse, warehouse_option
from jobs.places import Home
from jobs.progress import print_table, say
from jobs.run_config import Configured
from jobs.sql_views import register_views

with contextlib.suppress(ImportError):  # line editing and history, where Python was built with it
    import readline  # noqa: F401

HELP = "SQL ends with ;   SHOW TABLES;   DESCRIBE incidents;   quit"


def print_result(spark: SparkSession, statement: str, limit: int) -> None:
    """Run one statement and print its rows, times in UTC, at most `limit` of them."""
    result = spark.sql(statement)
    # By position: a result may have two columns of one name.
    texts = result.toDF(*[f"c{i}" for i in range(len(result.columns))])
    shown = texts.select([F.col(name).cast("string") for name in texts.columns]).limit(limit + 1).collect()
    print_table(result.columns, [["NULL" if v is None else v for v in row] for row in shown[:limit]])
    if len(shown) > limit:
        say(f"first {limit} rows; --limit shows more")


def statements() -> Iterator[str]:
    """The statements a person types, each ended by ; at a line's end or by the end of input, until quit."""
    typed: list[str] = []
    first, further = ("tidegauge> ", "         > ") if sys.stdin.isatty() else ("", "")  # a script's results alone
    while True:
        try:
            line = input(further if typed else first)
        except EOFError:  # of a script that was piped in the last line may end without one
            if typed:
                yield "\n".join(typed).strip()
            return
        if not typed and not line.strip().rstrip(";"):
            continue
        if not typed and line.strip().rstrip(";").lower() in {"quit", "exit"}:
            return
        typed.append(line)
        if line.rstrip().endswith(";"):
            yield "\n".join(typed).strip().rstrip(";")
            typed = []


def prompt(spark: SparkSession, limit: int) -> int:
    """Answer statements until the person leaves; a wrong one is told and the next is asked for.

    The exit code: who was there has seen what failed, who piped a script in has not.
    """
    say(HELP)
    failed = 0
    for statement in statements():
        try:
            print_result(spark, statement, limit)
        except PySparkException as error:
            say(reason(error))
            failed += 1
    return ExitCode.COULD_NOT_RUN if failed and not sys.stdin.isatty() else ExitCode.OK


@click.command(
    "sql",
    cls=Configured,
    epilog="Example: tidegauge sql --warehouse /tmp/lake -e 'SELECT kind, count(*) FROM incidents GROUP BY kind'",
)
@options(warehouse_option, debug_option)
@click.option("-e", "statement", metavar="SQL", help="Run this and end, instead of asking for statements.")
@click.option("--limit", default=100, show_default=True, type=click.IntRange(1), help="Rows of a result to print.")
def sql(warehouse: Home, statement: str | None, limit: int) -> int:
    """Ask a warehouse in SQL; each table is there under its own name.

    A script may be piped in; all its statements are tried, and if one fails the exit code is 3.
    """
    target = open_warehouse("sql", warehouse)
    spark, tables = target.spark, register_views(target)
    if not tables:
        message = f"{warehouse} has no tables of tidegauge"
        raise CouldNotRunError(message)
    if statement is not None:
        print_result(spark, statement.strip().rstrip(";"), limit)
        return ExitCode.OK
    print_table(("table", "a row is"), [(table.name, table.comment) for table in tables])
    return prompt(spark, limit)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the job and return its exit code."""
    return run(sql, argv)


if __name__ == "__main__":
    raise SystemExit(main())
