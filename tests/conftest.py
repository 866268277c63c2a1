"""What all tests share: hypothesis profiles, the data sets, and the rule on skips.

POSTERIOR_DATA          folder of the data sets; otherwise ../shared/data beside this repository
POSTERIOR_REQUIRE_ALL   1: a skip is a failure, for machines that should have everything
HYPOTHESIS_PROFILE      dev (new cases each time), ci (1,000 fixed cases), short (25 fixed cases)
"""

from __future__ import annotations

import os
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

REPOSITORY = Path(__file__).resolve().parent.parent
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
