"""A few hundred cases of `make fuzz`, always the same ones, on the kernels as they are built."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("httpx")
pytest.importorskip("openpyxl")
pytest.importorskip("sqlglot")
pytest.importorskip("posterior.kernels._compiled")

pytestmark = [pytest.mark.slow, pytest.mark.once]


@pytest.mark.parametrize(
    ("part", "cases", "outcomes"),
    [
        ("files", 300, ("refused", "used")),
        ("requests_to_server", 200, ("200", "422")),
        ("tables", 100, ("refused", "fitted")),
        ("sql_names", 60, ("answered by duckdb", "answered by sqlite", "learned in DuckDB")),
        ("arrays", 300, ("refused", "fitted", "refused by a kernel", "taken by a kernel")),
    ],
)
def test_whatever_comes_in_is_answered_or_refused(part, cases, outcomes):
    """In a process of its own, which a fault would end."""
    program = [
        sys.executable,
        str(Path(__file__).parent / "fuzz"),
        "--cases",
        part,
        "0",
        str(cases),
    ]
    done = subprocess.run(program, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    assert all(f" {outcome}" in done.stdout for outcome in outcomes), done.stdout
    assert f"{cases} cases" in done.stdout
