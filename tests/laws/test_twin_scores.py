"""Scores of every compiled kernel agree with those of its twin in plain NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import (
    Random,
    anything,
    coded,
    laid_out,
    n_columns,
    n_rows,
    plain,
    randoms,
    share,
    some_sparse_rows,
    table,
)

from posterior.kernels import reference

try:
    from posterior.kernels import compiled
except ImportError:
    pytestmark = [
        pytest.mark.may_skip("nothing was compiled here"),
        pytest.mark.skip(reason="nothing was compiled here: there is no twin to compare"),
    ]

K = 3


def assert_close(ours, plain, scale) -> None:
    """To 1e-13 of the sum of all magnitudes: the twins add the same terms in another order."""
    np.testing.assert_array_equal(np.isfinite(ours), np.isfinite(plain))
    some = np.isfinite(plain)
    np.testing.assert_array_equal(ours[~some], plain[~some])
    assert (np.abs(ours[some] - plain[some]) <= 1e-13 * (scale[some] + 1e-300)).all()


def scores(random: Random, n: int, d: int) -> tuple[np.ndarray, ...]:
    """Two tables of parameters, a bias, and room for the scores of both twins."""
    bias = random.normal(0, 20, K)
    bias[random.random(K) < 0.1] = -np.inf
    return random.normal(0, 20, (K, d)), random.normal(0, 20, (K, d)), bias, np.empty((2, n, K))


@share(2)
@given(random=randoms, n=st.integers(1, 70), d=n_columns, cells=st.sampled_from([plain, anything]))
def test_gaussian_scores_agree(random, n, d, cells):
    X = laid_out(random, table(random, n, d, cells))
    mean, term, constant, (ours, plain) = scores(random, n, d)
    deviation = random.exponential(1, (K, d))
    compiled.gaussian_log_joint(X, mean, deviation, term, constant, ours)
    with np.errstate(over="ignore"):
        reference.gaussian_log_joint(X, mean, deviation, term, constant, plain)
        distance = np.nan_to_num((X.astype(float)[:, None] - mean) * deviation)
        scale = (distance**2).sum(axis=2) + np.abs(term).sum(axis=1) + np.abs(constant)
    assert_close(ours, plain, scale)


@share(2)
@given(random=randoms, n=st.integers(1, 70), d=n_columns)
def test_linear_scores_agree(random, n, d):
    X = laid_out(random, table(random, n, d))
    weight, absent, bias, (ours, plain) = scores(random, n, d)
    compiled.linear_log_joint(X, weight, absent, bias, ours)
    reference.linear_log_joint(X, weight, absent, bias, plain)
    scale = np.abs(np.nan_to_num(X.astype(float))) @ np.abs(weight).T
    assert_close(ours, plain, scale + np.abs(absent).sum(axis=1) + np.abs(bias))


@share(2)
@given(random=randoms, n=n_rows, d=n_columns, width=st.integers(0, 19))
def test_ordered_products_have_the_same_bits_in_any_company(random, n, d, width):
    X, axes = random.normal(size=(n, d)), random.normal(size=(d, width))
    ours = compiled.ordered_products(X, axes)
    np.testing.assert_array_equal(ours, reference.ordered_products(X, axes))
    np.testing.assert_array_equal(ours[n // 2 :], compiled.ordered_products(X[n // 2 :], axes))
    np.testing.assert_allclose(ours, X @ axes, rtol=1e-12, atol=1e-12 * (1 + d))


@share(2)
@given(random=randoms, n=n_rows, d=n_columns, threshold=st.sampled_from([None, 0.0, 1.5]))
def test_sparse_scores_agree(random, n, d, threshold):
    X = some_sparse_rows(random, n, d, plain)
    weight, _, bias, (ours, expected) = scores(random, n, d)
    compiled.sparse_log_joint(X, compiled.side_by_side(weight), bias, threshold, ours)
    reference.sparse_log_joint(X, reference.side_by_side(weight), bias, threshold, expected)
    scale = (np.abs(X.scipy().toarray()) + 1) @ np.abs(weight).T
    assert_close(ours, expected, scale + np.abs(bias))


@share(2)
@given(random=randoms, k=st.integers(1, 20), d=n_columns)
def test_tables_side_by_side_agree(random, k, d):
    weight = random.normal(size=(k, d))
    ours, plain = compiled.side_by_side(weight), reference.side_by_side(weight)
    np.testing.assert_array_equal(ours[:, :k], plain)
    assert not ours[:, k:].any()


@share(2)
@given(random=randoms, n=n_rows, d=n_columns)
def test_scores_by_table_agree(random, n, d):
    X, offset = coded(random, n, d), np.append(0, np.cumsum(random.integers(1, 8, d)))
    weight, _, bias, (ours, plain) = scores(random, n, offset[-1])
    compiled.table_log_joint(X, compiled.side_by_side(weight), offset, bias, ours)
    reference.table_log_joint(X, reference.side_by_side(weight), offset, bias, plain)
    assert_close(ours, plain, np.abs(weight).sum(axis=1) + np.abs(bias) + np.zeros((n, K)))


@share(2)
@given(
    random=randoms,
    n=st.integers(1, 20),
    k=st.integers(1, 10),
    impossible=st.sampled_from([0.0, 0.3, 1.0]),
    size=st.sampled_from([1.0, 100.0, 1e300]),
    wanted=st.sampled_from(["posterior", "log_posterior", "log_evidence"]),
)
def test_normalized_rows_agree(random, n, k, impossible, size, wanted):
    """To 1e-13 of the row's largest score: both exponentials are right to the last bits."""
    L = random.normal(0, size, (n, k)) + random.choice([0, -1000, 1e8], (n, 1))
    L[random.random((n, k)) < impossible] = -np.inf
    ours, plain, evidence = L.copy(), L.copy(), np.empty((2, n))
    compiled.normalize(ours, wanted, evidence[0])
    reference.normalize(plain, wanted, evidence[1])
    largest = np.abs(L).max(axis=1, initial=1.0, where=np.isfinite(L))
    assert_close(evidence[0], evidence[1], largest)
    if wanted == "posterior":  # shares down to the smallest double
        np.testing.assert_allclose(ours, plain, rtol=1e-14, atol=5e-324)
    else:
        assert_close(ours, plain, np.broadcast_to(largest[:, None], L.shape))
