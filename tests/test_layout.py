"""Laws of this tree, three lines each: what a reader may rely on without reading every file."""

from __future__ import annotations

import ast
import importlib.util
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("jobs", "replay", "schemas", "expectations", "sources", "cluster")
CODE = sorted(path for folder in (*PACKAGES, "tests", "bench", "pages") for path in (ROOT / folder).rglob("*.py"))

REACHES_OUT = (
    r"SparkSession|\.collect\(|\.count\(\)|\.toPandas|\budf\b|\bpandas_udf\b|\.rdd\b|\.write\b|\bpandas\b|applyIn"
)


def sources_of(package: str) -> list[Path]:
    """The modules of a package."""
    return sorted((ROOT / package).rglob("*.py"))


def named(path: Path) -> str:
    """A file's name in a failure."""
    return path.relative_to(ROOT).as_posix()


def strings(path: Path) -> set[str]:
    """Every string literal of a module."""
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    return {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}


TAKE_SQL = {"where", "filter", "expr", "selectExpr", "sql", "col"}
"""Methods that read a text as SQL, a name of a struct's field included."""


def words_of_sql(code: str) -> set[str]:
    """Every word of the string literals that a piece of code gives to Spark as SQL."""
    calls = (node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Call))
    given = [call for call in calls if isinstance(call.func, ast.Attribute) and call.func.attr in TAKE_SQL]
    parts = (part for call in given for argument in call.args for part in ast.walk(argument))
    texts = (part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str))
    return {word for text in texts for word in re.findall(r"\w+", text)}


def length_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """A function's lines, its docstring left out."""
    lines = ast.get_docstring(function, clean=False)
    return (function.end_lineno or function.lineno) - function.lineno + 1 - (lines.count("\n") + 1 if lines else 0)


@pytest.mark.parametrize("path", sources_of("replay"), ids=named)
def test_the_engine_reaches_nothing_outside(path: Path) -> None:
    """`replay/` is DataFrame to DataFrame: no session, no action, no UDF, no write, no pandas."""
    assert re.findall(REACHES_OUT, path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("path", [*sources_of("replay"), *sources_of("sources")], ids=named)
def test_what_gives_rows_says_what_a_row_is(path: Path) -> None:
    """The grain is the contract: also of what only its own module calls."""
    functions = [n for n in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(n, ast.FunctionDef)]
    giving = [function for function in functions if function.returns and ast.unparse(function.returns) == "DataFrame"]

    assert [function.name for function in giving if not ast.get_docstring(function)] == []


FLOORS = ("events", "states", "order", "clocks", "going_on", "stretches", "findings", "what_if", "views", "agreement")
"""The folders of `replay/`: each knows those before it, and what lies beside them only the first three."""


@pytest.mark.parametrize("path", sources_of("replay"), ids=named)
def test_the_engine_is_built_from_the_ground_up(path: Path) -> None:
    """A folder of it needs none that comes later, so that a reader does not either."""
    folder = path.relative_to(ROOT / "replay").parent.name
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    modules = [node.module.split(".") for node in nodes if isinstance(node, ast.ImportFrom) and node.module]
    needed = {module[1] for module in modules if module[0] == "replay" and len(module) == 3}

    assert needed <= {*(FLOORS[: FLOORS.index(folder) + 1] if folder else FLOORS[:3])}


def test_every_package_is_shipped() -> None:
    """A folder that setuptools is not told of is missing on whoever installs it."""
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]["packages"]
    there = [init.parent for package in PACKAGES for init in (ROOT / package).rglob("__init__.py")]

    assert sorted(listed) == sorted(named(folder).replace("/", ".") for folder in there)


VEGA_WORDS = {"text", "offset"}
"""Columns' names that are also parameters of a chart."""


def columns_of_tables() -> set[str]:
    """Every column's name; a table's own name, such as `settings`, is a word of its own."""
    from schemas.tables import ALL_TABLES

    return {str(column) for table in ALL_TABLES for column in table.columns} - {table.name for table in ALL_TABLES}


@pytest.mark.parametrize("path", sources_of("jobs"), ids=named)
def test_jobs_quote_no_column(path: Path) -> None:
    """A column is named through `schemas.columns`, in SQL text too."""
    columns = columns_of_tables()

    assert strings(path) & (columns - VEGA_WORDS) == set()
    assert words_of_sql(path.read_text(encoding="utf-8")) & columns == set()


def test_a_column_is_seen_within_sql() -> None:
    """Between other words, in a condition or an expression, whether or not it is made of parts."""
    text = """rows.where("high_watermark >= 0").withColumn("x", F.expr(f"{y} + last_offset")); raise E("of a topic")"""

    assert words_of_sql(text) & columns_of_tables() == {"high_watermark", "last_offset"}


@pytest.mark.parametrize("path", CODE, ids=named)
def test_files_and_functions_are_small(path: Path) -> None:
    """At most 250 lines a file and 40 a function: what does not fit on a screen is two things."""
    text = path.read_text(encoding="utf-8")
    functions = (n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef))
    long = {f.name: length for f in functions if (length := length_of(f)) > 40}

    assert text.count("\n") <= 250
    assert long == {}


@pytest.mark.parametrize("package", PACKAGES)
def test_packages_are_those_of_this_tree(package: str) -> None:
    """The names are generic, and an index has distributions of the same; none may stand in front of ours."""
    spec = importlib.util.find_spec(package)

    assert spec is not None
    assert spec.origin == str(ROOT / package / "__init__.py")


def test_no_job_is_named_like_a_package() -> None:
    """`spark-submit jobs/x.py` puts `jobs/` first on the path: `jobs/replay.py` would hide `replay/`."""
    jobs = {path.stem for path in sources_of("jobs")} - {"__init__"}

    assert jobs & {*PACKAGES, *sys.stdlib_module_names, *packages_distributions()} == set()


@pytest.mark.parametrize("path", sorted(ROOT.glob("requirements*")), ids=named)
def test_requirements_name_no_host(path: Path) -> None:
    """Where packages come from is the machine's business: no index, no link, no URL."""
    assert re.findall(r"https?://|--(extra-)?index|--find-links|--trusted-host", path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("path", sorted(ROOT.glob("requirements*.txt")), ids=named)
def test_requirements_are_exact(path: Path) -> None:
    """Each line pins one version, those of dependencies' dependencies included."""
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]

    assert [line for line in lines if not re.fullmatch(r"[\w.-]+==[\w.]+", line)] == []


@pytest.mark.parametrize("path", sorted((ROOT / "conf").glob("*.conf")), ids=named)
def test_settings_have_reasons(path: Path) -> None:
    """A block of settings begins with the comment that says why."""
    blocks = path.read_text(encoding="utf-8").strip().split("\n\n")[1:]

    assert [block for block in blocks if not block.startswith("#")] == []
