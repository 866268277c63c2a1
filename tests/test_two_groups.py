"""Effects of very many columns: how many there are, and how large, is learned from all together."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import f_oneway

from posterior.discriminative.two_groups import Effects, two_groups


def drawn(n: int, d: int, k: int, telling: int, shift: float, seed: int = 0):
    random = np.random.default_rng(seed)
    codes = random.integers(0, k, n).astype(np.int32)
    X = random.standard_normal((n, d))
    X[:, :telling] += shift * random.choice([-1, 1], (k, telling))[codes]
    return X, codes


@pytest.mark.parametrize("k", [2, 4])
def test_of_columns_that_are_noise_hardly_any_is_likely_to_have_an_effect(k):
    expected = [
        Effects.of(*drawn(60, 1000, k, 0, 0.0, seed), k).probability.sum() for seed in range(9)
    ]
    assert np.median(expected) < 10 and max(expected) < 50  # of a thousand


def test_as_many_effects_are_expected_as_there_are():
    X, codes = drawn(300, 2000, 2, 40, 0.0)
    X[:, :40] += np.random.default_rng(1).normal(0, 0.4, 40) * (2 * codes - 1)[:, None]
    found = Effects.of(X, codes, 2)
    assert 20 < found.probability.sum() < 80  # some of 40 are too small to tell from none
    assert found.probability[:40].mean() > 20 * found.probability[40:].mean()


def test_the_deviation_is_about_the_coefficient_of_a_column_that_surely_has_one():
    X, codes = drawn(2000, 500, 2, 0, 0.0)
    X[:, :5] += 0.5 * (2 * codes - 1)[:, None]  # log odds 2 · 0.5 a unit
    found = Effects.of(X, codes, 2)
    np.testing.assert_allclose(found.deviation[:5], 1.0, atol=0.25)
    assert found.deviation[5:].max() < 0.1


def test_columns_rank_as_by_the_analysis_of_variance():
    X, codes = drawn(200, 300, 3, 10, 0.3)
    ratios = f_oneway(*(X[codes == k] for k in range(3))).statistic
    probability = Effects.of(X, codes, 3).probability
    np.testing.assert_array_equal(np.argsort(ratios)[-20:], np.argsort(probability)[-20:])


def test_units_do_not_matter():
    X, codes = drawn(100, 200, 2, 5, 0.7)
    units = np.geomspace(1e-6, 1e6, 200)
    one, other = Effects.of(X, codes, 2), Effects.of(X * units, codes, 2)
    np.testing.assert_allclose(other.probability, one.probability, rtol=1e-9)
    np.testing.assert_allclose(other.deviation * units, one.deviation, rtol=1e-9)


def test_a_weight_of_two_is_two_rows():
    X, codes = drawn(80, 150, 2, 5, 0.7)
    weight = np.where(np.arange(80) < 20, 2.0, 1.0)
    twice = np.repeat(np.arange(80), weight.astype(int))
    one, other = Effects.of(X, codes, 2, weight), Effects.of(X[twice], codes[twice], 2)
    np.testing.assert_allclose(one.deviation, other.deviation, rtol=1e-9)


@pytest.mark.parametrize("value", [0.0, 3.0, 1e8])
def test_a_column_that_does_not_vary_has_no_effect(value):
    X, codes = drawn(50, 20, 2, 20, 1.0)
    X[:, 3] = value
    found = Effects.of(X, codes, 2)
    assert found.probability[3] == found.deviation[3] == 0
    assert np.isfinite(found.deviation).all()


def test_a_column_that_separates_the_classes_has_a_finite_deviation():
    codes = np.repeat([0, 1], 20).astype(np.int32)
    X = np.column_stack([codes, np.random.default_rng(0).standard_normal((40, 99))])
    found = Effects.of(X, codes, 2)
    assert found.probability[0] > 0.99 and np.isfinite(found.deviation).all()


def test_of_no_columns_nothing_is_said():
    probability, signal = two_groups(np.empty(0), 1)
    assert len(probability) == len(signal) == 0
