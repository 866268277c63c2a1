"""Digits, threads and memory: what does not depend on the size or the place of the numbers."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

import posterior
from posterior import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    Gaussian,
    GaussianNB,
    MultinomialNB,
    NaiveBayes,
    PoissonNB,
)


def exact_variance(column) -> float:
    """Σ(x - mean)² / n in fractions, rounded once."""
    cells = [Fraction(float(v)) for v in column]
    mean = sum(cells) / len(cells)
    return float(sum((c - mean) ** 2 for c in cells) / len(cells))


def exact_mean(column) -> float:
    return float(sum(Fraction(float(v)) for v in column) / len(column))


@pytest.mark.parametrize("mean", [0.0, 1e8, -1e8, 1e12, 2.0**52])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_variances_are_exact_wherever_the_mean_is(mean, dtype):
    X = (mean + np.random.default_rng(0).normal(size=(500, 3))).astype(dtype)
    model = GaussianNB(var_smoothing=0).fit(X, np.zeros(500))
    expected = [exact_variance(column) for column in X.T]
    # w q - s² is formed without loss, then rounded and divided
    assert_allclose(model.var_[0], expected, rtol=1e-15)
    assert_allclose(model.theta_[0], [exact_mean(c) for c in X.T], rtol=3e-16)


def test_tiny_variances_are_seen_beside_large_means():
    X = 1e8 + np.array([[0.0], [2.0**-26], [0.0], [2.0**-26]])
    model = GaussianNB(var_smoothing=0).fit(X, [0, 0, 0, 0])
    assert model.var_[0, 0] == 2.0**-54


def test_cancelling_values_leave_what_is_left():
    X = np.array([[1e16], [1.0], [-1e16], [1.0]])
    assert GaussianNB().fit(X, [0] * 4).theta_[0, 0] == 0.5


def test_weighted_variances_are_exact():
    random = np.random.default_rng(0)
    x, w = 1e8 + random.normal(size=200), random.exponential(size=200)
    model = GaussianNB(var_smoothing=0).fit(x[:, None], np.zeros(200), sample_weight=w)
    cells, weights = [Fraction(v) for v in x], [Fraction(v) for v in w]
    total = sum(weights)
    mean = sum(a * b for a, b in zip(cells, weights, strict=True)) / total
    square = sum(b * (a - mean) ** 2 for a, b in zip(cells, weights, strict=True)) / total
    assert_allclose(model.var_[0, 0], float(square), rtol=1e-15)


def test_single_precision_is_summed_in_double():
    """In single precision the sum of 2^24 and ones stays 2^24."""
    X = np.ones((100_001, 1), np.float32)
    X[0] = 2.0**24
    model = PoissonNB(alpha=0).fit(X, np.zeros(100_001))
    assert model.rate_[0, 0] == (2.0**24 + 100_000) / 100_001
    bag = MultinomialNB().fit(sparse.csr_matrix(X), np.zeros(100_001))
    assert bag.feature_count_[0, 0] == 2.0**24 + 100_000


def test_thirds_add_up_in_any_order():
    random = np.random.default_rng(0)
    X, y = random.random((1000, 4)) / 3, random.integers(0, 3, 1000)
    order = random.permutation(1000)
    for model in (GaussianNB(), PoissonNB(), MultinomialNB(), NaiveBayes(Gaussian())):
        expected = model.fit(X, y).predict_joint_log_proba(X)
        assert_array_equal(model.fit(X[order], y[order]).predict_joint_log_proba(X), expected)


@pytest.mark.parametrize(
    "model",
    [
        GaussianNB(),
        PoissonNB(),
        BernoulliNB(),
        CategoricalNB(),
        MultinomialNB(),
        ComplementNB(),
        NaiveBayes({0: "categorical", 1: "poisson"}),
    ],
    ids=repr,
)
def test_the_number_of_threads_changes_no_bit(model):
    random = np.random.default_rng(0)
    n = 200_000
    X, y = random.poisson(2, (n, 5)).clip(0, 9), random.integers(0, 3, n)
    if not isinstance(model, CategoricalNB | NaiveBayes):
        X = X + random.random((n, 5))
    weight = random.exponential(size=n)
    answers = []
    for threads in (1, 2):
        with posterior.threads(threads):
            fitted = model.fit(X, y, sample_weight=weight)
            answers.append(fitted.predict_joint_log_proba(X))
            answers.append(fitted.cross_validate(X, y, folds=3).log_proba)
    assert_array_equal(answers[0], answers[2])
    assert_array_equal(answers[1], answers[3])


def test_probabilities_near_zero_and_one_keep_their_logarithms():
    X = np.array([[0.0], [1.0], [1000.0], [1001.0]])
    model = GaussianNB(var_smoothing=0).fit(X, [0, 0, 1, 1])
    log_proba = model.predict_log_proba([[0.5], [1000.5]])
    # variance 1/4: the other class is 1000 away, 1000² / (2 / 4) nats
    assert_allclose(log_proba, [[0, -2e6], [-2e6, 0]], rtol=1e-12, atol=1e-300)
    assert (model.predict_proba([[0.5]]) >= 0).all()
    assert not np.signbit(model.predict_proba([[0.5], [1000.5]])).any()


def test_log_evidence_does_not_underflow():
    X = np.random.default_rng(0).normal(size=(50, 400))
    model = GaussianNB().fit(X, np.arange(50) % 2)
    evidence = model.log_evidence(X * 100)
    assert np.isfinite(evidence).all() and (evidence < -1e5).all()


MEMORY = """
    import numpy as np
    import posterior
    from posterior import {name}

    def peak():
        with open("/proc/self/status") as file:
            return [int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM")][0]

    X = np.empty((400_000, 50), np.{dtype})
    block = np.random.default_rng(0).integers(0, 10, (1000, 50))
    for first in range(0, len(X), 1000):
        X[first : first + 1000] = block
    y = np.arange(len(X)) % 5
    with posterior.threads(2):
        {name}().fit(X[:1000], y[:1000]).predict(X[:1000])  # what is loaded once
        before = peak()
        {name}(){work}
    print((peak() - before) / X.nbytes)
"""


@pytest.mark.slow
@pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="reads the peak memory where Linux shows it"
)
@pytest.mark.parametrize(
    ("name", "dtype", "work"),
    [
        ("GaussianNB", "float64", ".fit(X, y)"),
        ("GaussianNB", "float32", ".fit(X, y)"),
        ("GaussianNB", "float64", ".fit(X, y).predict(X)"),
        ("GaussianNB", "float64", ".cross_validate(X, y)"),
        ("BernoulliNB", "float64", ".fit(X, y)"),
        ("CategoricalNB", "float64", ".fit(X, y)"),
        ("MultinomialNB", "float64", ".fit(X, y)"),
    ],
)
def test_a_table_is_read_without_a_copy(name, dtype, work):
    code = textwrap.dedent(MEMORY.format(name=name, dtype=dtype, work=work))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert float(done.stdout) < 0.25
