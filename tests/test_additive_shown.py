"""Additive models shown: tables, ranks, pictures and printed reasons agree with the model."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit

from posterior import Additive, GaussianNB
from posterior.generative.evidence_terms import SHOWN
from posterior.plots import importances, interaction, plot, shape
from posterior.plots.look import PALETTE
from posterior.readers.cells import distinct_digits

pytestmark = pytest.mark.once


def table(n: int = 400) -> tuple[pd.DataFrame, np.ndarray]:
    random = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "age": random.integers(20, 60, n).astype(float),
            "town": random.choice(["Bonn", "Ulm", "Trier"], n),
            "noise": random.normal(size=n),
        }
    )
    score = (X["age"] - 40) / 8 * np.where(X["town"] == "Ulm", 1, -0.3) + (X["town"] == "Bonn")
    X.loc[::9, "age"] = np.nan
    return X, np.where(random.random(n) < expit(score.to_numpy()), "yes", "no")


@pytest.fixture(scope="module")
def fitted():
    X, y = table()
    return Additive(rounds=40, cells=12).fit(X, y), X, y


@pytest.fixture(scope="module")
def three():
    X, y = table()
    return Additive(rounds=25, cells=8).fit(X, np.where(X["noise"] > 0.5, "perhaps", y)), X


def drawn(chart):
    """The data of each layer of a chart; what all have in common stands above them."""
    spec = chart.to_dict()
    names = [one.get("data", spec.get("data"))["name"] for one in spec["layer"]]
    return [pd.DataFrame(spec["datasets"][name]) for name in names]


# --- tables to read -----------------------------------------------------------------------------


def test_parameters_of_a_column_are_its_evidence(fitted):
    model, X, _ = fitted
    evidence = model.evidence(X)
    shown = model.parameters("town")
    assert set(shown["class"]) == {"yes"}
    by_town = dict(zip(shown["cell"], shown["effect"], strict=True))
    j = list(evidence.feature_names).index("town")
    assert_allclose(evidence.terms[:, 1, j], X["town"].map(by_town), atol=1e-12)
    counts = X["town"].value_counts()
    assert dict(zip(shown["cell"], shown["weight"], strict=True)) == pytest.approx(dict(counts))


def test_importance_of_a_column_is_the_mean_of_its_absolute_evidence(fitted):
    model, X, _ = fitted
    evidence = model.evidence(X)
    table = model.importances()
    by_name = dict(zip(table["term"], table["importance"], strict=True))
    for j, name in enumerate(X.columns):
        mean = np.abs(evidence.terms[:, 1, j]).mean()
        assert by_name[name] == pytest.approx(mean, abs=1e-12)
    assert (np.diff(table["importance"]) <= 0).all()
    assert len(table) == len(evidence.feature_names)


def test_the_tables_shown_add_up_to_the_answers():
    random = np.random.default_rng(0)
    X = pd.DataFrame({name: random.choice(["x", "y", "z"], 200) for name in "abc"})
    y = (X["a"] == X["b"]) ^ (X["c"] == "x") ^ (random.random(200) < 0.1)
    model = Additive(rounds=40).fit(X, y)
    shown = model.parameters()
    scores = np.full(len(X), model.intercept_[0])
    for term, cell, effect in zip(*(shown[c] for c in ("term", "cell", "effect")), strict=True):
        of_cell = np.ones(len(X), bool)
        for column, names in zip(term.split(" × "), cell.split(", "), strict=True):
            of_cell &= X[column].isin(names.split(" or ")).to_numpy()
        scores[of_cell] += effect
    assert_allclose(scores, model.decision_function(X), atol=1e-10)


def test_all_parameters_come_by_importance_and_weigh_all_rows_in_each_term(three):
    model, X = three
    shown = model.parameters()
    assert list(dict.fromkeys(shown["term"])) == [
        name for name in model.importances()["term"] if name in set(shown["term"])
    ]
    per_class = pd.DataFrame(dict(shown.columns)).groupby(["term", "class"])["weight"].sum()
    assert_allclose(per_class, len(X))
    assert set(shown["class"]) == {"no", "perhaps", "yes"}


def test_ranges_meet_and_missing_cells_come_last(fitted):
    model, _, _ = fitted
    cells = model.parameters("age")["cell"].tolist()
    assert cells[0].startswith("< ")
    assert cells[-1] == "missing"
    assert cells[-2].startswith("≥ ")
    ends = [cell.split(" to ") for cell in cells[1:-2]]
    assert [a for a, _ in ends[1:]] == [b for _, b in ends[:-1]]


def test_a_term_that_is_not_there_is_said(fitted):
    model, _, _ = fitted
    with pytest.raises(ValueError, match=r"Expected columns of .* got 'height'"):
        model.parameters("height")
    single = Additive(depth=1, rounds=5).fit(*table())
    with pytest.raises(ValueError, match="a term together"):
        single.parameters("age", "town")


def test_terms_of_four_columns_are_no_tables():
    X, y = table(200)
    X["more"] = X["noise"].abs() + (X["town"] == "Ulm")
    model = Additive(depth=4, rounds=30).fit(X, y)
    assert max(map(len, model.terms_)) == 4
    for refused in (model.importances, model.parameters, model.plot):
        with pytest.raises(ValueError, match=r"at most 3 columns .* Fit the model with depth=3"):
            refused()


def test_a_notebook_shows_the_terms_ranked(fitted):
    model, _, _ = fitted
    html = model._repr_mimebundle_()["text/html"]
    assert "<th>importance</th>" in html and "age × town" in html


def test_digits_are_as_few_as_numbers_stay_different():
    assert distinct_digits(np.array([0.0, 1.23456, 12345.6])) == ["0", "1.23", "12300"]
    assert distinct_digits(np.array([1.0001, 1.0002])) == ["1.0001", "1.0002"]
    assert distinct_digits(np.array([1.5e9, 2e-7])) == ["1.5e9", "2e-7"]


# --- pictures -----------------------------------------------------------------------------------


def test_steps_of_a_column_are_its_parameters(fitted):
    model, _, _ = fitted
    bars, _, band, line, _, point, word = drawn(shape(model, "age"))
    shown = model.parameters("age")
    assert band["cell"].tolist() == [c for c in shown["cell"] if c != "missing"]
    assert_allclose([*band["effect"], *point["effect"]], shown["effect"])
    assert_allclose([*band["rows"], *point["rows"]], shown["weight"])
    assert (band["from"].to_numpy()[1:] == band["to"].to_numpy()[:-1]).all()
    assert line["from"].iloc[-1] == band["to"].iloc[-1]
    assert (bars["bottom"] <= bars["top"]).all()
    assert word["word"].tolist() == ["missing"]


def test_a_band_is_as_wide_as_the_curvature_of_its_rows_says(fitted):
    model, X, _ = fitted
    p = model.predict_proba(X)[:, 1]
    towns = drawn(shape(model, "town"))[0].set_index("cell")
    for town, rows in X.groupby("town").groups.items():
        information = (p[rows] * (1 - p[rows])).sum() + model.fitted_.shrinkage
        half = (towns.loc[town, "high"] - towns.loc[town, "low"]) / 2
        assert half == pytest.approx(1.959964 / np.sqrt(information), rel=1e-6)


def test_several_classes_have_a_color_each(three):
    model, X = three
    lines = next(d for d in drawn(shape(model, "noise"))[2:] if "from" in d)
    assert set(lines["class"]) == {"no", "perhaps", "yes"}
    bars = drawn(shape(model, "town"))[0]
    assert len(bars) == 9
    j = list(X.columns).index("town")
    terms = model.evidence(X).terms[:, :, j]
    ulm = terms[(X["town"] == "Ulm").to_numpy()][0]
    assert_allclose(bars[bars["cell"] == "Ulm"].sort_values("class")["effect"], ulm, atol=1e-12)


def test_many_long_names_are_cut_but_stay_different():
    random = np.random.default_rng(0)
    codes = random.integers(0, 40, 600)
    names = [f"a category with a long name, number {c}" for c in codes]
    y = codes > 20 + 5 * random.normal(size=600)
    model = Additive(rounds=20).fit(pd.DataFrame({"code": names}), y)
    chart = shape(model, "code")
    bars = drawn(chart)[0]
    assert bars["cell"].nunique() == 30 and bars["cell"].str.len().max() <= 24
    assert "10 others are left out" in " ".join(chart.to_dict()["title"]["subtitle"])


def test_a_heat_map_shows_the_table_of_a_pair(fitted):
    model, X, _ = fitted
    cells, _ = drawn(interaction(model, "town", "age"))
    shown = model.parameters("age", "town")
    by_cell = dict(zip(shown["cell"], shown["effect"], strict=True))
    found = {f"{a}, {b}": e for a, b, e in cells[["first", "second", "effect"]].to_numpy()}
    assert found == pytest.approx(by_cell)
    assert cells["rows"].sum() == pytest.approx(len(X))  # of the rows themselves
    assert set(cells["sign"]) == {"for", "against"}
    with pytest.raises(ValueError, match=r"classes \['yes'\] that have a score"):
        interaction(model, "town", "age", of="maybe")


def test_the_picture_of_an_additive_model_is_a_panel(fitted):
    model, _, _ = fitted
    spec = plot(model).to_dict()
    ranked, below = spec["vconcat"]
    assert ranked["title"]["text"] == "Terms that matter most"
    assert 1 <= len(below["concat"]) <= 4
    rows = drawn(importances(model, most=3))[0]
    assert rows["term"].tolist() == model.importances()["term"][:3].tolist()
    assert PALETTE[0] in str(spec)
    with pytest.raises(TypeError, match="Expected a fitted Additive, got GaussianNB"):
        importances(GaussianNB())


def test_a_stored_model_draws_the_same_steps(fitted):
    model, _, _ = fitted
    again = pickle.loads(pickle.dumps(model))
    assert shape(again, "age").to_dict() == shape(model, "age").to_dict()
    cells, _ = drawn(interaction(again, "town", "age"))
    assert cells["rows"].sum() == pytest.approx(400)


# --- reasons ------------------------------------------------------------------------------------


def test_reasons_print_the_weightiest_terms_and_the_sum_of_the_others():
    random = np.random.default_rng(0)
    X = random.normal(size=(80, 40))
    reasons = GaussianNB().fit(X, X[:, 0] > 0).explain(X[:1])
    lines = str(reasons).splitlines()
    assert len(lines) == 3 + SHOWN + 1 + 2  # title, head and prior; posterior and shares
    name, _, total = lines[-3].partition(" others")
    assert int(name) == 40 - SHOWN
    small = np.sort(np.abs(reasons.weights))[: 40 - SHOWN]
    others = reasons.weights[np.abs(reasons.weights) <= small.max()]
    assert float(total.split()[0]) == pytest.approx(others.sum(), abs=0.005)
    assert len(reasons.to_dict()["features"]) == 40


def test_reasons_name_all_terms_where_one_more_takes_no_more_room():
    X = np.random.default_rng(0).normal(size=(80, SHOWN + 1))
    reasons = str(GaussianNB().fit(X, X[:, 0] > 0).explain(X[:1]))
    assert "others" not in reasons
