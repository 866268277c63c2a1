"""Waiting times, against SciPy and the algebra of their conjugate prior."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from posterior import DegenerateError, Exponential, NaiveBayes, PseudoRows

RANDOM = np.random.default_rng(0)
Y = np.arange(300) % 3
X = np.column_stack([RANDOM.exponential(1.0 + Y), RANDOM.exponential(3.0 - Y)])


def test_without_a_prior_rates_are_those_of_scipy():
    rate = NaiveBayes(Exponential(PseudoRows(0))).fit(X, Y).joint_.parameters.rate
    for k in range(3):
        for j in range(2):
            _, scale = stats.expon.fit(X[Y == k, j], floc=0)
            assert_allclose(rate[k, j], 1 / scale, rtol=1e-12)


def test_the_density_is_that_of_scipy():
    model = NaiveBayes(Exponential()).fit(X, Y)
    rate = model.joint_.parameters.rate
    expected = stats.expon.logpdf(X[:, None, :], scale=1 / rate)
    assert_allclose(model.evidence(X).terms, expected, rtol=1e-12, atol=1e-12)


def test_the_predictive_density_is_lomax():
    model = NaiveBayes(Exponential(PseudoRows(2.0)), predictive=True).fit(X, Y)
    weight = np.bincount(Y)[:, None] + 2.0
    time = np.stack([X[Y == k].sum(axis=0) for k in range(3)]) + 2.0 * X.mean(axis=0)
    expected = stats.lomax.logpdf(X[:, None, :], weight, scale=time)
    assert_allclose(model.evidence(X).terms, expected, rtol=1e-11, atol=1e-11)


def test_intervals_hold_the_true_rate_as_often_as_they_say():
    truth, held = 0.7, 0
    for seed in range(300):
        x = np.random.default_rng(seed).exponential(1 / truth, (40, 1))
        lines = NaiveBayes(Exponential(PseudoRows(0))).fit(x, np.zeros(40)).parameters(0.9)
        held += lines["low"][0] <= truth <= lines["high"][0]
    assert 0.86 < held / 300 < 0.94


def test_a_class_that_never_waits_needs_a_prior():
    x, y = np.array([[0.0], [0.0], [1.0], [2.0]]), [0, 0, 1, 1]
    with pytest.raises(DegenerateError, match="class 0"):
        NaiveBayes(Exponential(PseudoRows(0))).fit(x, y).predict(x)
    assert NaiveBayes(Exponential()).fit(x, y).predict([[0.0], [2.0]]).tolist() == [0, 1]


def test_a_column_of_zeros_says_nothing():
    x = np.column_stack([X[:, 0], np.zeros(300)])
    one, two = NaiveBayes(Exponential()).fit(X[:, :1], Y), NaiveBayes(Exponential()).fit(x, Y)
    assert_allclose(two.predict_proba(x), one.predict_proba(X[:, :1]), rtol=1e-12)
