"""Every family is a distribution: what it says of all cells that there can be sums to one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from posterior import (
    AddedVariance,
    Bernoulli,
    Binned,
    Categorical,
    Gaussian,
    JointBayes,
    Laplace,
    MEstimate,
    Multinomial,
    NaiveBayes,
    Poisson,
    PseudoRows,
    StudentT,
    VarianceFloor,
)

RANDOM = np.random.default_rng(5)
CODES = np.arange(240) % 3
GAPS = RANDOM.random(240) < 0.2
NORMAL = RANDOM.normal(0, 1, 240) + CODES
COLUMNS = {
    "normal": NORMAL,
    "far from zero": 1e8 + NORMAL,
    "tiny": 1e-140 * NORMAL,
    "huge": 1e140 * NORMAL,
    "tied": NORMAL.round(),
    "most of them one number": np.where(CODES == 2, NORMAL.round(1), 0.0),
    "with gaps": np.where(GAPS, np.nan, NORMAL),
    "known in one class only": np.where(CODES == 1, NORMAL, np.nan),
    "heavy tails": RANDOM.standard_cauchy(240) + CODES,
    "two numbers": np.where(CODES == 0, -3.0, 7.0),
}
NUMBERS = [
    Binned(),
    Binned(n_bins=5),
    Binned(Laplace(0.5), n_bins=2, max_values=7),
    Gaussian(),
    Gaussian(AddedVariance(1e-6)),
    Gaussian(VarianceFloor(1e-3), predictive=True),
    Gaussian(PseudoRows(3.0), predictive=True),
    Gaussian(alike=True),
    StudentT(),
]


def of_class(model: Any, X: Any) -> np.ndarray:
    """p(x | k)"""
    return np.exp(model.predict_joint_log_proba(X) - model.class_log_prior_)


def steps(edges: np.ndarray) -> np.ndarray:
    """Both sides of each edge, and the tails beyond."""
    first, last = np.diff(edges)[[0, -1]]
    tail = np.linspace(0, 0.6, 20_001)
    before = np.nextafter(edges, -np.inf)
    return np.r_[edges, before, edges[0] - first * tail, edges[-1] + last * tail]


def around(mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """From the middle of each class far into its tails."""
    return (mean + np.sqrt(variance) * np.sinh(np.linspace(-30, 30, 40_001))[:, None]).ravel()


def area(family: Any, x: np.ndarray) -> np.ndarray:
    model = NaiveBayes(family).fit(x[:, None], CODES)
    p = model.joint_.parameters
    look = steps(p.edges[0]) if isinstance(family, Binned) else around(p.mean.T, p.variance.T)
    X = np.unique(look)
    return np.trapezoid(of_class(model, X[:, None]), X, axis=0)


@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("family", NUMBERS, ids=str)
def test_numbers_have_densities_of_area_one(family, column):
    assert_allclose(area(family, COLUMNS[column]), 1.0, rtol=2e-4)


@pytest.mark.parametrize("predictive", [False, True])
def test_so_have_numbers_of_known_variance(predictive):
    family = Gaussian(variance=2.0, predictive=predictive)
    for column in ("normal", "with gaps", "known in one class only", "two numbers"):
        assert_allclose(area(family, COLUMNS[column]), 1.0, rtol=2e-4)


CATEGORIES = pd.DataFrame(
    {
        "few": RANDOM.choice(["a", "b", "c"], 240),
        "many": RANDOM.integers(0, 40, 240).astype(str),
        "gaps": np.where(GAPS, None, RANDOM.choice(["x", ""], 240)),
        "one": "always",
    }
)
DISCRETE = [Laplace(1.0), Laplace(0.01), MEstimate(3.0), MEstimate(3.0, None)]


@pytest.mark.parametrize("prior", DISCRETE, ids=str)
@pytest.mark.parametrize("column", CATEGORIES)
def test_the_values_that_are_known_have_probabilities_that_sum_to_one(prior, column):
    model = NaiveBayes(Categorical(prior)).fit(CATEGORIES[[column]], CODES)
    values = CATEGORIES[[column]].dropna().drop_duplicates()
    assert_allclose(of_class(model, values).sum(axis=0), 1.0)


@pytest.mark.parametrize("prior", [Laplace(1.0), Laplace(0.01), MEstimate(3.0)], ids=str)
@pytest.mark.parametrize("column", CATEGORIES)
def test_so_do_values_that_are_known_to_be_possible(prior, column):
    values = CATEGORIES[[column]].dropna().drop_duplicates()
    model = NaiveBayes(Categorical(prior, (50,))).fit(CATEGORIES[[column]], CODES)
    never = pd.DataFrame({column: [f"never {i}" for i in range(50 - len(values))]})
    assert_allclose(of_class(model, pd.concat([values, never])).sum(axis=0), 1.0)


def test_rows_of_the_joint_table_have_probabilities_that_sum_to_one():
    rows = CATEGORIES[["few", "many"]]
    model = JointBayes().fit(rows, CODES)
    every = rows[["few"]].drop_duplicates().merge(rows[["many"]].drop_duplicates(), how="cross")
    assert_allclose(of_class(model, every).sum(axis=0), 1.0)


@pytest.mark.parametrize("prior", [*DISCRETE, MEstimate(3.0, 0.9)], ids=str)
def test_yes_and_no_have_probabilities_that_sum_to_one(prior):
    for x in (CODES == 1, NORMAL > 2, np.where(GAPS, np.nan, CODES == 0)):
        model = NaiveBayes(Bernoulli(prior)).fit(x.astype(float)[:, None], CODES)
        assert_allclose(of_class(model, [[0.0], [1.0]]).sum(axis=0), 1.0)


@pytest.mark.parametrize("predictive", [False, True])
@pytest.mark.parametrize("m", [1.0, 0.1, 30.0])
def test_counts_have_probabilities_that_sum_to_one(m, predictive):
    for events in (RANDOM.poisson(1 + 9 * CODES), np.where(CODES == 1, 0, 5)):
        model = NaiveBayes(Poisson(PseudoRows(m), predictive)).fit(events[:, None], CODES)
        assert_allclose(of_class(model, np.arange(2000)[:, None]).sum(axis=0), 1.0)


@pytest.mark.parametrize("predictive", [False, True])
@pytest.mark.parametrize("prior", DISCRETE, ids=str)
def test_documents_of_one_word_have_probabilities_that_sum_to_one(prior, predictive):
    words = RANDOM.poisson(1 + np.eye(3)[CODES] * 3).astype(float)
    model = NaiveBayes(Multinomial(prior, predictive)).fit(words, CODES)
    assert_allclose(of_class(model, np.eye(3)).sum(axis=0), 1.0)
