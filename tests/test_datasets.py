"""Data sets that our own code draws."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import stats

from posterior import datasets

ALL = [getattr(datasets, name) for name in datasets.__all__ if name != "tennis"]


def test_fish_have_the_shape_of_a_table_with_labels():
    X, y = datasets.fish(50)
    assert X.shape == (50, 1) and X.dtype == np.float64
    assert y.shape == (50,) and set(y.tolist()) == {0, 1}


@pytest.mark.parametrize(
    ("draw", "share", "laws"),
    [
        (datasets.fish, 0.7, [stats.norm(30, 4), stats.norm(16, 3)]),
        (datasets.heights, 0.5, [stats.norm(165, 7), stats.norm(178, 7)]),
    ],
    ids=["fish", "heights"],
)
def test_weights_and_heights_follow_the_published_law(draw, share, laws):
    X, y = draw(100_000)
    # five standard errors either way: one draw in a million would fail
    assert abs(y.mean() - share) < 5 * np.sqrt(share * (1 - share) / len(y))
    for k, law in enumerate(laws):
        assert stats.kstest(X[y == k, 0], law.cdf).pvalue > 1e-4


@pytest.mark.parametrize(
    ("draw", "laws"),
    [
        (datasets.counts, [stats.poisson(0.5), stats.poisson(2)]),
        (datasets.coins, [stats.binom(10, 0.3), stats.binom(10, 0.8)]),
    ],
    ids=["counts", "coins"],
)
def test_counts_and_coins_follow_the_published_law(draw, laws):
    X, y = draw(50_000)
    for k, law in enumerate(laws):
        values = np.arange(11)
        expected = law.pmf(values) * (y == k).sum()
        seen = np.bincount(X[y == k, 0], minlength=11)[:11]
        usual = expected > 20  # where the normal law of a count holds
        error = (seen - expected)[usual] / np.sqrt(expected[usual])
        assert np.abs(error).max() < 5


def test_coins_are_flipped_as_often_as_asked():
    X, _ = datasets.coins(20, flips=7)
    assert (X.sum(axis=1) == 7).all()
    with pytest.raises(ValueError, match="Expected a number of flips to draw, got -1"):
        datasets.coins(20, flips=-1)


def test_opposite_corners_are_of_one_class():
    X, y = datasets.exclusive_or(4_000)
    corner = np.round(X).clip(0, 1).astype(int)
    # a point is nearer to another corner if it strays by 0.5, 3.3 deviations: 1 in 1,000
    assert (y == corner[:, 0] ^ corner[:, 1]).mean() > 0.99


def test_words_of_a_message_come_mostly_from_its_own_urn():
    texts, y = datasets.messages(2_000)
    assert abs((y == "spam").mean() - 0.3) < 5 * np.sqrt(0.3 * 0.7 / len(y))
    urns = {kind: words.split() for kind, words in datasets.SUBJECTS.items()}
    for kind, other in [("ham", "spam"), ("spam", "ham")]:
        words = [w for text in texts[y == kind] for w in text.split()]
        assert len(words) == 8 * (y == kind).sum()
        foreign = set(urns[other]) - set(urns[kind])
        both = [*urns["ham"], *urns["spam"]]
        expected = sum(w in foreign for w in both) / len(both) / 3  # a third is from both urns
        share = np.mean([w in foreign for w in words])
        assert abs(share - expected) < 5 * np.sqrt(expected / len(words))


@pytest.mark.parametrize("draw", ALL, ids=lambda draw: draw.__name__)
def test_the_seed_decides_the_draw(draw):
    for again, same in [(0, True), (1, False)]:
        (X, y), (X2, y2) = draw(100), draw(100, random_state=again)
        assert np.array_equal(X, X2) is same and np.array_equal(y, y2) is same


@pytest.mark.parametrize("draw", ALL, ids=lambda draw: draw.__name__)
def test_a_generator_is_used_as_it_is(draw):
    generator = np.random.default_rng(7)
    first, second = (draw(10, random_state=generator)[0] for _ in range(2))
    assert_array_equal(first, draw(10, random_state=7)[0])
    assert not np.array_equal(first, second)


@pytest.mark.parametrize("draw", ALL, ids=lambda draw: draw.__name__)
def test_no_rows_are_rows_too(draw):
    X, y = draw(0)
    assert len(X) == 0 and y.shape == (0,)


@pytest.mark.parametrize("draw", ALL, ids=lambda draw: draw.__name__)
@pytest.mark.parametrize("n", [-1, 2.5, "many"])
def test_a_number_of_rows_that_is_none_is_refused(draw, n):
    with pytest.raises(ValueError, match=r"Expected a number of \w+ to draw, got"):
        draw(n)
