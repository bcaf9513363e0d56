"""The jobs on a real cluster: a standalone master and two workers on loopback, the archive, a script away from here."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.request import urlopen

import pyspark
import pytest
from deltalake import DeltaTable

ROOT = Path(__file__).parent.parent
JOBS = ROOT / "jobs"
SPARK = Path(pyspark.__file__).parent
LOOPBACK = "127.0.0.1"

pytestmark = [pytest.mark.spark, pytest.mark.delta, pytest.mark.submit, pytest.mark.long]


def free_port() -> int:
    """A port nobody listens on."""
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        return int(probe.getsockname()[1])


def until(is_so: str, url: str, seconds: float = 120) -> None:
    """Wait until a page says something."""
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        try:
            with urlopen(url, timeout=5) as page:  # noqa: S310 - our own port on loopback
                if is_so in page.read().decode():
                    return
        except OSError:
            pass
        time.sleep(0.5)
    pytest.fail(f"{url} does not say {is_so!r} after {seconds:.0f} s")


@contextmanager
def daemon(folder: Path, name: str, *arguments: str) -> Iterator[None]:
    """A process of Spark's standalone cluster; ended by its own id."""
    folder.mkdir(exist_ok=True)
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_DAEMON_MEMORY": "256m"}
    with (folder / f"{name}.log").open("wb") as log:
        process = subprocess.Popen(
            [str(SPARK / "bin" / "spark-class"), f"org.apache.spark.deploy.{name}", *arguments],
            cwd=folder, env=environment, stdout=log, stderr=subprocess.STDOUT,
        )  # fmt: skip
        try:
            yield
        finally:
            process.terminate()
            process.wait(timeout=30)


@pytest.fixture(scope="module")
def master(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a master with two workers."""
    folder = tmp_path_factory.mktemp("standalone")
    port, page = free_port(), free_port()
    address = f"spark://{LOOPBACK}:{port}"
    with ExitStack() as running:
        at = ("--host", LOOPBACK, "--port", str(port), "--webui-port", str(page))
        running.enter_context(daemon(folder / "master", "master.Master", *at))
        until("ALIVE", f"http://{LOOPBACK}:{page}/json/")
        for number in range(2):
            own = folder / f"worker-{number}"
            limits = ("--host", LOOPBACK, "--cores", "1", "--memory", "1g", "-d", str(own), "--webui-port", "0")
            running.enter_context(daemon(own, "worker.Worker", *limits, address))
        until('"aliveworkers" : 2', f"http://{LOOPBACK}:{page}/json/")
        yield address


def submit(folder: Path, master: str, job: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a script on the cluster, with the archive."""
    made = subprocess.run(
        ["make", "zip", f"PYTHON={sys.executable}", f"DIST={folder}"],
        cwd=ROOT, check=True, capture_output=True, text=True,
    )  # fmt: skip
    script = shutil.copy(job, folder)
    settings = {
        "spark.driver.host": LOOPBACK, "spark.driver.bindAddress": LOOPBACK, "spark.executor.memory": "600m",
        "spark.sql.shuffle.partitions": "4", "spark.log.level": "ERROR", "spark.ui.enabled": "false",
        "spark.eventLog.enabled": "true", "spark.eventLog.compress": "false",
        "spark.eventLog.rolling.enabled": "false", "spark.eventLog.dir": (folder / "events").as_uri(),
    }  # fmt: skip
    (folder / "events").mkdir(exist_ok=True)
    given = [part for key, value in settings.items() for part in ("--conf", f"{key}={value}")]
    return subprocess.run(
        [str(SPARK / "bin" / "spark-submit"), "--master", master,
         "--properties-file", str(ROOT / "conf" / "spark-cluster.conf"), *given,
         "--py-files", made.stdout.split()[-1], script, *arguments],
        cwd=folder, env={**os.environ, "PYSPARK_PYTHON": sys.executable, "PYTHONPATH": ""},
        check=False, capture_output=True, text=True, timeout=1800,
    )  # fmt: skip


def test_events_are_generated_and_replayed_on_two_workers(master: str, tmp_path: Path) -> None:
    """Both jobs end with 0, both workers had tasks, and the timelines are there."""
    lake = str(tmp_path / "lake")
    landed = submit(
        tmp_path, master, JOBS / "generate_events.py", "--events", "3000", "--partitions", "8", "--warehouse", lake
    )
    replayed = submit(tmp_path, master, JOBS / "reconstruct_timelines.py", "--warehouse", lake)
    told = "".join(log.read_text(encoding="utf-8") for log in (tmp_path / "events").iterdir())

    assert landed.returncode == 0, landed.stdout + landed.stderr
    assert replayed.returncode == 0, replayed.stdout + replayed.stderr
    assert {f'"Executor ID":"{number}"' in told for number in (0, 1)} == {True}
    events = sum(DeltaTable(f"{lake}/{name}").count() for name in ("produce_events", "fetch_events"))
    begins = 8  # one epoch of one leader each
    assert DeltaTable(f"{lake}/leader_timeline").count() == events + begins
    assert DeltaTable(f"{lake}/replica_timeline").count() > events


def test_an_executor_may_die(master: str, tmp_path: Path) -> None:
    """What is kept and cut off from its plan is at another one, too: nothing could make it again."""
    ended = submit(tmp_path, master, ROOT / "tests" / "losing_an_executor.py")

    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert ended.stdout.splitlines()[-1] == "1000 of 2 executors, 1000 of 1"
