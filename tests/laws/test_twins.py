"""Sums of every compiled kernel equal those of its twin in plain NumPy, on any table."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import (
    anything,
    coded,
    fractions_of,
    group_codes,
    laid_out,
    n_columns,
    n_rows,
    plain,
    randoms,
    share,
    some_sparse_rows,
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


def test_every_kernel_has_a_twin():
    assert sorted(compiled.__all__) == sorted(reference.__all__)


@share(2)
@given(random=randoms, n=n_rows, d=n_columns, cells=kinds, squares=st.booleans())
def test_moments_agree_to_the_last_bit(random, n, d, cells, squares):
    X = laid_out(random, table(random, n, d, cells))
    codes, weight = group_codes(random, n, K), weights(random, n)
    ours = compiled.moments(X, codes, weight, K, squares)
    assert_equal_sums(ours, reference.moments(X, codes, weight, K, squares))


@share(2)
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
        for cell in np.ndindex(K, d):
            assert whole(digits[cell], exponent) == values[cell]


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
    """Blocks, pieces of 64 rows, and columns that outgrow what their first rows promised."""

    def cells(random, shape):
        mantissa = random.integers(1 - 2**digits, 2**digits, shape).astype(float)
        return np.ldexp(mantissa, random.integers(-spread, spread + 1, (n, 1)) - digits)

    X, codes = table(random, n, d, cells), group_codes(random, n, K)
    weight = random.random(n) if weighted else None
    narrow = [X.astype(np.float32)] if spread < 127 else []
    for x in [X, np.asfortranarray(X), *narrow]:
        ours = compiled.moments(x, codes, weight, K)
        assert_equal_sums(ours, reference.moments(x, codes, weight, K))


@share(2)
@given(random=randoms, n=n_rows, d=st.integers(1, 20), cells=kinds)
def test_moments_without_a_row_agree_to_the_last_bit(random, n, d, cells):
    X, codes = np.ascontiguousarray(table(random, n, d, cells)), random.integers(0, K, n)
    codes, weight = codes.astype(np.int32), weights(random, n)
    pairs = tuple(Exact(*s).pair() for s in reference.moments(X, codes, weight, K))
    with np.errstate(all="ignore"):
        plain_ones = reference.moments_without(X, codes, weight, pairs)
    for a, b in zip(compiled.moments_without(X, codes, weight, pairs), plain_ones, strict=True):
        np.testing.assert_array_equal(a, b)


@share(2)
@given(random=randoms, n=n_rows, d=st.integers(1, 20), narrow=st.booleans())
def test_rows_are_centered_alike(random, n, d, narrow):
    X = laid_out(random, table(random, n, d, plain)).astype(np.float32 if narrow else np.float64)
    codes, origin = group_codes(random, n, K), random.normal(size=(K, d))
    ours, twin = np.zeros((2, n, d + 3))
    ends = compiled.centered_by_group(X, codes, origin, ours)
    np.testing.assert_array_equal(ends, reference.centered_by_group(X, codes, origin, twin))
    np.testing.assert_array_equal(ours, twin)


@share(2)
@given(random=randoms, n=n_rows, d=st.integers(1, 20), vectors=st.integers(0, 3), plain=st.data())
def test_distances_agree(random, n, d, vectors, plain):
    shared, triangular = plain.draw(st.booleans()), plain.draw(st.booleans())
    X = laid_out(random, random.normal(size=(n, d)))
    axes = random.normal(size=(1 if shared else K, vectors, d, 8))
    if triangular:  # columns without a weight are not read
        axes *= np.arange(d)[:, None] <= np.arange(8 * vectors).reshape(vectors, 1, 8)
    origin, centers = random.normal(size=d), random.normal(size=(K, vectors, 8))
    ours, twin = np.empty((2, n, K))
    compiled.square_distances(X, origin, axes, centers, ours)
    reference.square_distances(X, origin, axes, centers, twin)
    np.testing.assert_allclose(ours, twin, rtol=1e-12)  # they add in another order, and fused


@share(2)
@given(random=randoms, n=n_rows, columns=st.integers(1, 30), wide=st.integers(0, 9))
def test_products_agree(random, n, columns, wide):
    width = -(-(columns + wide) // 8) * 8
    x, y = random.normal(size=(2, n, width))
    ends = np.sort(random.integers(0, n + 1, size=K))
    ours, twin = np.zeros((2, K, columns, width))
    compiled.add_products(x, y, ends, ours)
    reference.add_products(x, y, ends, twin)
    upper = np.triu_indices(columns, m=width)
    size = np.abs(x).T @ np.abs(y)  # terms may cancel, their errors do not
    apart = np.abs(ours - twin)[:, upper[0], upper[1]]
    assert (apart <= 1e-14 * (1 + n) * size[upper]).all()


def logistic_case(random, n, d, outputs, scale):
    """Arguments of logistic_sums: cells up to 1e8, and scores up to about 1e13 times the scale."""
    origin = None
    if random.random() < 0.5:
        X = laid_out(random, table(random, n, d, plain, holes=False))
        origin = None if random.random() < 0.5 else plain(random, d).astype(float)
    else:
        X = some_sparse_rows(random, n, d, plain)
    codes = random.integers(-1, max(outputs, 2), n).astype(np.int32)
    weight = weights(random, n)
    weight = None if weight is None else np.minimum(weight, 1e6)
    offset = None if random.random() < 0.5 else scale * random.normal(size=(n, outputs))
    coef, intercept = scale * random.normal(size=(outputs, d)), scale * random.normal(size=outputs)
    return X, codes, weight, offset, coef, intercept, np.empty((n, outputs)), origin


@share(5)
@given(
    random=randoms,
    n=st.integers(0, 200),
    d=st.integers(1, 20),
    outputs=st.integers(1, 12),
    exponent=st.integers(-12, 1),
)
def test_logistic_sums_agree(random, n, d, outputs, exponent):
    *case, ours, origin = logistic_case(random, n, d, outputs, 10.0**exponent)
    X, _, weight, offset, coef, intercept = case
    twin = np.empty_like(ours)
    value, *gradients = compiled.logistic_sums(*case, ours, origin)
    expected, *expected_gradients = reference.logistic_sums(*case, twin, origin)
    # Both round each term of a score, in another order; the loss follows its scores at rate 2 at
    # most, and its derivatives at rate 1. What follows costs a few roundings of a number up to 1.
    cells = np.abs(X.scipy().toarray() if isinstance(X, SparseRows) else X).astype(float)
    cells += 0 if origin is None else np.abs(origin)
    eps, w = np.finfo(float).eps, np.ones(n) if weight is None else weight
    size = cells @ np.abs(coef).T + np.abs(intercept) + (0 if offset is None else np.abs(offset))
    error = w * (8 + n + outputs + 2 * (d + 3) * size.max(axis=1)) * eps + 1e-300
    assert abs(value - expected) <= 2 * error.sum() + 4 * eps * n * abs(expected)
    assert (np.abs(ours - twin) <= error[:, None]).all()
    bounds = error @ cells, error.sum()
    for a, b, bound in zip(gradients, expected_gradients, bounds, strict=True):
        assert a.shape == b.shape and (np.abs(a - b) <= bound).all()


@share(2)
@given(
    random=randoms,
    n=st.integers(1, 100),
    d=st.integers(1, 20),
    outputs=st.integers(1, 12),
    exponent=st.integers(1, 285),
)
def test_logistic_sums_of_huge_scores_are_numbers(random, n, d, outputs, exponent):
    *case, residual, origin = logistic_case(random, n, d, outputs, 10.0**exponent)
    weight = 1 if case[2] is None else case[2][:, None]
    for module in (compiled, reference):
        sums = module.logistic_sums(*case, residual, origin)
        for part in (*sums, residual):
            assert np.isfinite(part).all()
        assert sums[0] >= 0 and (np.abs(residual) <= weight).all()


@share(2)
@given(random=randoms, n=n_rows)
def test_groups_are_counted_and_sorted_alike(random, n):
    codes = group_codes(random, n, K)
    for kernel in ("group_counts", "rows_by_group"):
        ours, plain_ones = (getattr(m, kernel)(codes, K) for m in (compiled, reference))
        np.testing.assert_array_equal(ours, plain_ones)


@share(2)
@given(random=randoms, n=n_rows, d=n_columns, cells=kinds)
def test_means_and_scatters_agree_and_are_those_of_fractions(random, n, d, cells):
    X, codes = table(random, n, d, cells), group_codes(random, n, K)
    weight = None if random.random() < 0.5 else 10 * random.random(n)
    sums = compiled.moments(X, codes, weight, K)
    ours, plain = compiled.mean_and_scatter(*sums), reference.mean_and_scatter(*sums)
    narrow = [Exact(*s).trimmed() for s in sums]
    again = compiled.mean_and_scatter(*((s.limbs, s.exponent) for s in narrow))
    for a, b, c in zip(ours, plain, again, strict=True):
        np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(a, c)
    for cell in np.ndindex(K, d):
        w, s, q = (whole(digits[cell], exponent) for digits, exponent in sums)
        if w:
            assert_rounded(ours[0][cell], s / w)
            assert_rounded(ours[1][cell], q - s * s / w)


def whole(digits: np.ndarray, exponent: int) -> Fraction:
    """The number that some limbs hold."""
    return Fraction(2) ** exponent * sum(v << 32 * i for i, v in enumerate(digits.tolist()))


def assert_rounded(ours: float, exact: Fraction) -> None:
    """To the last bit or two, where doubles have all their bits and some room above."""
    if exact == 0 or 1e-290 < abs(exact) < 1e302:
        assert abs(Fraction(float(ours)) - exact) <= abs(exact) / 2**51


def test_moments_hold_a_negative_number_at_the_top_of_their_window():
    X, codes = np.array([[-(2.0**22)], [2.0**-200]]), np.zeros(2, np.int32)
    assert_equal_sums(compiled.moments(X, codes, None, K), reference.moments(X, codes, None, K))


@share(2)
@given(random=randoms, n=n_rows, d=n_columns, infinity=st.sampled_from([np.inf, -np.inf]))
def test_both_refuse_infinite_cells(random, n, d, infinity):
    X = laid_out(random, table(random, n, d))
    X[random.integers(n), random.integers(d)] = infinity
    codes = random.integers(0, K, n).astype(np.int32)
    for twin in (compiled, reference):
        for weight in (None, random.random(n)):
            with pytest.raises(NotFiniteError):
                twin.moments(X, codes, weight, K)


@share(2)
@given(random=randoms, n=n_rows, d=n_columns)
def test_category_counts_agree_to_the_last_bit(random, n, d):
    X, sizes = coded(random, n, d), random.integers(0, 8, d)
    codes, weight = group_codes(random, n, K), weights(random, n)
    ours = compiled.category_counts(X, codes, weight, K, sizes)
    assert_equal_sums([ours], [reference.category_counts(X, codes, weight, K, sizes)])


@share(2)
@given(random=randoms, n=n_rows, d=n_columns)
def test_ranges_of_codes_agree(random, n, d):
    X = coded(random, n, d)
    for ours, other in zip(compiled.code_range(X), reference.code_range(X), strict=True):
        np.testing.assert_array_equal(ours, other)


@share(2)
@given(random=randoms, n=n_rows, d=n_columns, cells=kinds, threshold=thresholds)
def test_sparse_sums_agree_to_the_last_bit(random, n, d, cells, threshold):
    X = some_sparse_rows(random, n, d, cells)
    codes, weight = group_codes(random, n, K), weights(random, n)
    ours = compiled.sparse_sums(X, codes, weight, K, threshold)
    assert_equal_sums([ours], [reference.sparse_sums(X, codes, weight, K, threshold)])


def test_a_small_negative_sparse_entry_keeps_its_sign():
    X, codes = sparse_rows(np.array([[-(2.0**-11)]])), np.zeros(1, np.int32)
    assert Exact(*compiled.sparse_sums(X, codes, None, 1, None)).rounded() == -(2.0**-11)


@share(2)
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
