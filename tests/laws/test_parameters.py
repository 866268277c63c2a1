"""The parameters that are shown are those that the model answers with."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import Any

import numpy as np
import pandas as pd
import pytest
from everyone import EVERYONE, every
from numpy.testing import assert_allclose
from scipy import stats

from posterior import (
    AODE,
    KDB,
    TAN,
    AddedVariance,
    BackOff,
    Bernoulli,
    Binned,
    Categorical,
    Gaussian,
    GaussianDiscriminantAnalysis,
    GaussianMixture,
    Laplace,
    LinearDiscriminantAnalysis,
    MEstimate,
    Mixture,
    Multinomial,
    NaiveBayes,
    Poisson,
    PseudoRows,
    StudentT,
    VarianceFloor,
)

pytestmark = pytest.mark.filterwarnings("ignore::posterior.DegenerateWarning")
TABLES = {subject.reads: subject for subject in EVERYONE}


def parameters_of(model: Any) -> dict[Any, dict[str, np.ndarray]]:
    """What is shown, by column and parameter, one value a class."""
    table, found = model.parameters(), defaultdict(lambda: defaultdict(list))
    for feature, parameter, value in zip(
        table["feature"], table["parameter"], table["value"], strict=True
    ):
        found[feature][parameter].append(value)
    return {f: {p: np.array(v) for p, v in each.items()} for f, each in found.items()}


def log_density(x: Any, shown: dict[str, np.ndarray]) -> np.ndarray:
    """log p(x | k) of one cell, by textbook densities of the numbers shown."""
    if "rate" in shown:
        return stats.poisson(shown["rate"]).logpmf(x)
    if "scale" in shown:
        return stats.t(shown["freedom"], shown["mean"], shown["scale"]).logpdf(x)
    if "freedom" in shown:
        n = shown["freedom"]
        return stats.t(n, shown["mean"], np.sqrt(shown["variance"] * (n + 1) / n)).logpdf(x)
    if "variance" in shown:
        return stats.norm(shown["mean"], np.sqrt(shown["variance"])).logpdf(x)
    if "weight" in shown:
        return x * shown["weight"]
    return np.log(shown[f"P({x})"])


def of_truth(x: float, shown: dict[str, np.ndarray]) -> np.ndarray:
    return np.log(shown["probability"] if x else 1 - shown["probability"])


def of_words(x: float, shown: dict[str, np.ndarray]) -> np.ndarray:
    return x * np.log(shown["probability"])


def agrees(model: Any, X: Any, rows: list[list[Any]], density: Any = log_density) -> None:
    """Whether answers are Bayes' rule of the numbers shown; cells that are None are missing."""
    shown = parameters_of(model)
    columns = list(shown.values())
    log_prior = model.evidence(X[:1]).log_prior
    terms = [[density(x, columns[j]) for j, x in enumerate(row) if x is not None] for row in rows]
    log_joint = log_prior + np.array([np.sum(each, axis=0) for each in terms])
    expected = log_joint - np.logaddexp.reduce(log_joint, axis=1, keepdims=True)
    assert_allclose(model.predict_log_proba(X), expected, rtol=1e-7, atol=1e-9)


def one_cell_each(X: np.ndarray) -> tuple[np.ndarray, list[list[Any]]]:
    """Rows of which one cell is known, as a table and as lists."""
    n, d = X.shape
    known = np.arange(n)[:, None] % d == np.arange(d)
    rows = [
        [x if k else None for x, k in zip(*pair, strict=True)]
        for pair in zip(X, known, strict=True)
    ]
    return np.where(known, X, np.nan), rows


def words(X: np.ndarray) -> pd.DataFrame:
    """Categories as text."""
    return pd.DataFrame({f"c{j}": X[:, j].astype(str) for j in range(X.shape[1])}, dtype="object")


def table(reads: str, n: int = 60) -> tuple[Any, np.ndarray]:
    X, y = TABLES[reads].table(np.random.default_rng(3), n)
    return X, np.array(["no", "yes"])[y]


@every(
    lambda subject: subject.has("parameters"),
    but={
        "Additive": "its parameters are effects of cells: see test_additive_shown.py",
        "TextClassifier": '"auto" may choose coefficients; test_text_classifier has naive Bayes',
    },
)
def test_the_parameters_shown_are_those_that_answer(subject):
    X, y = table(subject.reads)
    if subject.name in ("AODE", "KDB", "TAN"):  # a cell alone is the one that stands for itself
        cells, rows = one_cell_each(X.astype(object))
        rows = [[None if x is None else str(x) for x in row] for row in rows]
        return agrees(subject.fit(words(X), y), words(cells).where(cells == cells, None), rows)
    model = subject.fit(X, y)
    if subject.name == "JointBayes":
        rows = [[json.dumps([str(x) for x in row])] for row in X.tolist()]
        return agrees(model, X, rows)
    if subject.reads == "numbers":
        return agrees(model, *one_cell_each(X))
    density = {"BernoulliNB": of_truth, "MultinomialNB": of_words}.get(subject.name, log_density)
    return agrees(model, X, X.tolist(), density)


NUMBERS = [
    Gaussian(prior, predictive, alike, variance)
    for prior in (PseudoRows(2.5), PseudoRows(0.0), VarianceFloor(0.1), AddedVariance(0.5))
    for predictive, alike, variance in (
        (False, False, None),
        (True, False, None),
        (False, True, None),
        (True, True, None),
        (False, False, 4.0),
    )
] + [StudentT(), StudentT(PseudoRows(5.0))]


@pytest.mark.parametrize("family", NUMBERS, ids=str)
@pytest.mark.parametrize("kind", [NaiveBayes, Mixture])
def test_settings_of_numbers_show_in_the_parameters(kind, family):
    X, y = table("numbers")
    settings = {"random_state": 0, "max_iter": 20, "tol": 0.1} if kind is Mixture else {}
    model = kind(family, **settings).fit(X, y)
    agrees(model, X, X.tolist())


DISCRETE = [
    (Categorical(prior), "categories", log_density)
    for prior in (Laplace(0.5), MEstimate(3.0), MEstimate(3.0, None))
]
DISCRETE += [(Categorical(Laplace(0.5), (9, 9, 9)), "categories", log_density)]
DISCRETE += [(Categorical(MEstimate(2.0), (9, 9, 9)), "categories", log_density)]
DISCRETE += [
    (Bernoulli(prior), "truths", of_truth)
    for prior in (Laplace(0.5), MEstimate(3.0), MEstimate(3.0, None))
]
DISCRETE += [
    (Multinomial(prior), "counts", of_words)
    for prior in (Laplace(0.5), MEstimate(3.0), MEstimate(3.0, None))
]
DISCRETE += [(Poisson(PseudoRows(4.0)), "counts", log_density)]


@pytest.mark.parametrize(
    ("family", "reads", "density"),
    DISCRETE,
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_settings_of_counts_and_categories_show_in_the_parameters(family, reads, density):
    X, y = table(reads)
    X = words(X) if reads == "categories" else X
    agrees(NaiveBayes(family).fit(X, y), X, np.asarray(X).tolist(), density)


@pytest.mark.parametrize("smoothing", [BackOff(3.0), Laplace(0.5), MEstimate(2.0)], ids=str)
@pytest.mark.parametrize("kind", [AODE, TAN, KDB])
def test_smoothing_shows_in_the_parameters(kind, smoothing):
    X, y = table("categories")
    cells, rows = one_cell_each(X.astype(object))
    model = kind(smoothing=smoothing).fit(words(X), y)
    rows = [[None if x is None else str(x) for x in row] for row in rows]
    agrees(model, words(cells).where(cells == cells, None), rows)


@pytest.mark.parametrize(
    "model",
    [
        GaussianDiscriminantAnalysis("own", shrinkage=0.3),
        GaussianDiscriminantAnalysis("shared", pseudo_rows=3.0),
        GaussianDiscriminantAnalysis("diagonal"),
        GaussianDiscriminantAnalysis("spherical", pseudo_rows=3.0),
        LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto"),
        LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.4),
        *(
            GaussianMixture(2, covariance_type=kind, prior_rows=rows, random_state=0)
            for kind in ("full", "tied", "diag", "spherical")
            for rows in (None, 3.0)
        ),
    ],
    ids=str,
)
def test_settings_of_normal_columns_show_in_the_parameters(model):
    X, y = table("numbers")
    agrees(model.fit(X, y), *one_cell_each(X))


def of_bin(x: float, shown: dict[str, np.ndarray]) -> np.ndarray:
    """Widths of bins are the same for all classes."""
    ends = [name[3:-2].replace("∞", "inf").split(", ") for name in shown]
    (bin_,) = (i for i, (low, high) in enumerate(ends) if float(low) <= x < float(high))
    return np.log(list(shown.values())[bin_])


def test_bins_show_their_shares():
    X, y = table("numbers", 400)
    X = X.round(1)  # so that no number lies between a cut and the digits shown of it
    model = NaiveBayes(Binned(MEstimate(3.0), n_bins=4)).fit(X, y)
    agrees(model, X, X.tolist(), of_bin)


def test_a_known_variance_is_shown_and_certain():
    X, y = table("numbers")
    shown = NaiveBayes(Gaussian(variance=4.0)).fit(X, y).parameters()
    known = shown["parameter"] == "variance"
    for name in ("value", "low", "high"):
        assert (shown[name][known] == 4.0).all()
    n = np.sort(np.unique(y, return_counts=True)[1]) + 1  # the prior's row too
    width = (shown["high"] - shown["low"])[~known]
    assert_allclose(np.unique(width.round(9)), np.sort(2 * 1.959963984540054 * 2 / np.sqrt(n)))


def test_a_mean_is_integrated_out_where_the_variance_is_known():
    X, y = np.array([[1.0], [3.0], [8.0], [9.0], [10.0]]), np.array([0, 0, 1, 1, 1])
    model = NaiveBayes(Gaussian(PseudoRows(0.0), predictive=True, variance=4.0)).fit(X, y)
    means, n = np.array([2.0, 9.0]), np.array([2, 3])
    expected = stats.norm(means, np.sqrt(4 * (1 + 1 / n))).logpdf(X) + np.log(n / 5)
    expected -= np.logaddexp.reduce(expected, axis=1, keepdims=True)
    assert_allclose(model.predict_log_proba(X), expected, rtol=1e-9)
