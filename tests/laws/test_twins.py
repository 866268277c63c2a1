"""Every compiled kernel agrees with its twin in plain NumPy, on tables of any layout."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import (
    Random,
    anything,
    counts,
    fractions_of,
    group_codes,
    laid_out,
    n_columns,
    n_rows,
    plain,
    randoms,
    share,
    sparse_rows,
    table,
    weights,
)

from posterior.data.errors import NotFiniteError
from posterior.data.rows import SparseRows
from posterior.kernels import limbs, reference
from posterior.statistics import Exact

try:
    from posterior.kernels import compiled
except ImportError:
    pytestmark = [
        pytest.mark.may_skip("nothing was compiled here"),
        pytest.mark.skip(reason="nothing was compiled here: there is no twin to compare"),
    ]

K = 3
kinds = st.sampled_from([plain, anything])
thresholds = st.sampled_from([None, 0.0, 1.5, -1.0])


def assert_equal_sums(ours, plain) -> None:
    for a, b in zip(ours, plain, strict=True):
        assert (a is None) == (b is None)
        assert a is None or Exact(*a) == Exact(*b)


def assert_close(ours, plain, scale) -> None:
    """To 1e-13 of the sum of all magnitudes: the twins add the same terms in another order."""
    np.testing.assert_array_equal(np.isfinite(ours), np.isfinite(plain))
    some = np.isfinite(plain)
    np.testing.assert_array_equal(ours[~some], plain[~some])
    assert (np.abs(ours[some] - plain[some]) <= 1e-13 * (scale[some] + 1e-300)).all()


@given(random=randoms, n=n_rows, d=n_columns, cells=kinds, squares=st.booleans())
def test_moments_agree_to_the_last_bit(random, n, d, cells, squares):
    X = laid_out(random, table(random, n, d, cells))
    codes, weight = group_codes(random, n, K), weights(random, n)
    ours = compiled.moments(X, codes, weight, K, squares)
    assert_equal_sums(ours, reference.moments(X, codes, weight, K, squares))


@given(random=randoms, n=n_rows, d=n_columns, cells=kinds)
def test_moments_are_the_sums_of_fractions(random, n, d, cells):
    X = laid_out(random, table(random, n, d, cells))
    codes, weight = group_codes(random, n, K), weights(random, n)
    w = [Fraction(1)] * n if weight is None else fractions_of(weight)
    expected = np.full((3, K, d), Fraction(0))
    for i, j in np.argwhere(~np.isnan(X) & (codes >= 0)[:, None]):
        x = Fraction(float(X[i, j]))
        expected[:, codes[i], j] += [w[i], w[i] * x, w[i] * x * x]
    for (digits, exponent), values in zip(
        compiled.moments(X, codes, weight, K), expected, strict=True
    ):
        unit = Fraction(2) ** exponent
        for cell in np.ndindex(K, d):
            number = sum(v << 32 * i for i, v in enumerate(digits[cell].tolist()))
            assert unit * number == values[cell]


@share(4)
@given(
    random=randoms,
    n=st.integers(1, 1500),
    d=st.integers(1, 20),
    spread=st.sampled_from([0, 1, 8, 60, 120, 500]),
    digits=st.sampled_from([3, 24, 53]),
    weighted=st.booleans(),
)
def test_moments_agree_on_long_tables(random, n, d, spread, digits, weighted):
    """Blocks, slices of 256 rows, and columns that outgrow what their first rows promised."""

    def cells(random, shape):
        mantissa = random.integers(1 - 2**digits, 2**digits, shape).astype(float)
        return np.ldexp(mantissa, random.integers(-spread, spread + 1, (n, 1)) - digits)

    X, codes = table(random, n, d, cells), group_codes(random, n, K)
    weight = random.random(n) if weighted else None
    narrow = [X.astype(np.float32)] if spread < 127 else []
    for x in [X, np.asfortranarray(X), *narrow]:
        ours = compiled.moments(x, codes, weight, K)
        assert_equal_sums(ours, reference.moments(x, codes, weight, K))


def test_moments_hold_a_negative_number_at_the_top_of_their_window():
    X, codes = np.array([[-(2.0**22)], [2.0**-200]]), np.zeros(2, np.int32)
    assert_equal_sums(compiled.moments(X, codes, None, K), reference.moments(X, codes, None, K))


@given(random=randoms, n=n_rows, d=n_columns, infinity=st.sampled_from([np.inf, -np.inf]))
def test_both_refuse_infinite_cells(random, n, d, infinity):
    X = laid_out(random, table(random, n, d))
    X[random.integers(n), random.integers(d)] = infinity
    codes = random.integers(0, K, n).astype(np.int32)
    for twin in (compiled, reference):
        for weight in (None, random.random(n)):
            with pytest.raises(NotFiniteError):
                twin.moments(X, codes, weight, K)


def coded(random: Random, n: int, d: int) -> np.ndarray:
    """Codes of each width in each order; negative ones are missing cells."""
    dtype = random.choice([np.int64, np.int32, np.int16, np.uint8])
    X = random.integers(0 if dtype is np.uint8 else -1, 7, (n, d)).astype(dtype)
    layouts = [X, np.asfortranarray(X), np.repeat(X, 2, axis=0)[::2]]
    return layouts[random.integers(3)]


@given(random=randoms, n=n_rows, d=n_columns)
def test_category_counts_agree_to_the_last_bit(random, n, d):
    X, sizes = coded(random, n, d), random.integers(0, 8, d)
    codes, weight = group_codes(random, n, K), weights(random, n)
    ours = compiled.category_counts(X, codes, weight, K, sizes)
    assert_equal_sums([ours], [reference.category_counts(X, codes, weight, K, sizes)])


@given(random=randoms, n=n_rows, d=n_columns)
def test_ranges_of_codes_agree(random, n, d):
    X = coded(random, n, d)
    for ours, plain in zip(compiled.code_range(X), reference.code_range(X), strict=True):
        np.testing.assert_array_equal(ours, plain)


def some_sparse_rows(random: Random, n: int, d: int, cells) -> SparseRows:
    """Rows of each type of value and index, from the middle of a table."""
    kind = [cells, counts, lambda random, shape: 2.0**33 * counts(random, shape)]
    X = table(random, n + 2, d, kind[random.integers(3)], holes=False)
    X[random.random(X.shape) < 0.5] = 0
    values, index = random.choice([np.float32, np.float64]), random.choice([np.int32, np.int64])
    return sparse_rows(X, values, index)[1 : n + 1]


@given(random=randoms, n=n_rows, d=n_columns, cells=kinds, threshold=thresholds)
def test_sparse_sums_agree_to_the_last_bit(random, n, d, cells, threshold):
    X = some_sparse_rows(random, n, d, cells)
    codes, weight = group_codes(random, n, K), weights(random, n)
    ours = compiled.sparse_sums(X, codes, weight, K, threshold)
    assert_equal_sums([ours], [reference.sparse_sums(X, codes, weight, K, threshold)])


def test_a_small_negative_sparse_entry_keeps_its_sign():
    X, codes = sparse_rows(np.array([[-(2.0**-11)]])), np.zeros(1, np.int32)
    assert Exact(*compiled.sparse_sums(X, codes, None, 1, None)).rounded() == -(2.0**-11)


@given(random=randoms, n=n_rows)
def test_carries_and_pairs_agree_to_the_last_bit(random, n):
    exact, exponent = limbs.of_doubles(anything(random, n))
    loose = exact + random.integers(-(2**40), 2**40, exact.shape)
    ours, plain = loose.copy(), loose.copy()
    compiled.carry(ours)
    reference.carry(plain)
    np.testing.assert_array_equal(ours, plain)
    for digits in (exact, -exact, ours):
        compiled.carry(digits)
        pairs = compiled.to_pairs(digits, exponent), reference.to_pairs(digits, exponent)
        for a, b in zip(*pairs, strict=True):
            assert a.tobytes() == b.tobytes()


def scores(random: Random, n: int, d: int) -> tuple[np.ndarray, ...]:
    """Two tables of parameters, a bias, and room for the scores of both twins."""
    bias = random.normal(0, 20, K)
    bias[random.random(K) < 0.1] = -np.inf
    return random.normal(0, 20, (K, d)), random.normal(0, 20, (K, d)), bias, np.empty((2, n, K))


@given(random=randoms, n=st.integers(1, 70), d=n_columns, cells=kinds)
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


@given(random=randoms, n=st.integers(1, 70), d=n_columns)
def test_linear_scores_agree(random, n, d):
    X = laid_out(random, table(random, n, d))
    weight, absent, bias, (ours, plain) = scores(random, n, d)
    compiled.linear_log_joint(X, weight, absent, bias, ours)
    reference.linear_log_joint(X, weight, absent, bias, plain)
    scale = np.abs(np.nan_to_num(X.astype(float))) @ np.abs(weight).T
    assert_close(ours, plain, scale + np.abs(absent).sum(axis=1) + np.abs(bias))


@given(random=randoms, n=n_rows, d=n_columns, threshold=thresholds)
def test_sparse_scores_agree(random, n, d, threshold):
    X = some_sparse_rows(random, n, d, plain)
    weight, _, bias, (ours, expected) = scores(random, n, d)
    compiled.sparse_log_joint(X, compiled.side_by_side(weight), bias, threshold, ours)
    reference.sparse_log_joint(X, reference.side_by_side(weight), bias, threshold, expected)
    scale = (np.abs(X.scipy().toarray()) + 1) @ np.abs(weight).T
    assert_close(ours, expected, scale + np.abs(bias))


@given(random=randoms, k=st.integers(1, 20), d=n_columns)
def test_tables_side_by_side_agree(random, k, d):
    weight = random.normal(size=(k, d))
    ours, plain = compiled.side_by_side(weight), reference.side_by_side(weight)
    np.testing.assert_array_equal(ours[:, :k], plain)
    assert not ours[:, k:].any()


@given(random=randoms, n=n_rows, d=n_columns)
def test_scores_by_table_agree(random, n, d):
    X, offset = coded(random, n, d), np.append(0, np.cumsum(random.integers(1, 8, d)))
    weight, _, bias, (ours, plain) = scores(random, n, offset[-1])
    compiled.table_log_joint(X, compiled.side_by_side(weight), offset, bias, ours)
    reference.table_log_joint(X, reference.side_by_side(weight), offset, bias, plain)
    assert_close(ours, plain, np.abs(weight).sum(axis=1) + np.abs(bias) + np.zeros((n, K)))


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
