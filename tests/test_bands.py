"""Targets: classes are learned, numbers are cut into bands, and what is neither is refused."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("pyarrow")
pytest.importorskip("duckdb")
pytest.importorskip("typer")

import json

import narwhals as nw
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import posterior
from posterior.app.cli.commands_app import app
from posterior.app.report.facts import study
from posterior.preprocessing.bands import Bands, bands_of
from posterior.preprocessing.infer_roles import infer
from posterior.preprocessing.leaks import one_column_errors
from posterior.selection import compare

pytestmark = pytest.mark.once


def series(values: Any) -> nw.Series[Any]:
    return nw.from_native(pd.Series(values, name="price"), series_only=True)


def diamonds(n: int, seed: int = 0) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    carat = np.exp(random.normal(-0.4, 0.55, n)).round(2)
    return pd.DataFrame(
        {
            "carat": carat,
            "cut": random.choice(["Fair", "Good", "Ideal"], n),
            "price": (np.exp(8.2 + 1.7 * np.log(carat) + random.normal(0, 0.25, n))).astype(int),
            "weighed": (carat + random.normal(0, 0.01, n)).round(4),
            "stars": random.integers(2, 11, n) / 2,
            "sold": pd.Timestamp("2020-01-01") + pd.to_timedelta(random.integers(0, 900, n), "D"),
            "name": [f"stone {i:x}" for i in range(n)],
            "remark": [f"a stone of {c} carat that is number {i}" for i, c in enumerate(carat)],
        }
    )


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    return diamonds(600)


# --- what is no class is refused, soon --------------------------------------------------------


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("price", "different numbers in 50,000 rows: to predict those is regression.*--bands 4"),
        ("weighed", "regression"),
        ("sold", "different dates.*regression.*--bands 2020-"),
        ("name", "values repeat"),
        ("remark", "different texts"),
    ],
)
def test_a_target_without_classes_is_refused_within_seconds(target: str, said: str) -> None:
    frame = diamonds(50_000)
    started = time.perf_counter()
    with pytest.raises(ValueError, match=said):
        infer(frame, target)
    assert time.perf_counter() - started < 10  # it took minutes and 20 GB; now about one second


def test_what_a_column_tells_alone_costs_no_table_of_rows_and_classes() -> None:
    random = np.random.default_rng(0)
    values, codes = random.normal(size=3000), random.integers(0, 5, 3000)
    order = np.argsort(np.argsort(values)) * 500 // 3000
    table = np.zeros((500, 5))
    np.add.at(table, (order, codes), 1)
    each = table[order]
    own = each[np.arange(3000), codes] - 1
    each[np.arange(3000), codes] = -1
    assert one_column_errors(values, codes) == np.mean(own <= each.max(axis=1))
    assert one_column_errors(values, np.arange(3000)) == 1.0  # in 12 MB, not in 72


def test_whole_numbers_of_few_values_and_grades_in_halves_are_classes(table: pd.DataFrame) -> None:
    digits = table.assign(digit=np.arange(600) % 30)
    assert infer(digits, "digit").bands is None
    graded = compare(table[["carat", "cut", "stars"]], "stars", models=["naive-bayes"])
    assert graded.rows.names == sorted(str(s).removesuffix(".0") for s in set(table["stars"]))


# --- bands ------------------------------------------------------------------------------------


def test_bands_are_named_as_people_say_it() -> None:
    assert Bands((10_000.0, 20_000.0)).names == [
        "under 10,000",
        "10,000 to 20,000",
        "20,000 and more",
    ]
    assert Bands((1990.0, 2007.5)).names == ["under 1990", "1990 to 2007.5", "2007.5 and more"]
    dates = bands_of(series(pd.to_datetime(["2020-05-01", "2022-01-31"])), ["2021-01-01"])
    assert dates.names == ["before 2021-01-01", "2021-01-01 and later"]
    assert dates.cuts == "2021-01-01,"


def test_an_edge_belongs_to_the_band_above_it_and_gaps_to_none() -> None:
    found = Bands((1.0, 2.0)).labels(series([0.5, 1.0, 1.5, 2.0, np.nan, np.inf]))
    assert found == ["under 1", "1 to 2", "1 to 2", "2 and more", None, "2 and more"]


@given(
    values=st.lists(st.floats(-1e6, 1e6, width=32), min_size=2, max_size=300),
    n=st.integers(2, 6),
)
def test_bands_of_equal_shares_rise_and_are_never_empty(values: list[float], n: int) -> None:
    if len(set(values)) < 2:
        return
    bands = bands_of(series(values), n)
    counts = pd.Series(bands.labels(series(values))).value_counts()
    assert list(bands.edges) == sorted(set(bands.edges)) and len(bands.edges) < n
    assert set(counts.index) == set(bands.names)
    if len(set(values)) == len(values) and len(values) >= 10 * n:  # no ties
        assert (abs(counts / len(values) - 1 / n) <= 0.2 / n + 1 / len(values)).all()


def test_edges_are_as_round_as_equal_shares_allow() -> None:
    random = np.random.default_rng(0)
    assert bands_of(series(random.normal(50_000, 15_000, 5000)), 2).edges == (50_000.0,)
    assert bands_of(series(np.arange(1000)), 4).edges == (200.0 + 50, 500.0, 750.0)


@pytest.mark.parametrize(
    ("values", "asked", "said"),
    [
        (["a", "b"], 2, "got words"),
        ([1.0, 1.0], 2, "two different values"),
        ([1.0, 2.0], 1, "2 to 50 bands"),
        ([1.0, 2.0], [2, 1], "that rise"),
        ([1.0, 2.0], [1.5, 9], "no 'price' is 9 and more"),
        ([1.0, 2.0], ["x"], "a number as a cut point"),
        ([1.0, 2.0], [], "that rise"),
    ],
)
def test_bands_that_cannot_be_are_told(values: Any, asked: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        bands_of(series(values), asked)


def test_a_report_shows_bands_in_their_order(table: pd.DataFrame) -> None:
    found = study(table[["carat", "cut", "price"]], "price", bands=3)
    bands = found.comparison.roles.bands
    assert bands is not None and found.facts.classes == bands.names
    assert [c.name for c in found.facts.data.target] == bands.names
    counts = np.histogram(table["price"], [-np.inf, *bands.edges, np.inf])[0]
    assert [c.rows for c in found.facts.data.target] == counts.tolist()
    assert np.sum(found.facts.confusion, axis=1).tolist() == counts.tolist()
    assert any("; ".join(bands.names) in note for note in found.facts.data.notes)
    assert any(f"--bands {bands.cuts}" in snippet.text for snippet in found.facts.snippets)
    (carat,) = (c for c in found.facts.column_shares if c.name == "carat")
    medians = [float(text) for text in carat.typical]
    assert medians == sorted(medians)  # dearer stones are heavier


def test_bands_are_scored_as_classes_of_their_names(table: pd.DataFrame) -> None:
    """Models know classes in the order of their names, and a comparison shows that of the bands."""
    frame = table[["carat", "cut", "price"]]
    bands = bands_of(nw.from_native(frame["price"], series_only=True), 4)
    names = np.array(bands.names)[np.searchsorted(bands.edges, frame["price"], side="right")]
    kinds = ["naive-bayes", "logistic"]
    here = compare(frame, "price", roles=infer(frame, "price", bands=4), models=kinds)
    there = compare(frame.assign(price=names), "price", models=kinds)
    assert here.rows.names == list(bands.names) != there.rows.names
    columns = [bands.names.index(name) for name in there.rows.names]
    for mine, other in zip(here.judged, there.judged, strict=True):
        assert mine.name == other.name
        np.testing.assert_allclose(mine.held_out.proba[:, columns], other.held_out.proba, rtol=1e-9)
    np.testing.assert_allclose(
        here.classifier.predict_proba(frame), there.classifier.predict_proba(frame), rtol=1e-9
    )


# --- on the command line ----------------------------------------------------------------------


def run(*arguments: object, code: int = 0) -> Any:
    result = CliRunner().invoke(app, [*map(str, arguments), "--json"])
    assert result.exit_code == code, result.output
    return json.loads(result.stdout) if code == 0 else result.stderr


def test_a_model_of_bands_goes_on_learning_numbers(table: pd.DataFrame, tmp_path: Path) -> None:
    frame = table[["carat", "cut", "price"]]
    paths = {part: tmp_path / f"{part}.csv" for part in ("all", "first", "rest")}
    frame.to_csv(paths["all"], index=False)
    frame[:400].to_csv(paths["first"], index=False)
    frame[400:].to_csv(paths["rest"], index=False)
    model, whole = tmp_path / "m.posterior", tmp_path / "whole.posterior"
    fit = ("--target", "price", "--bands", "1000,5000", "--model", "naive-bayes")
    told = run("fit", paths["first"], *fit, "--out", model)
    assert set(told["classes"]) == {"under 1000", "1000 to 5000", "5000 and more"}
    run("update", model, paths["rest"])
    run("fit", paths["all"], *fit, "--out", whole)
    run("fit", paths["all"], "--target", "price", "--like", model, "--out", tmp_path / "like")
    answers = [
        posterior.load(path).predict_proba(frame) for path in (model, whole, tmp_path / "like")
    ]
    np.testing.assert_array_equal(answers[0], answers[1])
    np.testing.assert_array_equal(answers[0], answers[2])


@pytest.mark.parametrize("asked", ["four", "1.5", "-2", "1000;2000", ""])
def test_bands_that_cannot_be_read_are_told(asked: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\n")
    said = run("fit", path, "--target", "b", f"--bands={asked}", code=1)
    assert "Expected a number of bands" in said


@pytest.mark.parametrize(("target", "said"), [("price", "regression"), ("name", "values repeat")])
def test_a_stream_without_classes_is_refused_at_its_beginning(
    target: str, said: str, tmp_path: Path
) -> None:
    path = tmp_path / "diamonds.csv"
    diamonds(5000)[["carat", "cut", target]].to_csv(path, index=False)
    arguments = ("--target", target, "--stream", "--model", "naive-bayes")
    assert said in run("fit", path, *arguments, "--out", tmp_path / "m.posterior", code=1)


def test_a_stream_cannot_be_cut_into_bands(tmp_path: Path) -> None:
    arguments = ("--target", "b", "--bands", "4", "--stream", "--model", "naive-bayes")
    assert "read as a whole" in run("fit", tmp_path / "t.csv", *arguments, code=2)
