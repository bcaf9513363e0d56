"""The JVM's classes that PySpark asks for with each column, looked up once."""

from __future__ import annotations

from typing import Any

from py4j.java_gateway import JavaClass, JVMView
from pyspark.sql import SparkSession

ASKED_FOR = {
    "functions": "org.apache.spark.sql.functions",
    "org.apache.spark.sql.functions": "org.apache.spark.sql.functions",
    "PythonUtils": "org.apache.spark.api.python.PythonUtils",
    "PythonSQLUtils": "org.apache.spark.sql.api.python.PythonSQLUtils",
    "org.apache.spark.sql.classic.SparkSession": "org.apache.spark.sql.classic.SparkSession",
}
"""By the name that PySpark asks for, the class. One that it no longer asks for is not looked up."""


class _Remembering(JavaClass):  # type: ignore[misc]  # py4j has no types
    """A class whose members are looked up once each."""

    def __getattr__(self, name: str) -> Any:
        member = super().__getattr__(name)
        self.__dict__[name] = member
        return member


def remember_classes(spark: SparkSession) -> None:
    """Let a classic session's Python know the classes that it asks the JVM for; over Spark Connect there is no JVM.

    py4j keeps nothing: of each `F.col` it asks what `functions` is, for which Java searches all jars of its class path
    in vain, package by package, and then what `col` is. A replay's plan has ten thousand columns (docs/adr/0006).
    """
    context = getattr(spark, "sparkContext", None)
    if context is None:
        return
    jvm: JVMView = context._jvm  # noqa: SLF001 - what PySpark itself asks
    for name, of in ASKED_FOR.items():
        if not isinstance(vars(jvm).get(name), _Remembering):
            setattr(jvm, name, _Remembering(of, jvm._gateway_client))  # noqa: SLF001
