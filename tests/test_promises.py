"""Nothing that users rely on disappears without notice: names, commands, routes, keys."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

pytestmark = pytest.mark.once

pytest.importorskip("typer")
pytest.importorskip("fastapi")
PROMISES = runpy.run_path(str(Path(__file__).with_name("promises.py")))
PROMISED, TODAY = PROMISES["read"](), PROMISES["promises"]()


def test_nothing_public_disappears_without_notice():
    """Rename it back, keep it with a warning, or write it into docs/stability.md."""
    assert PROMISES["unannounced"](PROMISED, TODAY) == []


def test_everything_public_is_recorded():
    """`make promises` records an addition, which is then a promise."""
    assert PROMISES["written"](TODAY) == PROMISES["RECORDED"].read_text("utf-8")


def test_all_that_is_promised_is_there():
    names = set(TODAY)
    assert {"posterior.NaiveBayes.fit", "posterior.plots.densities"} <= names
    assert {"command:report", "http:POST:/api/predict:gives", "json:Facts"} <= names
    assert "posterior.kernels.compiled.moments" not in names
    assert TODAY["posterior.load"] == ["path"]
    assert "var_smoothing=" in TODAY["posterior.GaussianNB"]
    assert {"--target", "-t", "data"} <= set(TODAY["command:report"])
    assert {"model", "predictions", "posterior"} <= set(TODAY["http:POST:/api/predict:gives"])
    assert {"candidates", "predictions", "version"} <= set(TODAY["json:Facts"])


BEFORE = {"posterior.f": ["X", "y="], "command:report": ["--out", "data"]}


@pytest.mark.parametrize(
    ("now", "missed"),
    [
        (BEFORE, []),
        (BEFORE | {"posterior.g": []}, []),
        (BEFORE | {"posterior.f": ["X", "y=", "z="]}, []),
        (BEFORE | {"command:report": ["--new", "--out", "data"]}, []),
        ({"command:report": ["--out", "data"]}, ["posterior.f"]),
        (BEFORE | {"posterior.f": ["X", "labels="]}, ["posterior.f y"]),
        (BEFORE | {"posterior.f": ["y=", "X"]}, ["posterior.f: the order of X, y"]),
        (BEFORE | {"posterior.f": ["X", "y"]}, ["posterior.f: y must be given"]),
        (BEFORE | {"posterior.f": ["X", "z", "y="]}, ["posterior.f: z must be given"]),
        (BEFORE | {"command:report": ["data"]}, ["command:report --out"]),
    ],
)
def test_a_removal_a_renaming_and_a_new_demand_break_a_promise(now, missed):
    assert PROMISES["broken"](BEFORE, now) == missed


def test_what_is_announced_is_read_from_the_page_of_the_manual(tmp_path):
    page = tmp_path / "stability.md"
    page.write_text(
        "Of `all`.\n\n## Going, and gone\n\n| what | until |\n|---|---|\n"
        "| `posterior.f y` | 0.3 |\n\n## More\n\n| `posterior.g` | no |\n"
    )
    assert PROMISES["announced"](page) == {"posterior.f y"}
