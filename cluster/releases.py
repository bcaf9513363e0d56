"""Kafka's releases, from the user's cache folder or, once a version, from Maven Central.

Their jars are fetched through the Ivy that Spark ships.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from cluster.distribution import Distribution, number_of
from cluster.errors import ClusterError

DEFAULT_VERSION = "4.1.0"

OLDEST = (2, 0)
"""The oldest that was tried. Up to 2.2 no setting can be changed alone (KIP-339), as some scenarios do."""

SCALA_2_13_SINCE = (2, 4)
"""The first built for Scala 2.13."""

ZOOKEEPER = """\
<dependency org="org.apache.zookeeper" name="zookeeper" rev="3.5.7" conf="default->default">
<exclude org="log4j"/><exclude org="org.slf4j"/></dependency>
"""
"""That of 2.4.1, for those before: their own, 3.4, finds no server with Java 14 or newer (ZOOKEEPER-3779)."""

LOG4J = "2.24.3"
DEPENDENCIES = """\
<ivy-module version="2.0"><info organisation="tidegauge" module="kafka"/><dependencies>
<dependency org="org.apache.kafka" name="kafka_{scala}" rev="{version}" conf="default->default"/>
<dependency org="org.apache.kafka" name="kafka-tools" rev="{version}" conf="default->default" transitive="false"/>
{zookeeper}<dependency org="org.apache.logging.log4j" name="log4j-core" rev="{log4j}" conf="default->default"/>
<dependency org="org.apache.logging.log4j" name="log4j-slf4j-impl" rev="{log4j}" conf="default->default"/>
<dependency org="org.apache.logging.log4j" name="log4j-1.2-api" rev="{log4j}" conf="default->default"/>
</dependencies></ivy-module>
"""
"""kafka-tools alone, for its own classes: what it depends on is Kafka Connect. log4j-1.2-api for 2.x and 3.x, which
ask for Log4j 1: so every version logs through Log4j 2, and one logging configuration serves all."""


def resolve(version: str) -> Distribution:
    """Kafka of this version, from the cache or else from Maven Central."""
    if re.fullmatch(r"\d+\.\d+\.\d+", version) is None or number_of(version) < OLDEST:
        raise ClusterError(f"{version!r} is no Kafka version for this: three numbers, 2.0.0 or newer, such as 4.1.0.")
    java = find_java()
    jars = cache_folder() / f"kafka-{version}"
    if not jars.is_dir():
        _retrieve(version, jars, java)
    return Distribution(version, jars, java)


def find_java() -> str:
    """The Java that JAVA_HOME or the PATH names."""
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home) / "bin" / "java") if home else "java"
    found = shutil.which(java)
    if found is None:
        raise ClusterError(f"no Java: {java} is not there. Kafka needs Java 17; JAVA_HOME says where it is.")
    return found


def cache_folder() -> Path:
    """Where fetched jars stay."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tidegauge"


def _retrieve(version: str, jars: Path, java: str) -> None:
    """Fetch into a folder beside and rename it: a fetch cut short leaves no half of a Kafka."""
    jars.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=jars.parent) as beside:
        wanted, fetched = Path(beside) / "ivy.xml", Path(beside) / "jars"
        wanted.write_text(_dependencies(version), encoding="utf-8")
        command = [java, "-jar", _ivy(), "-warn", "-cache", str(jars.parent / "ivy"), "-ivy", str(wanted)]
        command += ["-confs", "default", "-types", "jar", "bundle"]
        command += ["-retrieve", f"{fetched}/[artifact]-[revision](-[classifier]).[ext]"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - Java, and our own words
        if done.returncode != 0 or not any(fetched.glob(f"kafka_2.1?-{version}.jar")):
            raise ClusterError(f"Kafka {version} could not be fetched from Maven Central: {_why(done)}")
        fetched.rename(jars)


def _dependencies(version: str) -> str:
    """What to fetch, as Ivy is told."""
    is_old = number_of(version) < SCALA_2_13_SINCE
    return DEPENDENCIES.format(
        version=version, scala="2.12" if is_old else "2.13", zookeeper=ZOOKEEPER if is_old else "", log4j=LOG4J
    )


def _ivy() -> str:
    spec = importlib.util.find_spec("pyspark")
    folder = Path(spec.origin).parent / "jars" if spec and spec.origin else Path()
    found = sorted(folder.glob("ivy-*.jar"))
    if not found:
        raise ClusterError("PySpark is not here with its jars, and with them Ivy, which fetches Kafka's.")
    return str(found[-1])


def _why(done: subprocess.CompletedProcess[str]) -> str:
    """The line of Ivy's output that says what went wrong."""
    lines = [line.strip(" \t:") for line in (done.stdout + done.stderr).splitlines()]
    telling = [line for line in lines if re.search(r"not found|error|exception|refused|timed out", line, re.IGNORECASE)]
    return telling[0] if telling else f"exit code {done.returncode}"
