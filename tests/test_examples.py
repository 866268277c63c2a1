"""The examples run, and print what they promise."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


def run(name, monkeypatch, capsys, folder="/nowhere"):
    monkeypatch.setenv("POSTERIOR_DATA", str(folder))
    monkeypatch.setattr("sys.argv", [name])
    runpy.run_path(str(EXAMPLES / name), run_name="__main__")
    return capsys.readouterr().out


def test_exclusive_or_is_solved_by_a_product(monkeypatch, capsys):
    text = run("exclusive_or.py", monkeypatch, capsys)
    assert "50% of four points right" in text
    assert "100% of four points right" in text


@pytest.mark.slow
def test_gradient_ascent_without_the_course_data(monkeypatch, capsys):
    text = run("gradient_ascent.py", monkeypatch, capsys)
    assert "simulated: 300 rows" in text
    assert "maximum" in text


@pytest.mark.slow
def test_gradient_ascent_on_the_course_data(monkeypatch, capsys, shared_data):
    """Accuracies of the course's setting: η = 1e-4, 10,000 steps."""
    text = run("gradient_ascent.py", monkeypatch, capsys, shared_data)
    lines = [line.split() for line in text.splitlines() if line.startswith("  10,000  0.0001")]
    assert [line[-1] for line in lines] == ["77.5%", "83.7%", "66.0%"]
