"""`--warehouse DIR` and `--database NAME`, and the warehouse that they ask for."""

from __future__ import annotations

from urllib.parse import unquote, urlsplit

import click
from pyspark.sql import SparkSession

from jobs.command import options
from jobs.errors import CouldNotRunError
from jobs.places import DATABASE_NAME, Home, absolute
from jobs.session import spark_session
from jobs.warehouse import Warehouse

DATABASE = "tidegauge.database"


def _note(context: click.Context, _option: click.Parameter, name: str | None) -> str | None:
    """Remember the database until the folder is known; a name that would need quoting is refused."""
    if name is not None and not DATABASE_NAME.fullmatch(name):
        message = f"{name!r}: a letter, then letters, digits and _ only."
        raise click.BadParameter(message)
    context.meta[DATABASE] = name
    return name


def _asked(context: click.Context, option: click.Parameter, path: str | None) -> Home:
    """Both together; one of them must be given."""
    if path is None and context.meta[DATABASE] is None:
        raise click.MissingParameter(ctx=context, param=option)
    return Home(path, context.meta[DATABASE])


warehouse_option = options(
    click.option(
        "--database",
        metavar="NAME",
        is_eager=True,
        expose_value=False,
        callback=_note,
        help="Database of Spark's catalog that has the tables, instead of a folder.",
    ),
    click.option(
        "--warehouse",
        metavar="DIR",
        callback=_asked,
        help="Folder (or URI) that holds the Delta tables; with --database, where that one is made.",
    ),
)


def open_warehouse(app_name: str, home: Home, *, landing: int = 0, makes: bool = False) -> Warehouse:
    """The warehouse, in a session of its own unless there is one; a job that lands makes its folder or database.

    `landing` is about how many requests it will land.
    """
    if makes:
        home.make()
    has_catalog = home.database is not None
    spark = spark_session(app_name, warehouse=home.path, landing=landing, has_catalog=has_catalog)
    if home.database is None:
        return Warehouse(spark, str(home.path))
    if makes:
        _make(spark, home)
    elif not spark.catalog.databaseExists(home.database):
        message = f"the catalog has no database {home.database}"
        raise CouldNotRunError(message)
    return Warehouse(spark, _folder_of(spark, home.database), home.database)


def _make(spark: SparkSession, home: Home) -> None:
    """Make the database if it is missing, in the folder if one is given."""
    folder = "" if home.path is None else f" LOCATION {_literal(absolute(home.path))}"
    spark.sql(f"CREATE DATABASE IF NOT EXISTS {home.database}{folder}")


def _literal(text: str) -> str:
    """As an SQL literal: under Delta's parser a parameter marker stays unbound."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def _folder_of(spark: SparkSession, database: str) -> str:
    """Where a database lies, on this machine as a plain path."""
    uri = spark.catalog.getDatabase(database).locationUri
    place = urlsplit(uri)
    return unquote(place.path) if place.scheme == "file" else uri
