"""What a node logs, and where: the production files, and beside them one at DEBUG and TRACE that holds the truth."""

from __future__ import annotations

from pathlib import Path

TRACED = (
    "kafka.cluster.Partition",
    "kafka.cluster.Replica",
    "kafka.log.Log",
    "kafka.log.UnifiedLog",
    "kafka.server.AbstractFetcherThread",
    "kafka.server.ReplicaFetcherThread",
    "kafka.server.ReplicaManager",
    "org.apache.kafka.storage.internals.log.UnifiedLog",
)
"""Loggers that state offsets, in 2.x to 4.x."""

REQUEST_LOG = "kafka-request.log"
SERVER_LOG = "server.log"
STATE_CHANGE_LOG = "state-change.log"
TRACE_LOG = "trace.log"

HEAD = """\
status = error
# Kafka logs until its own shutdown has ended; Log4j's hook would cut that off.
shutdownHook = disable

rootLogger.level = info
rootLogger.appenderRef.server.ref = server
rootLogger.appenderRef.trace.ref = trace
"""

APPENDER = """
appender.{name}.type = File
appender.{name}.name = {name}
appender.{name}.fileName = {file}
appender.{name}.layout.type = PatternLayout
appender.{name}.layout.pattern = [%d] %p %m (%c)%n
"""

ONLY_INFO = """\
appender.server.filter.info.type = ThresholdFilter
appender.server.filter.info.level = info
"""

LOGGER = """
logger.{name}.name = {logger}
logger.{name}.level = {level}
"""

OWN_FILE = "logger.{name}.additivity = false\nlogger.{name}.appenderRef.{name}.ref = {name}\n"


def log4j_properties(folder: Path) -> str:
    """log4j2.properties of a node that logs into `folder`."""
    files = {"server": SERVER_LOG, "state": STATE_CHANGE_LOG, "request": REQUEST_LOG, "trace": TRACE_LOG}
    appenders = {name: APPENDER.format(name=name, file=folder / file) for name, file in files.items()}
    appenders["server"] += ONLY_INFO
    loggers = [
        LOGGER.format(name="request", logger="kafka.request.logger", level="debug") + OWN_FILE.format(name="request"),
        # Into the trace too: there a role stands between the lines before and after it.
        LOGGER.format(name="state", logger="state.change.logger", level="info")
        + OWN_FILE.format(name="state")
        + "logger.state.appenderRef.trace.ref = trace\n",
        *(LOGGER.format(name=f"t{place}", logger=logger, level="trace") for place, logger in enumerate(TRACED)),
    ]
    return HEAD + "".join(appenders.values()) + "".join(loggers)
