"""Kernel densities, against SciPy at the same width, on real columns and hard ones."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from sklearn.datasets import load_iris

from posterior import DegenerateError, Kernel, NaiveBayes, PseudoRows
from posterior.families.kernel import FINE, log_density

BARE = Kernel(PseudoRows(0))


def assert_as_scipy(X, y):
    model = NaiveBayes(BARE).fit(X, y)
    width, terms = model.joint_.parameters.width, model.evidence(X).terms
    for k, label in enumerate(model.classes_):
        for j in range(X.shape[1]):
            x = X[y == label, j]
            if np.ptp(x) == 0:
                continue
            theirs = stats.gaussian_kde(x, width[k, j] / x.std(ddof=1))
            assert_allclose(np.exp(terms[:, k, j]), theirs(X[:, j]), rtol=1e-9, atol=1e-300)


def test_densities_of_iris_are_those_of_scipy():
    assert_as_scipy(*load_iris(return_X_y=True))


def test_densities_of_glass_are_those_of_scipy(shared_data):
    table = pd.read_csv(shared_data / "glass.csv")
    y = table.iloc[:, -1].to_numpy()
    X = table.select_dtypes("number").to_numpy(float)[:, :4]
    assert_as_scipy(X[:, [0, 1, 3]], y)


def test_the_width_is_that_of_the_normal_reference_rule():
    X, y = load_iris(return_X_y=True)
    width = NaiveBayes(BARE).fit(X, y).joint_.parameters.width
    expected = [1.06 * X[y == k].std(axis=0) * 50**-0.2 for k in range(3)]
    assert_allclose(width, expected, rtol=1e-12)


def test_pseudo_rows_lie_where_the_rows_of_all_classes_do():
    X, y = np.array([[0.0], [1.0], [2.0], [10.0]]), np.array([0, 0, 0, 1])
    model = NaiveBayes(Kernel(PseudoRows(2.0))).fit(X, y)
    weight = np.array([0.5, 0.5, 0.5, 1.5])  # of class 1, of three rows
    mean = weight @ X[:, 0] / 3
    width = 1.06 * np.sqrt(weight @ (X[:, 0] - mean) ** 2 / 3) * 3**-0.2
    p = (weight * stats.norm.pdf(4.0, X[:, 0], width)).sum() / 3
    assert_allclose(model.evidence([[4.0]]).terms[0, 1, 0], np.log(p), rtol=1e-12)


def test_nodes_are_as_near_as_they_say():
    """To 1 / (8 · 8²) of a kernel's height, which is that of its chord."""
    random = np.random.default_rng(0)
    x = np.r_[random.normal(0, 1, 2000), random.normal(6, 0.3, 1000)]
    model = NaiveBayes(BARE).fit(x[:, None], np.zeros(len(x)))
    width = float(model.joint_.parameters.width[0, 0])
    grid = np.linspace(-5, 9, 501)
    exact = np.exp(log_density(grid, np.sort(x), np.ones(len(x)), width))
    ours = np.exp(model.evidence(grid[:, None]).terms[:, 0, 0])
    assert np.abs(ours - exact).max() <= stats.norm.pdf(0) / width / (8 * FINE**2)
    assert np.abs(ours - exact).max() > 0  # nodes, not values


def test_columns_of_two_heaps_are_learned_better_than_by_one_normal():
    random = np.random.default_rng(0)
    y = np.arange(600) % 2
    x = np.where(y == 0, random.normal(0, 1, 600), random.choice([-4, 4], 600))
    X = (x + random.normal(0, 0.5, 600))[:, None]
    kernel, normal = (NaiveBayes(f).cross_validate(X, y).log_loss for f in ("kernel", "gaussian"))
    assert kernel < 0.7 * normal


def test_many_values_are_kept_in_cells():
    random = np.random.default_rng(0)
    X, y = random.normal(1e3, 1, (5000, 1)), np.arange(5000) % 2
    few, many = (NaiveBayes(Kernel(max_values=m)).fit(X, y) for m in (500, 10_000))
    assert len(few.joint_.parameters.values[0]) <= 500
    assert_allclose(few.predict_proba(X), many.predict_proba(X), atol=0.02)


def test_a_class_of_one_value_needs_a_prior():
    x, y = np.array([[2.0], [2.0], [1.0], [5.0]]), [0, 0, 1, 1]
    with pytest.raises(DegenerateError, match="class 0"):
        NaiveBayes(BARE).fit(x, y).predict(x)
    assert NaiveBayes(Kernel()).fit(x, y).predict([[2.0]]).tolist() == [0]
