"""Great Expectations' own Data Docs of a check: its suite and its results as HTML, in a folder."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from pyspark.sql import SparkSession

from expectations.suites import NAME, context, counted, suite_of
from expectations.tally import Tally

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # as in expectations.suites
    import great_expectations as gx
    from great_expectations.checkpoint.actions import UpdateDataDocsAction


def write_data_docs(spark: SparkSession, folder: str, run_id: str, cluster_id: str, tallies: Sequence[Tally]) -> None:
    """Add a page of a cluster's check, and of the rules as expectations, to the site in `folder`; made if missing.

    The counts are validated again, this time with what the pages show: it is a frame of a few rows.
    """
    made, name = context(), f"{NAME} {cluster_id}"
    _add_site(folder)
    suite = suite_of(tallies)
    suite.name = name
    data = made.data_sources.get(NAME).add_dataframe_asset(name).add_batch_definition_whole_dataframe(name)
    definition = made.validation_definitions.add(
        gx.ValidationDefinition(name=name, data=data, suite=made.suites.add(suite))
    )
    action = UpdateDataDocsAction(name="data docs", site_names=[NAME])
    checkpoint = gx.Checkpoint(
        name=name, validation_definitions=[definition], actions=[action], result_format="SUMMARY"
    )
    try:
        made.checkpoints.add(checkpoint).run(
            batch_parameters={"dataframe": counted(spark, tallies)}, run_id=gx.RunIdentifier(run_name=run_id)
        )
    finally:
        made.checkpoints.delete(name)
        made.validation_definitions.delete(name)
        made.suites.delete(name)
        made.data_sources.get(NAME).delete_asset(name)
        made.delete_data_docs_site(NAME)


def _add_site(folder: str) -> None:
    """Let the pages be built in `folder`."""
    store = {"class_name": "TupleFilesystemStoreBackend", "base_directory": folder}
    site = {
        "class_name": "SiteBuilder",
        "store_backend": store,
        "site_index_builder": {"class_name": "DefaultSiteIndexBuilder"},
        "show_how_to_buttons": False,
    }
    context().add_data_docs_site(site_name=NAME, site_config=site)
