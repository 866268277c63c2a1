"""`make fuzz` and `make laws` count what they did, and go on where they stopped."""

from __future__ import annotations

import json
import os
import runpy
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
pytestmark = pytest.mark.once

SOME = """
from hypothesis import assume, given, strategies as st

@given(x=st.integers(0, 10**9))
def test_holds(x):
    assume(x % 2 == 0)

@given(x=st.integers(0, 10**9))
def test_fails(x):
    assert x < 10

def test_without_drawn_values():
    pass
"""


@pytest.fixture
def laws(tmp_path, monkeypatch):
    """The program of `make laws`, with its state and page in a folder of its own."""
    monkeypatch.syspath_prepend(str(HERE / "laws"))
    names = runpy.run_path(str(HERE / "laws" / "__main__.py"))
    names["main"].__globals__.update(FOLDER=tmp_path, PAGE=tmp_path / "laws.md")
    return names


def lines(*told: dict) -> str:
    return "".join(json.dumps(line) + "\n" for line in told)


def test_trials_are_runs_of_a_law_that_came_to_their_end(tmp_path):
    (tmp_path / "test_some.py").write_text(SOME)
    (tmp_path / "laws.json").write_text("null")
    given = ["--laws", "laws.json", "--results", "results.jsonl", "--hypothesis-seed=1"]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "trials", *given]
    environment = {**os.environ, "PYTHONPATH": str(HERE / "laws")}
    subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, check=False)
    results = map(json.loads, (tmp_path / "results.jsonl").read_text().splitlines())
    told = {line["item"].partition("::")[2]: line for line in results}
    assert sorted(told) == ["test_fails", "test_holds"]
    assert told["test_holds"]["trials"] == 100  # those that `assume` ruled out are not among them
    assert told["test_holds"]["says"] == ""
    assert "assert" in told["test_fails"]["says"]


def test_a_run_of_laws_that_was_killed_counts_what_it_wrote_down(laws, tmp_path):
    held = {"item": "tests/laws/test_a.py::test_x[1]", "trials": 5, "seconds": 0.5, "says": ""}
    failed = {"item": "tests/laws/test_a.py::test_y", "trials": 2, "seconds": 0.1, "says": "no"}
    (tmp_path / "round.jsonl").write_text(lines(held, failed, held) + '{"item": "tes')
    laws["absorb"](laws["State"].read())
    state = laws["State"].read()
    assert state.trials == {"test_a.py::test_x": 10, "test_a.py::test_y": 2}
    assert [finding["item"] for finding in state.open()] == [failed["item"]]
    assert not (tmp_path / "round.jsonl").exists()


def test_laws_that_lack_trials_are_in_every_round(laws):
    state = laws["State"](all_tried=True)
    state.trials = Counter(quick=5000, middle=5000, slow=2000, slower=10)
    state.seconds = Counter(quick=1.0, middle=10.0, slow=2000.0, slower=100.0)
    assert state.plan() == ["middle", "quick", "slower"]


def test_the_seeds_of_a_second_run_are_those_after_the_first(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(HERE / "fuzz"))
    history, limits = (__import__(name) for name in ("history", "limits"))
    monkeypatch.setattr(history, "STATE", tmp_path / "state.json")
    first = history.History.read()
    found = limits.Found(Counter(refused=7, failed=1), ["seed 3: AssertionError: no"])
    first.add("tables", found, 8)
    second = history.History.read()
    assert second.part("tables").next_seed == 8
    assert second.is_open()
    second.look_again(lambda part, seed: (part, seed) == ("tables", 3))
    second.add("tables", limits.Found(Counter(refused=2)), 10)
    third = history.History.read()
    assert third.part("tables").outcomes == {"refused": 9, "failed": 1}
    assert third.part("tables").next_seed == 10
    assert not third.is_open()
