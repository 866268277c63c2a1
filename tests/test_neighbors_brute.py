"""Brute force: the neighbors of a plain computation, their order and their distances."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.spatial.distance import cdist

from posterior import kernels
from posterior.data.rows import SparseRows
from posterior.engines.local import Local
from posterior.kernels.reference import search as twins
from posterior.neighbors.brute_force import BlockedSearch, BruteForce, SparseSearch, searched
from posterior.neighbors.metrics import haversine, search

Array = Any
FILL = Local(threads=1).fill
KINDS = ["normal", "grid", "duplicates", "offset", "constant", "outlier", "tight", "huge", "tiny"]


@st.composite
def tables(draw: Any) -> tuple[Array, Array, int]:
    """Rows, queries and a number of neighbors; kinds of rows that are easy to get wrong."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d = draw(st.integers(1, 200)), draw(st.sampled_from([1, 2, 3, 7, 8, 16, 17, 33]))
    m, k = draw(st.integers(1, 70)), draw(st.integers(1, n))
    both = rng.normal(size=(n + m, d)) + 3 * rng.integers(0, 3, (n + m, 1))
    kind = draw(st.sampled_from(KINDS))
    if kind == "grid":
        both = np.round(both)
    elif kind == "duplicates":
        both = both[rng.integers(0, max(1, n // 8), n + m)]
    elif kind == "offset":
        both = both + 1e8 * rng.normal(size=d)
    elif kind == "constant":
        both[:, rng.integers(0, d)] = 12345.678
    elif kind == "outlier":
        both[rng.integers(0, n)] *= 1e6
    elif kind == "tight":
        both = 1e-7 * both + rng.normal(size=(3, d))[rng.integers(0, 3, n + m)]
    elif kind == "huge":
        both = both * 1e17
    elif kind == "tiny":
        both = both * 1e-17
    both = both.astype(draw(st.sampled_from([np.float32, np.float64])))
    return both[:n], both[n:], k


def plain(D: Array, k: int) -> tuple[Array, Array]:
    """The first k of all distances, equal ones in the order of the rows."""
    order = np.argsort(D, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(D, order, 1), order


def differences(Q: Array, X: Array) -> Array:
    apart = Q[:, None].astype(np.float64) - X[None].astype(np.float64)
    return np.sqrt(np.cumsum(apart**2, axis=2)[..., -1])


@given(tables())
def test_neighbors_are_those_of_the_differences(table: tuple[Array, Array, int]) -> None:
    X, Q, k = table
    distance, number = BruteForce(X, FILL).nearest(Q, k)
    expected, order = plain(differences(Q, X), k)
    assert_array_equal(number, order)
    assert_allclose(distance, expected, rtol=1e-15)


@pytest.mark.parametrize("single", [True, False], ids=["single", "double"])
@given(tables())
def test_kernels_agree_in_both_precisions(single: bool, table: tuple[Array, Array, int]) -> None:
    X, Q, k = table
    Q = Q.astype(np.float64)
    rows = searched(X, FILL)
    mine, other = ((np.empty((len(Q), k)), np.empty((len(Q), k), np.int64)) for _ in range(2))
    assert kernels.nearest_rows(Q, rows, single, *mine) >= k * len(Q)
    assert twins.nearest_rows(Q, rows, single, *other) >= k * len(Q)
    assert_array_equal(mine[1], other[1])
    assert_allclose(mine[0], other[0], rtol=1e-15)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("k", [1, 10, 300])
def test_many_rows_and_queries_need_few_measures(dtype: Any, k: int) -> None:
    rng = np.random.default_rng(0)
    X, Q = (rng.normal(size=(n, 20)).astype(dtype) for n in (6000, 300))
    D = differences(Q, X)
    expected, order = plain(D, k)
    distance, number = BruteForce(X, FILL).nearest(Q, k)
    assert_array_equal(number, order)
    assert_allclose(distance, expected, rtol=1e-15)
    out = np.empty((len(Q), k)), np.empty((len(Q), k), np.int64)
    measured = kernels.nearest_rows(Q.astype(np.float64), searched(X, FILL), True, *out)
    compiled = kernels.nearest_rows is not twins.nearest_rows
    assert measured < (1.2 if compiled else 30) * k * len(Q)


def test_rows_that_are_all_equal_come_in_order() -> None:
    X = np.full((5000, 6), 0.1)
    distance, number = BruteForce(X, FILL).nearest(X[:40], 7)
    assert_array_equal(number, np.tile(np.arange(7), (40, 1)))
    assert_array_equal(distance, 0.0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_ties_by_the_thousand_are_broken_by_the_row(dtype: Any) -> None:
    rng = np.random.default_rng(3)
    X, Q = (rng.integers(0, 2, (n, 8)).astype(dtype) for n in (8000, 100))
    distance, number = BruteForce(X, FILL).nearest(Q, 50)
    expected, order = plain(differences(Q, X), 50)
    assert_array_equal(number, order)
    assert_array_equal(distance, expected)


@given(tables(), st.integers(1, 50))
def test_chunks_and_threads_do_not_change_a_bit(table: tuple[Array, Array, int], size: int) -> None:
    X, Q, k = table
    dealt = Local(threads=2, chunk_rows=size).fill
    for one, other in zip(
        BruteForce(X, FILL).nearest(Q, k), BruteForce(X, dealt).nearest(Q, k), strict=True
    ):
        assert_array_equal(one, other)


@given(tables())
def test_a_row_to_skip_is_not_found(table: tuple[Array, Array, int]) -> None:
    X, _, k = table
    if len(X) == 1:
        return
    k = min(k, len(X) - 1)
    D = differences(X, X)
    skip = np.arange(len(X))
    skip[::3] = -1
    D[skip[skip >= 0], skip[skip >= 0]] = np.nan  # sorted behind all numbers
    distance, number = BruteForce(X, FILL).nearest(X, k, skip)
    expected, order = plain(D, k)
    assert_array_equal(number, order)
    assert_allclose(distance, expected, rtol=1e-15)


@pytest.mark.parametrize("size", [1e-200, 1e-120, 1e120, 1e170])
def test_sizes_beyond_the_range_of_squares_are_no_trap(size: float) -> None:
    rng = np.random.default_rng(0)
    X, Q = rng.normal(size=(50, 3)) * size, rng.normal(size=(20, 3))
    with np.errstate(over="ignore", under="ignore"):
        for queries in (Q, Q * size):
            distance, number = BruteForce(X, FILL).nearest(queries, 4)
            expected, order = plain(cdist(queries, X), 4)
            assert_array_equal(number, order)
            assert_allclose(distance, expected, rtol=1e-14)


def test_queries_of_double_precision_are_not_rounded_to_the_rows() -> None:
    X = np.array([[1.0], [1.0 + 2**-20]], np.float32)
    Q = np.array([[1.0 + 2**-21 + 2**-40], [1.0 + 2**-21 - 2**-40]])
    _, number = BruteForce(X, FILL).nearest(Q, 1)
    assert_array_equal(number[:, 0], [1, 0])


def test_more_neighbors_than_rows_are_refused() -> None:
    with pytest.raises(ValueError, match="Expected 1 to 3 neighbors of 3 rows, got 4"):
        BruteForce(np.zeros((3, 2)), FILL).nearest(np.zeros((1, 2)), 4)


@given(tables())
def test_sparse_rows_have_the_same_neighbors(table: tuple[Array, Array, int]) -> None:
    X, Q, k = table
    rng = np.random.default_rng(0)
    X, Q = (a * (rng.random(a.shape) < 0.4) for a in (X, Q))
    A, B = (SparseRows.of(sparse.csr_array(a)) for a in (X, Q))
    distance, number = SparseSearch(A, FILL).nearest(B, k)
    expected, order = plain(differences(Q, X), k)
    assert_allclose(distance, expected, rtol=1e-14)
    assert_array_equal(number, order)


METRICS: list[tuple[str, dict[str, Any]]] = [
    ("euclidean", {}),
    ("sqeuclidean", {}),
    ("cityblock", {}),
    ("chebyshev", {}),
    ("minkowski", {"p": 3}),
    ("minkowski", {"p": 1.5, "w": np.array([0.5, 2.0, 1.0, 3.0, 0.0])}),
    ("minkowski", {"p": 2, "w": np.array([0.5, 2.0, 1.0, 3.0, 0.0])}),
    ("cosine", {}),
    ("correlation", {}),
    ("canberra", {}),
    ("braycurtis", {}),
    ("hamming", {}),
    ("jensenshannon", {}),
    *((name, {}) for name in ("dice", "jaccard", "rogerstanimoto", "russellrao", "yule")),
]


@pytest.mark.parametrize(("metric", "settings"), METRICS)
def test_other_distances_are_those_of_scipy(metric: str, settings: dict[str, Any]) -> None:
    rng = np.random.default_rng(1)
    X, Q = np.abs(rng.normal(size=(300, 5))), np.abs(rng.normal(size=(80, 5)))
    if metric in ("hamming", "dice", "jaccard", "rogerstanimoto", "russellrao", "yule"):
        X, Q = X > 0.7, Q > 0.7
    D = cdist(Q, X, metric, **settings)
    distance, number = search(X * 1.0, metric, Local(chunk_rows=17).fill, **settings).nearest(
        Q * 1.0, 9
    )
    expected, order = plain(D, 9)
    assert_allclose(distance, expected, rtol=1e-12, atol=1e-15)
    assert_array_equal(number, order)


def test_what_scipy_learns_from_two_blocks_is_learned_from_the_rows() -> None:
    rng = np.random.default_rng(1)
    X, Q = rng.normal(size=(300, 3)) * [1, 5, 20], rng.normal(size=(30, 3))
    for metric, settings in (
        ("seuclidean", {"V": X.var(axis=0, ddof=1)}),
        ("mahalanobis", {"VI": np.linalg.inv(np.cov(X.T))}),
    ):
        expected, order = plain(cdist(Q, X, metric, **settings), 5)
        distance, number = search(X, metric, FILL).nearest(Q, 5)
        assert_array_equal(number, order)
        assert_allclose(distance, expected, rtol=1e-12)


def test_rows_of_zeros_are_at_right_angles_to_all() -> None:
    X = np.array([[0.0, 0.0], [1.0, 0.0], [-1.0, 0.0]])
    for rows in (X, SparseRows.of(sparse.csr_array(X))):
        index = search(rows, "cosine", FILL)
        distance, number = index.nearest(rows, 3)
        assert_array_equal(number, [[0, 1, 2], [1, 0, 2], [2, 0, 1]])
        assert_allclose(distance, [[1, 1, 1], [0, 1, 2], [0, 1, 2]])
        distance, number = index.nearest(rows, 2, np.arange(3))
        assert_array_equal(number, [[1, 2], [0, 2], [0, 1]])
        assert_allclose(distance, [[1, 1], [1, 2], [1, 2]])


def test_signals_that_do_not_vary_correlate_with_none() -> None:
    X = np.array([[0.1, 0.1, 0.1], [1.0, 2.0, 3.0], [3.0, 2.0, 1.0]])
    distance, number = search(X, "correlation", FILL).nearest(X, 3)
    assert_array_equal(number, [[0, 1, 2], [1, 0, 2], [2, 0, 1]])
    assert_allclose(distance, [[1, 1, 1], [0, 1, 2], [0, 1, 2]], atol=1e-15)


def test_correlation_keeps_its_digits_at_a_huge_offset() -> None:
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(200, 30)) * 1024)
    here, there = (search(rows, "correlation", FILL).nearest(rows[:50], 5) for rows in (X, X + 1e8))
    assert_array_equal(here[1], there[1])
    assert_allclose(here[0], there[0], rtol=1e-6, atol=1e-15)


@pytest.mark.parametrize("metric", ["cityblock", "cosine", "euclidean"])
def test_sparse_rows_by_name(metric: str) -> None:
    rng = np.random.default_rng(0)
    X, Q = (rng.normal(size=(n, 9)) * (rng.random((n, 9)) < 0.4) for n in (90, 30))
    X[:, 0], Q[:, 0] = 1.0, 1.0  # SciPy has no angle for rows of zeros
    A, B = (SparseRows.of(sparse.csr_array(a)) for a in (X, Q))
    distance, number = search(A, metric, FILL).nearest(B, 6)
    expected, order = plain(cdist(Q, X, metric), 6)
    assert_array_equal(number, order)
    assert_allclose(distance, expected, rtol=1e-12, atol=1e-15)


def test_functions_of_two_rows() -> None:
    rng = np.random.default_rng(0)
    X, Q = rng.integers(0, 4, (60, 3)) * 1.0, rng.integers(0, 4, (20, 3)) * 1.0
    expected, order = plain(cdist(Q, X, "cityblock"), 6)

    def dense(x: Array, y: Array, power: int) -> float:
        return float((np.abs(x - y) ** power).sum())

    def scattered(x: Array, y: Array, power: int) -> float:
        assert sparse.issparse(x)
        assert sparse.issparse(y)
        return dense(x.toarray(), y.toarray(), power)

    A, B = (SparseRows.of(sparse.csr_array(a)) for a in (X, Q))
    for rows, queries, function in ((X, Q, dense), (A, B, scattered)):
        distance, number = search(rows, function, FILL, power=1).nearest(queries, 6)
        assert_array_equal(number, order)
        assert_array_equal(distance, expected)


def test_distances_that_are_no_numbers_are_the_farthest() -> None:
    X = np.arange(6.0)[:, None]

    def even(A: Array, B: Array) -> Array:
        D = cdist(A, B)
        D[:, B[:, 0] % 2 == 1] = np.nan
        return D

    distance, number = BlockedSearch(X, even, FILL).nearest(np.array([[2.0]]), 5)
    assert_array_equal(number, [[2, 0, 4, 1, 3]])
    assert_array_equal(distance, [[0, 2, 2, np.inf, np.inf]])


def test_haversine_is_the_angle_on_the_sphere() -> None:
    pole, equator, away = (
        np.array([[np.pi / 2, 0.3]]),
        np.array([[0.0, 0.0]]),
        np.array([[0.0, 1.0]]),
    )
    assert_allclose(haversine(pole, equator), [[np.pi / 2]])
    assert_allclose(haversine(equator, away), [[1.0]])
