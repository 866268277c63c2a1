"""What the benchmarks save and show."""

from __future__ import annotations

import json
import math
import time
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import page, report
from benchmarks.memory import Cost
from benchmarks.timing import Operation, Peer, Result, race

pytestmark = pytest.mark.once

DOCS = Path(__file__).resolve().parents[1] / "docs"
MACHINE = {"date": "2026-01-01", "cpu": "a processor", "cores": 2, "scikit-learn": "1.9"}
RESULT = Result(
    "case", "fit", "scikit-learn", Cost(1.0, 0, 0), Cost(4.0, 0, 0), {}, 3.0, None, None
)


def run(case: str, *results: Result) -> report.Run:
    return report.Run(case, f"about {case}", MACHINE, list(results or [RESULT]))


def test_a_case_that_is_run_again_replaces_itself_and_keeps_the_others(tmp_path):
    path, known = tmp_path / "results.json", ("one", "two", "three")
    report.save([run("two"), run("one"), run("gone")], path, (*known, "gone"))
    report.save([run("two", replace(RESULT, operation="predict"))], path, known)
    one, two = report.load(path)
    assert (one.case, two.case) == ("one", "two")
    assert [r.operation for r in (*one.results, *two.results)] == ["fit", "predict"]


def test_a_peer_that_was_stopped_can_meet_a_target_but_not_miss_it():
    assert replace(RESULT, cut=True).met
    assert replace(RESULT, cut=True, target=5.0).met is None
    assert replace(RESULT, target=5.0).met is False


def test_no_turn_begins_after_the_deadline():
    calls = []
    peer = Peer("slow", lambda: calls.append(time.sleep(0.01)), rounds=9)
    (found,) = race("case", Operation("fit", lambda: None, [peer]), 9, time.perf_counter())
    assert len(calls) == 1
    assert found.theirs.seconds >= 0.01


def test_the_turns_of_a_contestant_take_no_more_than_its_share():
    calls = []
    peer = Peer("slow", lambda: calls.append(time.sleep(0.02)), rounds=100)
    race("case", Operation("fit", lambda: None, [peer], share=0.1), 100, math.inf)
    assert len(calls) <= 6


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(63e-3, "63.0 ms"), (1.5, "1.50 s"), (0.1236, "124 ms"), (7e-5, "70.0 us"), (1234, "1,234 s")],
)
def test_times_have_three_digits(seconds, text):
    assert report.duration(seconds) == text


def test_the_page_says_where_a_peer_was_faster_and_what_a_stopped_one_had_reached():
    slower = replace(RESULT, theirs=Cost(0.5, 0, 0), target=None)
    stopped = replace(RESULT, cut=True, quality={"peer above it": 0.12}, peer="saga")
    text = "\n".join(page.page([run("one", slower), run("two", stopped)]))
    assert "- case, fit: 0.5 times scikit-learn" in text
    assert "saga was stopped after 4.00 s: peer above it 0.12." in text
    assert "| > 4.00 s | > 4.00 |" in text
    assert "MB" not in text.partition("### about one")[2]  # nothing is said of no memory


def test_the_page_of_the_manual_is_made_of_the_saved_figures(tmp_path):
    page.write(report.load(report.RESULTS), tmp_path / "page.md")
    made = (tmp_path / "page.md").read_text("utf-8")
    assert made == (DOCS / "benchmarks.md").read_text("utf-8"), "run make benchmarks-page"


def test_saved_figures_name_no_folder_and_no_machine():
    text = report.RESULTS.read_text("utf-8")
    assert '"/' not in text  # no value begins at the root
    assert all(saved["results"] for saved in json.loads(text).values())
