"""Pictures of several starts, and of two columns of few values."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, PolynomialFeatures

from posterior import TAN, GaussianMixture, GaussianNB, JointBayes, LogisticRegression, Mixture
from posterior.plots import combinations, starts

pytestmark = pytest.mark.once

IRIS = load_iris().data
XOR = pd.DataFrame({"left": [0, 0, 1, 1] * 25, "right": [0, 1] * 50})
PARITY = pd.Series(np.where(XOR.left != XOR.right, "odd", "even"), name="parity")


def written(chart):
    return chart.to_dict(validate=False)


# ---- starts ----


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_every_start_has_its_end_and_the_best_is_marked():
    settings = {"n_init": 12, "init_params": "random_from_data", "random_state": 0}
    model = GaussianMixture(4, reg_covar=0, tol=1e-5, max_iter=40, **settings).fit(IRIS)
    spec = written(starts(model))
    rule, dots = (pd.DataFrame(spec["datasets"][layer["data"]["name"]]) for layer in spec["layer"])
    objective = np.asarray(model.starts_["objective"])
    assert_allclose(dots.objective.fillna(-np.inf).astype(float), objective)
    assert dots.ended[objective.argmax()] == "kept" and (dots.ended == "kept").sum() == 1
    assert set(dots.ended) == {"kept", "converged", "out of steps", "collapsed"}
    assert_allclose(rule.height, model.lower_bound_)
    known = dots.objective.notna()
    assert (dots.height[known] == dots.objective[known]).all()
    assert (dots.height[~known] < dots.height[known].min()).all()
    text = " ".join(spec["title"]["subtitle"])
    assert f"of start {objective.argmax()}" in text and f"{(~known).sum()} collapsed" in text


def test_starts_are_those_of_mixtures_that_were_fitted():
    one = starts(Mixture(n_components=2, random_state=0, n_init=1).fit(IRIS))
    assert "Of 1 starts 1 ended there" in " ".join(written(one)["title"]["subtitle"])
    with pytest.raises(TypeError, match="Expected a mixture, which has starts, got GaussianNB"):
        starts(GaussianNB().fit(IRIS, np.arange(150) % 2))
    with pytest.raises(ValueError, match="Expected starts that ended at a likelihood"):
        starts(GaussianMixture.of([0.5, 0.5], [1, 2], [1, 1]))


# ---- combinations ----


def panels(chart):
    """By name: the table of each, and how it is told."""
    spec = written(chart)
    found = {}
    for panel in spec["concat"]:
        data = panel.get("data") or spec.get("data") or panel["layer"][0]["data"]
        told = panel["title"]["text"]
        found[told] = pd.DataFrame(spec["datasets"][data["name"]])
    return found


def test_the_line_fails_at_the_exclusive_or_where_others_do_not():
    models = {
        "a line": LogisticRegression(C=np.inf),
        "the product": make_pipeline(
            PolynomialFeatures(interaction_only=True), LogisticRegression(C=100)
        ),
        "all of the table": JointBayes(),
        "a tree": make_pipeline(FunctionTransformer(lambda X: X.astype(bool)), TAN()),
    }
    models = {name: model.fit(XOR, PARITY) for name, model in models.items()}
    chart = combinations(models, XOR, PARITY)
    found = panels(chart)
    assert list(found) == [
        "a line: 50 % correct",
        *(f"{name}: 100 % correct" for name in [*models][1:]),
    ]
    for (told, table), model in zip(found.items(), models.values(), strict=True):
        assert len(table) == 4
        rows = table[["x", "y"]].astype(int).set_axis(["left", "right"], axis=1)
        assert_allclose(table.probability, model.predict_proba(rows).max(axis=1))
        undecided = told.startswith("a line")
        odd = np.where(rows.left != rows.right, "odd", "even")
        assert (table.answer == ("undecided" if undecided else odd)).all()
    for panel in written(chart)["concat"]:  # what is undecided has the color of no class
        shade = panel["layer"][0]["encoding"]["fillOpacity"]
        assert shade["condition"] == {"test": "datum.answer === 'undecided'", "value": 0}


def test_words_and_combinations_that_no_row_has():
    frame = pl.DataFrame({"a": ["u", "v", "u", "w"] * 3, "b": [2.0, 10.0, 10.0, 1.5] * 3})
    y = np.array([0, 1, 1, 2] * 3)
    model = JointBayes().fit(frame, y)
    chart = model.plot(frame, y)
    (table,) = panels(chart).values()
    assert set(zip(table.x, table.y, strict=True)) == {
        ("u", "2"), ("v", "10"), ("u", "10"), ("w", "1.5"),
    }  # fmt: skip
    spec = written(chart)
    up = spec["concat"][0]["layer"][0]["encoding"]["y"]["sort"]
    assert up == ["10", "2", "1.5"]  # numbers by their size, from the top
    assert spec["title"]["text"] == "a and b, by class"
    named = frame.with_columns(pl.Series("kind", y))
    assert written(combinations(model, named, "kind"))["title"]["text"] == "a and b, by kind"


def test_combinations_need_two_columns_of_few_values():
    model = JointBayes().fit(XOR, PARITY)
    for X, message in [
        (np.zeros((3, 1)), r"a table of two columns, got shape \(3, 1\)"),
        (XOR[["left"]], r"Expected two columns, got \['left'\]"),
        (np.column_stack([np.arange(20), np.zeros(20)]), "at most 12 different values .* 'x0'"),
    ]:
        with pytest.raises(ValueError, match=message):
            combinations(model, X)
    with pytest.raises(ValueError, match="Expected a model or more, got none"):
        combinations({}, XOR)
    other = JointBayes().fit(XOR, PARITY == "odd")
    with pytest.raises(ValueError, match=r"models of the classes .* in 'other'"):
        combinations({"one": model, "other": other}, XOR)
