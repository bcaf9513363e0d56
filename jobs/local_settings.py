"""Spark's settings for a local session: from conf/, by how much will be read, with a metastore if asked."""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import urlsplit

from pyarrow import parquet

from jobs.errors import CouldNotRunError
from jobs.keeping import HOW
from schemas.tables import FETCH_EVENTS, PRODUCE_EVENTS

CONF = "TIDEGAUGE_SPARK_CONF"
"""Environment variable that names another properties file for a local session, e.g. one with more memory."""

LOCAL_CONF = Path(__file__).resolve().parent.parent / "conf" / "spark-local.conf"
SMALL_CONF = LOCAL_CONF.with_name("spark-small.conf")
SMALL_REQUESTS = 20_000
"""With as many in all a session is small: interpreted, a pipeline of 14,000 takes nine tenths of the time that it
takes compiled, a replay of 100,000 1.7 times as long, one of a million is not done in ten minutes (docs/adr/0006)."""
SOME_REQUESTS = 300_000
"""With as many, stages that are kept are cut off from their plans (`jobs.keeping`): they fit into memory, and to
describe a plan again at each step is a tenth of the time."""
METASTORE = "spark.hadoop.javax.jdo.option.ConnectionURL"
"""Setting that says where the catalog's databases and tables are kept."""
_SEPARATOR = re.compile(r"\s*[=:]\s*|\s+")
JAVA_OPTIONS = "spark.driver.extraJavaOptions"


def local_settings(warehouse: str | None, landing: int, has_catalog: bool) -> dict[str, str]:
    """Settings of a local session, from conf/ or the file that TIDEGAUGE_SPARK_CONF names.

    Those for few requests, or some, where as many are `landing`, about, and have landed.
    """
    path = Path(os.environ.get(CONF) or LOCAL_CONF)
    if not path.is_file():
        message = f"no Spark settings at {path}: run from a checkout, name a file in {CONF}, or use spark-submit"
        raise CouldNotRunError(message)
    stored = _stored_requests(Path(warehouse)) if warehouse and path == LOCAL_CONF else None
    # Of what nobody counts there may be many.
    requests = SOME_REQUESTS + 1 if stored is None else stored + landing
    settings = {
        "spark.master": "local[*]",
        **({"spark.sql.warehouse.dir": warehouse} if warehouse else {}),
        **read_properties(path),
        **({HOW: "checkpoint"} if requests <= SOME_REQUESTS else {}),
        **(read_properties(SMALL_CONF) if requests <= SMALL_REQUESTS else {}),
    }
    return _with_metastore(settings, warehouse) if has_catalog and METASTORE not in settings else settings


def read_properties(path: Path) -> dict[str, str]:
    """The settings of a Spark properties file, as Java reads one: `key value`, `key=value` or `key: value`, `#` or `!`.

    A key that has no value is refused: Spark would start without what somebody meant to set.
    """
    settings = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not (text := line.strip()) or text[0] in "#!":
            continue
        key, *value = _SEPARATOR.split(text, maxsplit=1)
        if not (key and any(value)):
            message = f"{path}, line {number}: {text!r} is no setting: it takes a key and a value"
            raise CouldNotRunError(message)
        settings[key] = value[0]
    return settings


def _with_metastore(settings: dict[str, str], warehouse: str | None) -> dict[str, str]:
    """The settings with a metastore in files below the warehouse, for a machine that has no other."""
    if warehouse is None or urlsplit(warehouse).scheme:
        message = f"--database needs a metastore: name a local --warehouse DIR for one in files, or set {METASTORE}"
        raise CouldNotRunError(message)
    folder = Path(warehouse).absolute()
    return {
        **settings,
        METASTORE: f"jdbc:derby:;databaseName={folder / 'metastore_db'};create=true",
        JAVA_OPTIONS: f"{settings.get(JAVA_OPTIONS, '')} {_as_one_word(f'-Dderby.system.home={folder}')}".strip(),
    }


def _as_one_word(option: str) -> str:
    """An option as Spark's launcher takes it from a text with several: it splits them at blanks outside of quotes."""
    escaped = re.sub(r'(["\\])', r"\\\1", option)
    return f'"{escaped}"' if re.search(r"[\s\"'\\]", option) else option


def _stored_requests(warehouse: Path) -> int | None:
    """Requests that have landed below a warehouse of this machine, of many no more than matter; None elsewhere.

    By the footers of the files and not their size: of requests that repeat themselves a million are a few megabytes.
    """
    if not warehouse.is_dir():
        return None
    requests = 0
    for table in (PRODUCE_EVENTS, FETCH_EVENTS):
        for file in (warehouse / table.name).glob("*.parquet"):
            try:
                rows: int = parquet.read_metadata(file).num_rows
            except (OSError, ValueError):  # Delta may say what is wrong with it
                continue
            requests += rows
            if requests > SOME_REQUESTS:
                return requests
    return requests
