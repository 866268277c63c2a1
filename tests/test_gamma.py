"""Amounts and durations, against SciPy's fit and the equation of the most probable shape."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import special, stats

from posterior import DegenerateError, DegenerateWarning, Gamma, NaiveBayes, PseudoRows
from posterior.families.gamma import shape_of

RANDOM = np.random.default_rng(0)
Y = np.arange(300) % 3
X = np.column_stack([RANDOM.gamma(0.5 + Y, 2.0), RANDOM.gamma(40.0, 1.0 + Y)])


def test_without_a_prior_parameters_are_those_of_scipy():
    p = NaiveBayes(Gamma(PseudoRows(0))).fit(X, Y).joint_.parameters
    for k in range(3):
        for j in range(2):
            shape, _, scale = stats.gamma.fit(X[Y == k, j], floc=0)
            assert_allclose([p.shape[k, j], p.rate[k, j]], [shape, 1 / scale], rtol=1e-8)


def test_the_density_is_that_of_scipy():
    model = NaiveBayes(Gamma()).fit(X, Y)
    p = model.joint_.parameters
    expected = stats.gamma.logpdf(X[:, None, :], p.shape, scale=1 / p.rate)
    assert_allclose(model.evidence(X).terms, expected, rtol=1e-10, atol=1e-10)


def test_the_shape_solves_its_equation_at_any_size():
    shape = 10.0 ** np.arange(-2, 7.5, 0.25)
    gap = np.where(
        shape > 1e3,
        1 / (2 * shape) + 1 / (12 * shape**2) - 1 / (120 * shape**4),
        np.log(shape) - special.psi(shape),
    )
    assert_allclose(shape_of(gap), shape, rtol=1e-9)


def test_units_change_nothing():
    a, b = NaiveBayes(Gamma()).fit(X, Y), NaiveBayes(Gamma()).fit(X / 4096, Y)
    assert_allclose(b.predict_proba(X / 4096), a.predict_proba(X), rtol=1e-9)


def test_intervals_hold_the_truth_as_often_as_they_say():
    held = np.zeros(2)
    for seed in range(300):
        x = np.random.default_rng(seed).gamma(2.0, 1 / 3.0, (80, 1))
        lines = NaiveBayes(Gamma(PseudoRows(0))).fit(x, np.zeros(80)).parameters(0.9)
        truth = np.array([2.0, 3.0])
        held += (lines["low"] <= truth) & (truth <= lines["high"])
    assert ((held / 300 > 0.85) & (held / 300 < 0.95)).all()


def test_a_class_of_one_amount_needs_a_prior():
    x, y = np.array([[2.0], [2.0], [1.0], [5.0]]), [0, 0, 1, 1]
    with pytest.raises(DegenerateError, match="class 0"):
        NaiveBayes(Gamma(PseudoRows(0))).fit(x, y).predict(x)
    assert NaiveBayes(Gamma()).fit(x, y).predict([[2.0]]).tolist() == [0]


def test_a_constant_column_is_named_and_says_nothing():
    x = np.column_stack([X[:, 0], np.full(300, 7.0)])
    with pytest.warns(DegenerateWarning, match="1 never vary"):
        two = NaiveBayes(Gamma()).fit(x, Y)
    one = NaiveBayes(Gamma()).fit(X[:, :1], Y)
    assert_allclose(two.predict_proba(x), one.predict_proba(X[:, :1]), rtol=1e-12)
