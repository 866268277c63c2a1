"""Sizes that spread by factors, against SciPy and the normal of their logarithms."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose
from scipy import stats

from posterior import Gaussian, LogNormal, NaiveBayes, PseudoRows

RANDOM = np.random.default_rng(0)
Y = np.arange(300) % 3
X = np.exp(RANDOM.normal(Y[:, None], [0.5, 1.5], (300, 2)))


def test_without_a_prior_parameters_are_those_of_scipy():
    p = NaiveBayes(LogNormal(PseudoRows(0))).fit(X, Y).joint_.parameters
    for k in range(3):
        deviation, _, scale = stats.lognorm.fit(X[Y == k, 0], floc=0)
        assert_allclose([p.mean[k, 0], p.variance[k, 0]], [np.log(scale), deviation**2], rtol=1e-6)


def test_the_density_is_that_of_scipy():
    model = NaiveBayes(LogNormal()).fit(X, Y)
    p = model.joint_.parameters
    expected = stats.lognorm.logpdf(X[:, None, :], np.sqrt(p.variance), scale=np.exp(p.mean))
    assert_allclose(model.evidence(X).terms, expected, rtol=1e-10, atol=1e-10)


def test_posteriors_are_those_of_the_normal_of_logarithms():
    """The slope of the logarithm is the same for all classes."""
    for settings in ({}, {"predictive": True}):
        ours = NaiveBayes(LogNormal(), **settings).fit(X, Y)
        logs = NaiveBayes(Gaussian(), **settings).fit(np.log(X), Y)
        assert_allclose(ours.predict_proba(X), logs.predict_proba(np.log(X)), rtol=1e-12)
        held_out = (m.leave_one_out(x, Y).log_proba for m, x in ((ours, X), (logs, np.log(X))))
        assert_allclose(*held_out, rtol=1e-9, atol=1e-12)


def test_units_change_nothing():
    a, b = NaiveBayes(LogNormal()).fit(X, Y), NaiveBayes(LogNormal()).fit(1e6 * X, Y)
    assert_allclose(b.predict_proba(1e6 * X), a.predict_proba(X), rtol=1e-9)


def test_samples_have_the_quantiles_of_the_rows():
    drawn, _ = NaiveBayes(LogNormal()).fit(X, np.zeros(300)).sample(20_000, random_state=0)
    quantiles = np.quantile(np.log(drawn), [0.1, 0.5, 0.9], axis=0)
    normal = stats.norm.ppf([0.1, 0.5, 0.9])[:, None]
    expected = np.log(X).mean(axis=0) + np.log(X).std(axis=0) * normal
    assert_allclose(quantiles, expected, atol=0.06)
