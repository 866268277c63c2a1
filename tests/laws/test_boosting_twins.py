"""Boosting: residuals, trees and sums of tables of the compiled kernels, and of their twins."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, softmax
from strategies import Random, randoms, share

from posterior.discriminative.additive.boosting import LUCK, NORMAL
from posterior.kernels import reference

try:
    from posterior.kernels import compiled
except ImportError:
    pytestmark = [
        pytest.mark.may_skip("nothing was compiled here"),
        pytest.mark.skip(reason="nothing was compiled here: there is no twin to compare"),
    ]

lengths = st.sampled_from([1, 2, 7, 8, 9, 40, 1023, 1025, 2100])  # blocks are of 1,024 rows
outputs = st.sampled_from([1, 3, 8, 9])
SCALE = 2.0**38  # weights of 500, and the most luck, are below 2⁵⁰


def scored(random: Random, n: int, m: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scores of all sizes, labels and weights."""
    scores = random.normal(0, random.choice([0.1, 3.0, 100.0, 900.0]), (n, m))
    labels = random.integers(0, max(m, 2), n).astype(np.int32)
    return scores, labels, random.choice([1.0, 0.25, 3.7, 500.0], n)


def drawn(random: Random, n: int) -> tuple[np.ndarray, np.ndarray, int] | None:
    if random.random() < 0.3:
        return None
    return random.integers(0, 2**64, n, np.uint64), LUCK, int(random.integers(0, 3000))


@share(2)
@given(random=randoms, n=lengths, m=outputs)
def test_residuals_agree_to_one_unit(random, n, m):
    """A unit, and no bits: the last ones of exp are not the same in both."""
    given_rows, luck = scored(random, n, m), drawn(random, n)
    ours = compiled.residuals(*given_rows, SCALE, luck)
    assert np.abs(ours - reference.residuals(*given_rows, SCALE, luck)).max() <= 1


@share(2)
@given(random=randoms, n=lengths, m=outputs)
def test_residuals_are_those_of_the_textbook(random, n, m):
    """w (p - y) and w p (1 - p): half a unit of rounding, and 1e-15 of a number of 2⁴⁹."""
    scores, labels, weight = scored(random, n, m)
    if m == 1:
        p, y = expit(scores), (labels == 1)[:, None]
        h = p * expit(-scores)
    else:
        p, y = softmax(scores, axis=1), labels[:, None] == np.arange(m)
        h = p * (1 - p)
    plain = np.stack([p - y, h], axis=1) * weight[:, None, None]
    found = compiled.residuals(scores, labels, weight, SCALE) / SCALE
    np.testing.assert_allclose(found, plain, rtol=0, atol=2 / SCALE)


@share(2)
@given(random=randoms, n=lengths, m=outputs)
def test_losses_agree(random, n, m):
    """To some last bits, of exp and log, and of 1 where log p is near 0."""
    rows = scored(random, n, m)
    ours, plain = compiled.log_loss(*rows), reference.log_loss(*rows)
    np.testing.assert_allclose(ours, plain, rtol=1e-13, atol=1e-15 * rows[2].sum())


def grown(random: Random, n: int, m: int, d: int, depth: int) -> tuple:
    """Cells, residuals and all that says what a tree may be; columns may be equal."""
    sizes = random.choice([1, 2, 3, 9, 126, 256], d).astype(np.int32)
    first = random.choice([0, 1])  # with missing cells or without
    codes = np.stack([random.integers(min(first, s - 1), s, n) for s in sizes]).astype(np.uint8)
    if d > 1 and random.random() < 0.3:  # equal gains: the first of them is taken
        codes[1], sizes[1] = codes[0], sizes[0]
    largest = int(random.choice([1, 5, 2**20, 2**50]))
    residual = random.integers(-largest, largest + 1, (n, 2, m))
    residual[:, 1] = np.abs(residual[:, 1])
    ordered = random.integers(0, 2, d).astype(np.uint8)
    count = int(random.integers(1, d + 1))
    candidates = np.stack([np.sort(random.permutation(d)[:count]) for _ in range(depth)])
    noise = float(random.choice([0.0, 0.5, 20.0])), NORMAL, int(random.integers(0, 2**40))
    settings = 1 / SCALE, float(random.choice([1e-3, 1.0, 50.0])), noise
    return codes, residual, sizes, ordered, candidates.astype(np.int32), *settings


@given(random=randoms, n=lengths, m=st.integers(1, 4), d=st.integers(1, 6), depth=st.integers(1, 6))
def test_trees_agree_to_the_last_bit(random, n, m, d, depth):
    tree = grown(random, n, m, d, depth)
    if (tree[2] == 1).any():  # numbers of one cell have no cut
        tree[3][tree[2] == 1] = 0
    for ours, plain in zip(
        compiled.symmetric_tree(*tree), reference.symmetric_tree(*tree), strict=True
    ):
        np.testing.assert_array_equal(ours, plain)


@share(2)
@given(random=randoms, n=lengths, m=st.integers(1, 3), d=st.integers(1, 6))
def test_sums_of_tables_agree_to_the_last_bit(random, n, m, d):
    sizes = random.choice([2, 3, 9, 255], d)
    codes = np.stack([random.integers(0, s, n) for s in sizes]).astype(np.uint8)
    axes = [np.sort(random.permutation(d)[: random.integers(1, min(d, 4) + 1)]) for _ in range(5)]
    groups = [random.integers(0, 4, sizes[j]).astype(np.uint8) for axis in axes for j in axis]
    cells = [4 ** len(axis) for axis in axes]
    tables = (
        np.append(0, np.cumsum([len(axis) for axis in axes])),
        np.concatenate(axes).astype(np.int32),
        np.append(0, np.cumsum([len(group) for group in groups])),
        np.concatenate([4 ** np.arange(len(axis))[::-1] for axis in axes]),
        np.concatenate(groups),
        np.append(0, np.cumsum(cells)),
        random.normal(size=(sum(cells), m)),
    )
    ours, plain = np.ones((n, m)), np.ones((n, m))
    compiled.add_tables(codes, *tables, ours)
    reference.add_tables(codes, *tables, plain)
    np.testing.assert_array_equal(ours, plain)
