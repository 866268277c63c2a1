"""What all tests share: hypothesis profiles, the data sets, and the rule on skips.

POSTERIOR_DATA          folder of the data sets; otherwise ../shared/data beside this repository
POSTERIOR_REQUIRE_ALL   1: a skip is a failure, for machines that should have everything
HYPOTHESIS_PROFILE      dev (new cases each time), ci (1,000 fixed cases), short (25 fixed cases),
                        laws (LAWS_EXAMPLES cases of a seed, for `make laws`)
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

REPOSITORY = Path(__file__).resolve().parent.parent
collect_ignore = ["fuzz"]  # a program of its own; test_fuzz.py runs a part of it
REQUIRE_ALL = os.environ.get("POSTERIOR_REQUIRE_ALL") == "1"

# A busy machine is slow, and so are the reference kernels: neither is a fault of the code tested.
settings.register_profile("dev", max_examples=50, deadline=None)
settings.register_profile(
    "ci",
    max_examples=1000,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("short", settings.get_profile("ci"), max_examples=25)
settings.register_profile(
    "laws",
    max_examples=int(os.environ.get("LAWS_EXAMPLES", "1000")),
    deadline=None,
    database=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of the real data sets, which are not part of this repository."""
    if chosen := os.environ.get("POSTERIOR_DATA"):
        if not Path(chosen).is_dir():
            pytest.fail(f"POSTERIOR_DATA names {chosen!r}, which is not a folder.", pytrace=False)
        return Path(chosen)
    folder = REPOSITORY.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("needs the data sets: put them at ../shared/data or set POSTERIOR_DATA")
    return folder


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The address of a PostgreSQL server that runs while the tests do, in a temporary folder."""
    psycopg = pytest.importorskip("psycopg")
    versions = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    places = os.pathsep.join([*map(str, reversed(versions)), os.environ.get("PATH", "")])
    initdb, server = (shutil.which(name, path=places) for name in ("initdb", "postgres"))
    if initdb is None or server is None:
        pytest.skip("needs a PostgreSQL server: apt-get install postgresql")
    # the server refuses to run as root
    owner: dict[str, Any] = {"user": "postgres", "group": "postgres"} if os.getuid() == 0 else {}
    with tempfile.TemporaryDirectory(prefix="posterior-") as folder:
        if owner:
            shutil.chown(folder, **owner)
        settings = ["--auth=trust", "--username=postgres", "--encoding=UTF8", "--locale=C"]
        command = [initdb, "--no-sync", *settings, "--pgdata", f"{folder}/data"]
        subprocess.run(command, check=True, capture_output=True, cwd=folder, **owner)
        command = [server, "-D", f"{folder}/data", "-k", folder, "-h", "", "-F"]
        log = Path(folder, "log").open("wb")
        running = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log, **owner)
        address = f"host={folder} user=postgres dbname=postgres"
        try:
            _wait_for(psycopg, address, running)
            yield address
        finally:
            running.terminate()
            try:
                running.wait(10)
            except subprocess.TimeoutExpired:  # someone is still connected
                running.kill()
                running.wait()
            log.close()


def _wait_for(psycopg: Any, address: str, server: subprocess.Popen[bytes]) -> None:
    for _ in range(300):
        try:
            return psycopg.connect(address).close()
        except psycopg.OperationalError:
            if server.poll() is not None:
                raise
            time.sleep(0.1)
    raise TimeoutError("the PostgreSQL server does not answer")


BROWSER_FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium without a window; a module's own, since its event loop would be in others' way."""
    playwright = pytest.importorskip("playwright.sync_api")
    place = shutil.which("chromium") or shutil.which("chromium-browser")
    if place is None:
        pytest.skip("needs chromium: apt-get install chromium")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=place, args=list(BROWSER_FLAGS))
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def dask_client() -> Generator[Any, None, None]:
    """Two worker processes on this machine, seen by nobody else. Not the default client."""
    distributed = pytest.importorskip(
        "distributed", reason="needs Dask: pip install 'posterior[dask]'"
    )
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture(scope="session")
def spark() -> Generator[Any, None, None]:
    """A Spark session of two threads in a Java of its own; a failing task is tried four times."""
    sql = pytest.importorskip("pyspark.sql", reason="needs Spark: pip install 'posterior[spark]'")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("needs Java 17 or newer, for Spark")
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = sql.SparkSession.builder.master("local[2,4]").appName("posterior's tests")
    for name, value in {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",  # starts fast
        "spark.driver.memory": "1g",
        "spark.log.level": "ERROR",
        "spark.sql.codegen.wholeStage": "false",  # slow to compile, for a few hundred rows
        "spark.sql.session.timeZone": "UTC",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    yield session
    session.stop()


def _refuse_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
    report.outcome = "failed"
    report.longrepr = f"{reason}\nPOSTERIOR_REQUIRE_ALL=1: on this machine nothing may be skipped."


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    expected_failure = hasattr(report, "wasxfail")
    allowed = expected_failure or item.get_closest_marker("may_skip")
    if REQUIRE_ALL and report.skipped and not allowed:
        _refuse_skip(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    if REQUIRE_ALL and report.skipped:  # a whole module: pytest.importorskip at its top
        _refuse_skip(report)
    return report
