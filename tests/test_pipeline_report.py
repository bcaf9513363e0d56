"""The exit code of a pipeline is the check's, whatever becomes of the report."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from jobs import run_pipeline
from jobs.errors import CouldNotRunError, ExitCode
from jobs.report_timelines import write_report


@pytest.mark.parametrize("code", [ExitCode.OK, ExitCode.RULE_BROKEN])
@pytest.mark.parametrize(
    ("warehouse", "fails", "said"),
    [
        (
            "s3a://bucket/lake",
            None,
            "s3a://bucket/lake is no local folder: name a file with `tidegauge report --output",
        ),
        ("lake", PermissionError(13, "Permission denied", "lake/report"), "lake/report: Permission denied"),
        ("lake", CouldNotRunError("lake has no table incidents"), "lake has no table incidents"),
    ],
)
def test_a_report_that_cannot_be_written_is_said(
    code: ExitCode, warehouse: str, fails: Exception | None, said: str, tmp_path: Path,
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """In an object store it has no place of its own; elsewhere the disk may be full."""

    def report(*arguments: object) -> None:
        if fails:
            raise fails
        write_report(*arguments)  # type: ignore[arg-type]

    target = SimpleNamespace(path=warehouse, spark=None)
    stands_in = {
        "delivery_of": SimpleNamespace(requests=0, cluster_id="c"), "open_warehouse": target, "ingest_delivery": {},
        "reconstruct_cluster": {}, "check_cluster": code,
    }  # fmt: skip
    for name, answer in stands_in.items():
        monkeypatch.setattr(run_pipeline, name, lambda *_, answer=answer, **__: answer)
    monkeypatch.setattr(run_pipeline, "write_report", report)

    assert run_pipeline.main([str(tmp_path), "--warehouse", warehouse]) == code
    assert f"  no report: {said}" in capsys.readouterr().err
