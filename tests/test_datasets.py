"""Data sets that our own code draws."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import stats

from posterior import datasets


def test_fish_have_the_shape_of_a_table_with_labels():
    X, y = datasets.fish(50)
    assert X.shape == (50, 1) and X.dtype == np.float64
    assert y.shape == (50,) and set(y.tolist()) == {0, 1}


def test_fish_follow_the_published_law():
    X, y = datasets.fish()
    assert len(X) == 100_000
    # five standard errors either way: one draw in a million would fail
    assert abs(y.mean() - 0.7) < 5 * np.sqrt(0.7 * 0.3 / len(y))
    for species, mean, deviation in [(0, 30, 4), (1, 16, 3)]:
        weight = X[y == species, 0]
        assert stats.kstest(weight, stats.norm(mean, deviation).cdf).pvalue > 1e-4


def test_the_seed_decides_the_draw():
    for again, same in [(0, True), (1, False)]:
        (X, y), (X2, y2) = datasets.fish(100), datasets.fish(100, random_state=again)
        assert np.array_equal(X, X2) is same and np.array_equal(y, y2) is same


def test_a_generator_is_used_as_it_is():
    generator = np.random.default_rng(7)
    first, second = (datasets.fish(10, generator)[0] for _ in range(2))
    assert_array_equal(first, datasets.fish(10, 7)[0])
    assert not np.array_equal(first, second)


def test_no_fish_are_fish_too():
    X, y = datasets.fish(0)
    assert X.shape == (0, 1) and y.shape == (0,)


@pytest.mark.parametrize("n", [-1, 2.5, "many"])
def test_a_number_of_fish_that_is_none_is_refused(n):
    with pytest.raises(ValueError, match="Expected a number of fish"):
        datasets.fish(n)
