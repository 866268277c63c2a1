"""Every compiled kernel agrees with its twin in plain NumPy, on tables of any layout."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from strategies import (
    any_number,
    arrays,
    fractions_of,
    group_codes,
    integers,
    layouts,
    plain_number,
    share,
    sizes,
    sparse_rows,
    tables,
    weights,
)

from posterior.data.errors import NotFiniteError
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
numbers = st.one_of(plain_number, any_number)
any_weight = st.floats(0.0, 1e300)
parameter = st.floats(-50, 50)


@st.composite
def grouped(draw, elements=numbers, missing=True):
    """A table in any layout, the groups of its rows, and their weights."""
    n = draw(sizes)
    X = draw(layouts(draw(tables(n, elements=elements, missing=missing))))
    return X, draw(group_codes(n, K)), draw(weights(n, any_weight))


@st.composite
def sparse_grouped(draw):
    n = draw(sizes)
    cells = st.one_of(st.just(0.0), numbers, st.integers(1, 2**40).map(float))
    X = draw(tables(n, elements=cells, missing=False))
    values = draw(st.sampled_from([np.float32, np.float64]))
    index = draw(st.sampled_from([np.int32, np.int64]))
    first = draw(st.integers(0, n - 1))  # rows from the middle of a table are views of it
    rows = sparse_rows(X, values, index)[first:]
    return rows, draw(group_codes(n - first, K)), draw(weights(n - first, any_weight))


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


@given(table=grouped(), squares=st.booleans())
@example(
    table=(np.array([[-(2.0**22)], [2.0**-200]]), np.zeros(2, np.int32), None), squares=True
)
def test_moments_agree_to_the_last_bit(table, squares):
    X, codes, weight = table
    ours = compiled.moments(X, codes, weight, K, squares)
    assert_equal_sums(ours, reference.moments(X, codes, weight, K, squares))


@given(table=grouped())
def test_moments_are_the_sums_of_fractions(table):
    X, codes, weight = table
    w = [Fraction(1)] * len(X) if weight is None else fractions_of(weight)
    expected = np.full((3, K, X.shape[1]), Fraction(0))
    for i, j in np.argwhere(~np.isnan(X) & (codes >= 0)[:, None]):
        x = Fraction(float(X[i, j]))
        expected[:, codes[i], j] += [w[i], w[i] * x, w[i] * x * x]
    for (table_limbs, exponent), values in zip(
        compiled.moments(X, codes, weight, K), expected, strict=True
    ):
        unit = Fraction(2) ** exponent
        for cell in np.ndindex(K, X.shape[1]):
            limb = table_limbs[cell].tolist()
            assert unit * sum(v << 32 * i for i, v in enumerate(limb)) == values[cell]


@share(5)
@given(
    seed=st.integers(0, 2**32),
    n=st.integers(1, 1500),
    d=st.integers(1, 20),
    spread=st.sampled_from([0, 1, 8, 60, 120, 500]),
    digits=st.sampled_from([3, 24, 53]),
    holes=st.booleans(),
    weighted=st.booleans(),
)
def test_moments_agree_on_long_tables(seed, n, d, spread, digits, holes, weighted):
    """Blocks, slices of 256 rows, and columns that outgrow what their first rows promised."""
    random = np.random.default_rng(seed)
    mantissa = np.ldexp(random.integers(-(2**digits), 2**digits, (n, d)).astype(float), -digits)
    X = np.ldexp(mantissa, random.integers(-spread, spread + 1, (n, 1)))
    X[random.random((n, d)) < (0.1 if holes else 0)] = np.nan
    codes = random.integers(-1, K, n).astype(np.int32)
    weight = random.random(n) if weighted else None
    narrow = [X.astype(np.float32)] if spread < 127 else []
    for table in [X, np.asfortranarray(X), *narrow]:
        ours = compiled.moments(table, codes, weight, K)
        assert_equal_sums(ours, reference.moments(table, codes, weight, K))


@given(table=grouped(missing=False), cell=st.integers(0, 100), bad=st.sampled_from([1, -1]))
def test_both_refuse_infinite_cells(table, cell, bad):
    X, codes, weight = table
    X[np.unravel_index(cell % X.size, X.shape)] = bad * np.inf
    codes[:], weight = 0, None if weight is None else np.ones(len(X))
    for twin in (compiled, reference):
        with pytest.raises(NotFiniteError):
            twin.moments(X, codes, weight, K)


code_types = st.sampled_from([np.int64, np.int32, np.int16, np.uint8])


@st.composite
def coded(draw):
    n, d, dtype = draw(sizes), draw(st.integers(1, 4)), draw(code_types)
    least = 0 if dtype is np.uint8 else -1
    X = draw(integers((n, d), 7, least)).astype(dtype)
    X = draw(st.sampled_from([X, np.asfortranarray(X), np.repeat(X, 2, axis=0)[::2]]))
    return X, draw(group_codes(n, K)), draw(weights(n, any_weight))


@given(table=coded(), sizes=st.lists(st.integers(0, 7), min_size=4, max_size=4))
def test_category_counts_agree_to_the_last_bit(table, sizes):
    X, codes, weight = table
    sizes = np.array(sizes[: X.shape[1]])
    ours = compiled.category_counts(X, codes, weight, K, sizes)
    assert_equal_sums([ours], [reference.category_counts(X, codes, weight, K, sizes)])


@given(table=coded())
def test_ranges_of_codes_agree(table):
    for ours, plain in zip(compiled.code_range(table[0]), reference.code_range(table[0]), strict=True):
        np.testing.assert_array_equal(ours, plain)


@given(table=sparse_grouped(), threshold=st.sampled_from([None, 0.0, 1.5, -1.0]))
@example(
    table=(sparse_rows(np.array([[-(2.0**-11)]])), np.zeros(1, np.int32), None), threshold=None
)
def test_sparse_sums_agree_to_the_last_bit(table, threshold):
    ours = compiled.sparse_sums(*table, K, threshold)
    assert_equal_sums([ours], [reference.sparse_sums(*table, K, threshold)])


@given(numbers=arrays(4, any_number), seed=st.integers(0, 2**32))
def test_carries_and_pairs_agree_to_the_last_bit(numbers, seed):
    exact, exponent = limbs.of_doubles(numbers)
    loose = exact + np.random.default_rng(seed).integers(-(2**40), 2**40, exact.shape)
    ours, plain = loose.copy(), loose.copy()
    compiled.carry(ours)
    reference.carry(plain)
    np.testing.assert_array_equal(ours, plain)
    for table in (exact, -exact, ours):
        compiled.carry(table)
        pairs = compiled.to_pairs(table, exponent), reference.to_pairs(table, exponent)
        for a, b in zip(*pairs, strict=True):
            assert a.tobytes() == b.tobytes()


def parameters(d: int) -> st.SearchStrategy[np.ndarray]:
    return arrays((K, d), parameter)


@given(data=st.data())
def test_gaussian_scores_agree(data):
    X, _, _ = data.draw(grouped())
    d = X.shape[1]
    mean, term = data.draw(parameters(d)), data.draw(parameters(d))
    deviation = np.abs(data.draw(parameters(d)))
    constant = data.draw(arrays(K, st.just(-np.inf) | parameter))
    ours, plain = np.empty((2, len(X), K))
    with np.errstate(over="ignore"):
        reference.gaussian_log_joint(X, mean, deviation, term, constant, plain)
        distance = np.nan_to_num((X.astype(float)[:, None] - mean) * deviation)
        scale = (distance**2).sum(axis=2) + np.abs(term).sum(axis=1) + np.abs(constant)
    compiled.gaussian_log_joint(X, mean, deviation, term, constant, ours)
    assert_close(ours, plain, scale)


@given(data=st.data())
def test_linear_scores_agree(data):
    X, _, _ = data.draw(grouped(elements=plain_number))
    weight, absent = (data.draw(parameters(X.shape[1])) for _ in range(2))
    bias = data.draw(arrays(K, st.just(-np.inf) | parameter))
    ours, plain = np.empty((2, len(X), K))
    compiled.linear_log_joint(X, weight, absent, bias, ours)
    reference.linear_log_joint(X, weight, absent, bias, plain)
    scale = np.abs(np.nan_to_num(X.astype(float))) @ np.abs(weight).T
    assert_close(ours, plain, scale + np.abs(absent).sum(axis=1) + np.abs(bias))


@given(data=st.data(), threshold=st.sampled_from([None, 0.0, 1.5]))
def test_sparse_scores_agree(data, threshold):
    rows, _, _ = data.draw(sparse_grouped())
    weight = data.draw(parameters(rows.n_columns))
    bias = data.draw(arrays(K, parameter))
    ours, plain = np.empty((2, rows.shape[0], K))
    with np.errstate(over="ignore", invalid="ignore"):
        reference.sparse_log_joint(rows, reference.side_by_side(weight), bias, threshold, plain)
        scale = np.abs(rows.scipy()).toarray().astype(float) @ np.abs(weight).T
    compiled.sparse_log_joint(rows, compiled.side_by_side(weight), bias, threshold, ours)
    usable = np.isfinite(scale).all(axis=1)  # inf - inf is not a number in either
    assert_close(ours[usable], plain[usable], scale[usable] + K * 200)


@given(weight=st.integers(1, 20).flatmap(lambda k: arrays((k, 3), parameter)))
def test_tables_side_by_side_agree(weight):
    ours, plain = compiled.side_by_side(weight), reference.side_by_side(weight)
    np.testing.assert_array_equal(ours[:, : len(weight)], plain)
    assert not ours[:, len(weight) :].any()


@given(data=st.data())
def test_scores_by_table_agree(data):
    X, _, _ = data.draw(coded())
    values = data.draw(st.lists(st.integers(1, 7), min_size=X.shape[1], max_size=X.shape[1]))
    offset = np.concatenate([[0], np.cumsum(values)]).astype(np.int64)
    log_prob = data.draw(parameters(int(offset[-1])))
    bias = data.draw(arrays(K, st.just(-np.inf) | parameter))
    ours, plain = np.empty((2, len(X), K))
    compiled.table_log_joint(X, compiled.side_by_side(log_prob), offset, bias, ours)
    reference.table_log_joint(X, reference.side_by_side(log_prob), offset, bias, plain)
    assert_close(ours, plain, 50.0 * X.shape[1] + np.abs(bias) + np.zeros_like(plain))


score = st.one_of(
    st.floats(-50, 50), st.just(-np.inf), st.floats(-1e308, 1e308), st.floats(-760, -700)
)


@given(
    L=st.tuples(st.integers(1, 20), st.integers(1, 10)).flatmap(lambda s: arrays(s, score)),
    wanted=st.sampled_from(["posterior", "log_posterior", "log_evidence"]),
)
@example(L=np.full((1, K), -np.inf), wanted="posterior")
@example(L=np.full((1, K), -np.inf), wanted="log_posterior")
def test_normalized_rows_agree(L, wanted):
    """To 1e-14 of the row's largest score: both exponentials are right to the last bits."""
    ours, plain, evidence = L.copy(), L.copy(), np.empty((2, len(L)))
    compiled.normalize(ours, wanted, evidence[0])
    reference.normalize(plain, wanted, evidence[1])
    largest = np.abs(L).max(axis=1, initial=1.0, where=np.isfinite(L))
    assert_close(evidence[0], evidence[1], largest)
    if wanted == "posterior":  # shares down to the smallest double
        np.testing.assert_allclose(ours, plain, rtol=1e-14, atol=5e-324)
    else:
        assert_close(ours, plain, np.broadcast_to(largest[:, None], L.shape))
