"""The notebooks of examples/notebooks: stripped as they are kept, and run from the first cell to the last."""

from __future__ import annotations

import json
import os
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).parent.parent
NOTEBOOKS = sorted((ROOT / "examples" / "notebooks").glob("*.ipynb"))
SEEN = {
    "post-mortem": ("COMMITTED_RECORDS_LOST", "TRUNCATED_BELOW_HIGH_WATERMARK", "<svg", "findings"),
    "the-protocol": ("BECOME_LEADER", "h_truncation_to_the_hw_loses_a_committed_record", "high_watermark"),
}
"""What some output of each holds when it has run on the capture hw_truncation."""


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_kept_without_what_it_printed(path: Path) -> None:
    """Valid, and nothing of a run in it: neither output nor count."""
    book = nbformat.read(path, as_version=4)
    code = [cell for cell in book.cells if cell.cell_type == "code"]

    nbformat.validate(book)
    assert code
    assert [cell for cell in code if cell.outputs or cell.execution_count is not None] == []


def test_each_notebook_is_run() -> None:
    """A new one needs its line here."""
    assert {path.stem for path in NOTEBOOKS} == set(SEEN)


@pytest.mark.long
@pytest.mark.spark
@pytest.mark.captured
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path: Path, captures: Path, tmp_path: Path) -> None:
    """In a kernel of its own, in its own folder; a cell that fails ends it."""
    book = nbformat.read(path, as_version=4)
    environment = {
        **os.environ, "CAPTURE": str(captures / "hw_truncation"), "LAKE": str(tmp_path / "lake"),
        "PYTHONPATH": str(ROOT),
    }  # fmt: skip
    NotebookClient(book, timeout=None, resources={"metadata": {"path": str(path.parent)}}).execute(env=environment)
    said = json.dumps([cell.get("outputs", []) for cell in book.cells])

    assert [words for words in SEEN[path.stem] if words not in said] == []
