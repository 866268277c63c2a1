"""Pictures of results: what their charts hold, and that each can be drawn."""

from __future__ import annotations

import json
from functools import cache

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.exceptions import NotFittedError

import posterior
from posterior import (
    GaussianMixture,
    GaussianNB,
    KMeans,
    KNeighborsClassifier,
    LogisticRegression,
    MultinomialNB,
)
from posterior.datasets import fish
from posterior.plots import (
    comparison,
    confidence,
    confusion,
    distribution,
    evidence,
    learning_curve,
    plot,
    precision_recall,
    regions,
    reliability,
    roc,
    shares,
    waterfall,
)
from posterior.plots.look import PALETTE

pytestmark = pytest.mark.once

BREAKOUT = "</script><script>alert('1')\"\n\\\" + datum + \\</script>"
LETTERS = [chr(ord("A") + i) for i in range(26)]
KINDS = [
    "comparison",
    "confidence",
    "confusion",
    "distribution",
    "evidence",
    "learning_curve",
    "precision_recall",
    "regions",
    "reliability",
    "roc",
    "shares",
    "waterfall",
]
UNIT = ([0, 0.1, 1], [0, 0.9, 1])


def tables(chart):
    """The data of the chart's layers."""
    spec = chart.to_dict()
    names = [layer.get("data", spec.get("data"))["name"] for layer in spec["layer"]]
    return [pd.DataFrame(spec["datasets"][name]) for name in names]


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(120, 15)), columns=[f"x{j}" for j in range(15)])
    y = np.array(["a", "b"])[np.arange(120) % 2]
    X["x3"] += 2 * (y == "b")
    return X, y


@cache
def charts(name=BREAKOUT):
    """One of every kind, with a name wherever a name can stand."""
    explanation = GaussianNB().fit([[0.0], [1], [4], [5]], [name] * 2 + ["b"] * 2).explain([[1.0]])
    return {
        "comparison": comparison([name, "b"], [0.1, 0.2], [0.01, np.nan], chosen=name, limit=0.11),
        "confusion": confusion([[5, 1], [0, 0]], [name, "b"], target=name),
        "distribution": distribution(
            name, [name, "b"], [0, 1, 2], [[3, 1], [0, 4]], [0, 2], [[0.5, 0.1], [0.1, np.inf]]
        ),
        "evidence": evidence([name, "b"], [1.5, 0.5]),
        "learning_curve": learning_curve({name: ([10, 100], [0.5, 0.1], [0.1, np.nan])}, name),
        "precision_recall": precision_recall({name: UNIT}),
        "confidence": confidence([0, 3, 7, 0]),
        "regions": regions(
            [0, 1], [5, 6], [[0, 1], [1, 1]], [[0.9] * 2] * 2, [name, "b"], (name, "y")
        ),
        "reliability": reliability([0.1, 0.9], [0.2, np.nan], [10, 0], [0.1, 0], [0.4, 1]),
        "roc": roc({name: UNIT, "b": UNIT}, target=name),
        "shares": shares(name, [name, "b"], [name, "v"], [[1, 2], [3, 4]], target=name),
        "waterfall": waterfall(explanation),
    }


# ---- every picture ----


@pytest.mark.parametrize("kind", KINDS)
def test_a_picture_is_valid_and_can_be_drawn_with_any_name(kind):
    vl_convert = pytest.importorskip("vl_convert")
    chart = charts()[kind]
    svg = vl_convert.vegalite_to_svg(json.dumps(chart.to_dict(validate=True)))
    assert svg.startswith("<svg") and "<script" not in svg
    assert "NaN" not in svg and "undefined" not in svg


@pytest.mark.parametrize("kind", KINDS)
def test_a_picture_has_a_title(kind):
    assert charts("plain")[kind].to_dict()["title"]["text"]


def test_no_kind_is_forgotten():
    assert sorted(charts("plain")) == KINDS


# ---- one by one ----


def test_bins_without_rows_are_left_out_of_a_reliability_diagram():
    dots = tables(reliability([0.2, 0.5, 0.9], [0.1, np.nan, 0.95], [30, 0, 70]))[-1]
    assert dots["rows"].tolist() == [30, 70]
    with pytest.raises(ValueError, match="Expected bins that hold rows, got none"):
        reliability([0.5], [0.5], [0])


def test_colors_of_a_confusion_matrix_are_shares_of_the_true_class():
    cells = tables(confusion([[8, 2], [0, 0]], ["a", "b"]))[0].set_index(["true", "predicted"])
    assert cells["share"].to_dict() == {
        ("a", "a"): 0.8,
        ("a", "b"): 0.2,
        ("b", "a"): 0.0,
        ("b", "b"): 0.0,
    }


def test_many_classes_have_a_confusion_matrix_without_numbers_and_without_empty_cells():
    (cells,) = tables(confusion(np.eye(26) * 7, LETTERS))
    assert len(cells) == 26
    assert len(tables(confusion(np.eye(3), LETTERS[:3]))) == 2


def test_a_comparison_shows_one_standard_error_and_the_choice():
    *_, dots = tables(comparison(["a", "b"], [0.25, 0.5], [0.125, np.inf], chosen="b"))
    assert dots["low"].tolist()[0] == 0.125 and dots["high"].tolist()[0] == 0.375
    assert dots["chosen"].tolist() == [False, True]


def test_evidence_is_sorted_and_the_smallest_are_left_out():
    chart = evidence([f"x{j}" for j in range(40)], np.arange(40))
    (bars,) = tables(chart)
    assert bars["feature"].tolist() == [f"x{j}" for j in range(39, 14, -1)]
    assert "15 smaller ones are left out" in " ".join(chart.to_dict()["title"]["subtitle"])


def test_histogram_bars_of_all_classes_have_area_one():
    bars = tables(distribution("x", ["a", "b"], [0, 1, 3], [[3, 1], [0, 4]]))[0]
    assert_allclose((bars["height"] * (bars["to"] - bars["from"])).sum(), 1)
    assert len(bars) == 3  # empty bins are not drawn


def test_more_classes_than_colors_become_a_heat_map():
    for chart in (
        distribution("x", LETTERS, [0, 1, 2], np.ones((26, 2))),
        shares("x", LETTERS, ["u", "v"], np.ones((26, 2))),
    ):
        spec = chart.to_dict()
        assert spec["layer"][0]["mark"]["type"] == "rect"
        assert_allclose(tables(chart)[0]["share"], 0.5)


def test_shares_add_up_within_a_class_and_rare_values_are_left_out():
    counts = np.arange(1, 41).reshape(2, 20)
    chart = shares("x", ["a", "b"], [f"v{i}" for i in range(20)], counts)
    dots = tables(chart)[0]
    assert dots["value"].nunique() == 12 and "v0" not in set(dots["value"])
    whole = tables(shares("x", ["a", "b"], ["u", "v"], [[1, 3], [2, 2]]))[0]
    assert_allclose(whole.groupby("class")["share"].sum(), 1)


def test_regions_draw_at_most_as_many_classes_as_there_are_colors():
    codes = np.arange(26).reshape(2, 13)
    chart = regions(np.arange(13), [0, 1], codes, np.full((2, 13), 0.5), LETTERS)
    cells = tables(chart)[0]
    assert cells["class"].nunique() == len(PALETTE) and "others" in set(cells["class"])
    assert cells["label"].nunique() == 26


def test_cells_of_regions_touch_and_hold_their_centers():
    sure = [[1, 0.9, 0.8]] * 2
    cells = tables(regions([0, 2, 4], [1, 2], [[0, 0, 0]] * 2, sure, ["a"]))[0]
    assert cells["x"].tolist()[:3] == [-1, 1, 3] and cells["x2"].tolist()[:3] == [1, 3, 5]
    assert set(cells["y"]) == {0.5, 1.5} and set(cells["y2"]) == {1.5, 2.5}


def test_cells_that_look_the_same_are_drawn_as_one():
    sure = [[0.9, 0.9, 0.901, 0.9], [0.9, 0.5, 0.9, 0.9]]
    cells = tables(regions([0, 1, 2, 3], [1, 2], [[0, 0, 0, 1]] * 2, sure, ["a", "b"]))[0]
    assert cells["x"].tolist() == [-0.5, 2.5, -0.5, 0.5, 1.5, 2.5]
    assert cells["x2"].tolist() == [2.5, 3.5, 0.5, 1.5, 2.5, 3.5]


def test_a_waterfall_runs_from_the_prior_to_the_posterior(rows):
    X, y = rows
    explanation = GaussianNB().fit(X, y).explain(X[:1])
    bars = tables(waterfall(explanation))[0]
    assert len(bars) == 14 and bars["name"].iloc[-2] == "4 others"
    assert_allclose(bars["to"].iloc[-2], explanation.log_odds)
    assert_allclose(bars["to"].iloc[-1], explanation.log_odds)
    assert_allclose(bars["from"].iloc[2:-1], bars["to"].iloc[1:-2])
    assert bars["name"].iloc[1].startswith("x")


def test_shares_are_drawn_between_nothing_and_all():
    chart = learning_curve({"a": ([10, 100], [0.01, 0.99], [0.1, 0.1])}, "accuracy", percent=True)
    assert chart.to_dict()["layer"][1]["encoding"]["y"]["scale"]["domain"] == [0, 1]
    narrow = learning_curve({"a": ([10, 100], [0.5, 0.6], [0.0, 0.0])}, "accuracy", percent=True)
    low, high = narrow.to_dict()["layer"][1]["encoding"]["y"]["scale"]["domain"]
    assert 0.45 < low < 0.5 and 0.6 < high < 0.65


def test_learning_curves_need_a_finite_score():
    with pytest.raises(ValueError, match="Expected finite scores, got none"):
        learning_curve({"a": ([10], [np.nan], [0.1])})
    with pytest.raises(ValueError, match="Expected a curve or more, got none"):
        learning_curve({})


@pytest.mark.parametrize(
    "draw",
    [
        lambda: confusion([[1, 2, 3]], ["a", "b"]),
        lambda: evidence(["a"], [1, 2]),
        lambda: roc({"a": ([0, 1], [0])}),
        lambda: regions([0, 1], [0], [[0]], [[1]], ["a"]),
        lambda: distribution("x", ["a"], [0, 1], [[1, 2]]),
    ],
)
def test_numbers_of_the_wrong_shape_are_refused(draw):
    with pytest.raises(ValueError, match=r"Expected .* of shape \(.*, got shape"):
        draw()


@pytest.mark.parametrize("draw", [roc, precision_recall])
def test_a_ranking_of_no_class_is_refused(draw):
    with pytest.raises(ValueError, match="Expected a curve or more, got none"):
        draw({})


def test_a_name_that_comes_twice_is_refused():
    with pytest.raises(ValueError, match="Expected different names, got 'a' twice"):
        evidence(["a", "a"], [1, 2])


def test_numbers_that_are_not_finite_are_refused():
    with pytest.raises(ValueError, match="Expected finite values, got nan"):
        comparison(["a"], [np.nan], [0.1])


# ---- the picture of a model ----


def test_every_kind_of_model_has_its_picture(rows):
    X, y = rows
    some = X[["x3", "x4"]]
    assert "x3" in str(plot(LogisticRegression().fit(some, y)).to_dict())
    assert "x3, by class" in str(plot(GaussianNB().fit(some, y), some, y, feature="x3").to_dict())
    assert "components" in str(plot(GaussianMixture(2).fit(some), some).to_dict()["title"])
    neighbors = KNeighborsClassifier(n_neighbors="auto").fit(some, y)
    assert "neighbors" in str(plot(neighbors).to_dict()["title"])


def test_coefficients_of_several_classes_are_told_apart(rows):
    X, _ = rows
    model = LogisticRegression().fit(X[["x3"]], np.arange(120) % 3)
    names = {row["name"] for t in tables(plot(model))[1:] for row in t.to_dict("records")}
    assert names == {"x3, 0", "x3, 1", "x3, 2"}


def test_a_model_that_needs_rows_says_so():
    X, y = fish(50)
    with pytest.raises(ValueError, match=r"Call plot\(model, X, y\)"):
        plot(posterior.NaiveBayes(posterior.StudentT()).fit(X, y))
    with pytest.raises(ValueError, match=r"beside what KMeans .* Call plot\(model, X\)"):
        plot(KMeans(2, random_state=0).fit(X))
    with pytest.raises(TypeError, match="KNeighborsClassifier, which has no picture of its own"):
        plot(KNeighborsClassifier(1).fit(X, y), X, y)
    with pytest.raises(NotFittedError):
        plot(GaussianNB())


# ---- notebooks ----


def test_a_model_in_a_notebook_shows_what_it_learned():
    frame = pd.DataFrame({BREAKOUT: [1.0, 2, 3, 5]})
    model = GaussianNB()
    before = model._repr_html_()
    model.fit(frame, [BREAKOUT, BREAKOUT, "b", "b"])
    after = model._repr_html_()
    assert "posterior-learned" not in before and "posterior-learned" in after
    assert "1 column; 2 classes" in after and "variance" in after
    assert BREAKOUT not in after and "<script>alert" not in after
    assert model._repr_mimebundle_()["text/html"].endswith("</table></div>")


def test_a_model_of_many_columns_is_shown_without_its_parameters():
    model = MultinomialNB().fit(np.eye(1_500, dtype=int), np.arange(1_500) % 2)
    assert "1,500 columns; 2 classes: 0, 1.</p></div>" in model._repr_html_()
