"""The k-d tree: the neighbors of a naive computation, to the last bit and the last tie."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from posterior import kernels
from posterior.engines.local import Local
from posterior.kernels import reference
from posterior.kernels.reference import tree as twins
from posterior.neighbors.tree_search import KDTree

Array = Any
ROUNDED_ALIKE = [1, 2, np.inf]  # powers that NumPy and C++ round alike
LEAF = 40  # kLeaf in cpp/tree.hpp
DTYPES = st.sampled_from([np.float32, np.float64])
KINDS = ["normal", "grid", "coarse", "duplicates", "offset", "constant", "outlier", "clusters"]


@st.composite
def tables(draw: Any) -> tuple[Array, Array, int]:
    """Rows, queries (some of them rows) and a number of neighbors."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d = draw(st.integers(1, 600)), draw(st.sampled_from([1, 2, 3, 5, 9]))
    X = rng.normal(size=(n, d))
    kind = draw(st.sampled_from(KINDS))
    if kind == "grid":
        X = np.round(3 * X)
    elif kind == "coarse":
        X = rng.integers(0, 2, (n, d)).astype(float)
    elif kind == "duplicates":
        X = X[rng.integers(0, max(1, n // 100), n)]
    elif kind == "offset":
        X = X + 1e8 * rng.normal(size=d)
    elif kind == "constant":
        X[:, rng.integers(0, d)] = 12345.678
    elif kind == "outlier":
        X[rng.integers(0, n)] *= 1e6
    elif kind == "clusters":
        X = 1e-3 * X + rng.integers(0, 3, (n, 1))
    X = X.astype(draw(DTYPES))
    Q = np.concatenate([X[rng.integers(0, n, 8)], (X.mean(axis=0) + 2 * rng.normal(size=(8, d)))])
    k = draw(st.sampled_from([1, 2, 10, 40, n]))
    return X, Q, min(k, n)


def naive(X: Array, Q: Array, k: int, p: float, skip: Array | None = None) -> tuple[Array, Array]:
    """All distances, column after column, and a stable sort."""
    apart = [abs(x - q[:, None]) for x, q in zip(X.astype(float).T, Q.astype(float).T, strict=True)]
    if np.isinf(p):
        D = np.max(apart, axis=0)
    else:
        D = sum(a**p for a in apart) ** (1 / p) if p != 2 else np.sqrt(sum(a * a for a in apart))
    if skip is not None:
        D[skip >= 0, skip[skip >= 0]] = np.nan
    first = np.argsort(D, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(D, first, axis=1), first


def search(X: Array, Q: Array, k: int, p: float, **local: Any) -> tuple[Array, Array]:
    return KDTree(X, p, Local(**local).fill).nearest(Q, k)


@given(table=tables(), p=st.sampled_from(ROUNDED_ALIKE))
def test_neighbors_are_those_of_all_distances(table: Any, p: float) -> None:
    X, Q, k = table
    for ours, plain in zip(search(X, Q, k, p), naive(X, Q, k, p), strict=True):
        assert_array_equal(ours, plain)


@given(table=tables(), p=st.sampled_from([1.1, 1.5, 3, 7.5, 20]))
def test_neighbors_by_other_powers_are_as_near_as_any(table: Any, p: float) -> None:
    X, Q, k = table
    distances, numbers = search(X, Q, k, p)
    expected, _ = naive(X, Q, k, p)
    assert_allclose(distances, expected, rtol=1e-12)
    measured, _ = naive(X, Q, len(X), p)
    assert all(len(set(row)) == k for row in numbers)
    order = np.argsort(naive(X, Q, len(X), p)[1], axis=1)
    assert_allclose(np.take_along_axis(measured, np.take_along_axis(order, numbers, 1), 1),
                    distances, rtol=1e-12)  # fmt: skip
    tied = np.diff(distances, axis=1) == 0
    assert (np.diff(distances, axis=1) >= 0).all() and (np.diff(numbers, axis=1)[tied] > 0).all()


@given(table=tables(), p=st.sampled_from(ROUNDED_ALIKE))
def test_the_search_agrees_with_its_twin(table: Any, p: float) -> None:
    X, Q, k = table
    tree, Q = reference.grow_tree(X), Q.astype(float)
    D, numbers = np.empty((len(Q), k)), np.empty((len(Q), k), np.int64)
    leaf = np.empty(len(Q), np.int32)
    reference.find_leaves(tree, Q, leaf)
    twins.search_tree(tree, Q, leaf, np.arange(len(Q)), p, D, numbers)
    for ours, plain in zip(search(X, Q, k, p), (D, numbers), strict=True):
        assert_array_equal(ours, plain)


@given(table=tables(), chunk=st.integers(1, 20), threads=st.integers(1, 3))
def test_threads_and_chunks_change_nothing(table: Any, chunk: int, threads: int) -> None:
    X, Q, k = table
    here, there = search(X, Q, k, 2), search(X, Q, k, 2, threads=threads, chunk_rows=chunk)
    for one, other in zip(here, there, strict=True):
        assert_array_equal(one, other)


@given(table=tables(), p=st.sampled_from(ROUNDED_ALIKE))
def test_a_row_that_is_skipped_is_not_among_its_neighbors(table: Any, p: float) -> None:
    X, _, k = table
    if len(X) == 1:
        return
    k, skip = min(k, len(X) - 1), np.arange(len(X))
    skip[::3] = -1
    ours = KDTree(X, p, Local().fill).nearest(X, k, skip)
    for one, plain in zip(ours, naive(X, X, k, p, skip), strict=True):
        assert_array_equal(one, plain)


@given(table=tables())
def test_a_tree_holds_every_row_once_and_its_leaves_are_small_or_of_equal_rows(table: Any) -> None:
    X, _, _ = table
    tree = kernels.grow_tree(X)
    known = tree.number >= 0
    rows = tree.points.swapaxes(1, 2)
    assert_array_equal(np.sort(tree.number[known]), np.arange(len(X)))
    assert_array_equal(rows[known], X[tree.number[known]])
    if kernels.grow_tree is reference.grow_tree:
        return  # it has one leaf
    for first, last in zip(tree.start[:-1], tree.start[1:], strict=True):
        here = known[first:last]
        leaf, numbers = rows[first:last][here], tree.number[first:last][here]
        equal = (leaf == leaf[0]).all() and (np.diff(numbers) > 0).all()
        assert len(leaf) <= LEAF or equal
    assert len(np.unique(tree.child[~np.isnan(tree.boxes[:, 0, 0])])) == (
        len(tree.child) - 1 + len(tree.start) - 1  # every node but the root, and every leaf
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_equal_rows_by_the_thousand_are_not_looked_at_one_by_one(dtype: Any) -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (30_000, 3)).astype(dtype)  # each of 27 points 1,000 times
    distances, numbers = search(X, X[:400], 3, 2)
    assert not distances.any()
    first = {tuple(x): np.flatnonzero((X == x).all(axis=1))[:3] for x in np.unique(X, axis=0)}
    assert_array_equal(numbers, [first[tuple(x)] for x in X[:400]])


def test_values_that_pile_up_make_no_deep_tree() -> None:
    rng = np.random.default_rng(1)
    X = np.where(rng.random((20_000, 2)) < 0.99, 0.0, rng.normal(size=(20_000, 2)))
    X[:5] *= 1e9
    Q = X[::50]
    for ours, plain in zip(search(X, Q, 5, 2), naive(X, Q, 5, 2), strict=True):
        assert_array_equal(ours, plain)


def test_distances_beyond_the_largest_number_are_ties() -> None:
    X = np.array([[1e200], [-1e200], [3e200], [0.0]])
    distances, numbers = search(X, np.array([[0.0]]), 4, 2)
    assert_array_equal(distances, [[0, np.inf, np.inf, np.inf]])
    assert_array_equal(numbers, [[3, 0, 1, 2]])


def test_distances_below_the_smallest_number_are_ties() -> None:
    X = np.array([[2e-170], [1e-170], [0.0], [1.0]])
    distances, numbers = search(X, np.array([[0.0]]), 3, 2)
    assert_array_equal(distances, [[0, 0, 0]])
    assert_array_equal(numbers, [[0, 1, 2]])


@pytest.mark.parametrize("p", [1, 2, 3, np.inf])
def test_minus_zero_is_zero(p: float) -> None:
    X = np.array([[-0.0], [0.0], [1.0], [-0.0]])
    for zero in (0.0, -0.0):
        distances, numbers = search(X, np.array([[zero]]), 4, p)
        assert_array_equal(distances, [[0, 0, 0, 1]])
        assert_array_equal(numbers, [[0, 1, 3, 2]])


def test_no_queries_have_no_neighbors() -> None:
    distances, numbers = search(np.zeros((5, 2)), np.empty((0, 2)), 3, 2)
    assert distances.shape == numbers.shape == (0, 3)


def test_rows_in_any_memory_order_make_the_same_tree() -> None:
    X = np.random.default_rng(2).normal(size=(500, 6))
    for other in (np.asfortranarray(X), np.repeat(X, 2, axis=0)[::2], X[::-1].copy()[::-1]):
        for one, same in zip(search(X, X, 4, 1), search(other, other, 4, 1), strict=True):
            assert_array_equal(one, same)


def test_a_tree_survives_pickling() -> None:
    X = np.random.default_rng(3).normal(size=(300, 2))
    tree = KDTree(X, 2, Local().fill)
    again = pickle.loads(pickle.dumps(tree))
    for one, other in zip(tree.nearest(X, 3), again.nearest(X, 3), strict=True):
        assert_array_equal(one, other)


@pytest.mark.parametrize("p", [0.5, 0, -1, np.nan])
def test_a_power_below_one_is_no_distance(p: float) -> None:
    with pytest.raises(ValueError, match="Expected p from 1 to infinity, got"):
        KDTree(np.zeros((2, 2)), p, Local().fill)


@pytest.mark.parametrize("shape", [(0, 2), (3, 0)])
def test_a_tree_of_nothing_is_refused(shape: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="Expected 1 to"):
        KDTree(np.zeros(shape), 2, Local().fill)
