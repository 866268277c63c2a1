"""Cosine and correlation distance: Euclidean distance of the directions of rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from posterior.data.rows import SparseRows, slabs
from posterior.data.typing import Array, Floats, Integers
from posterior.neighbors.index import Index


class Directions:
    """Rows, near if the angle between them is small: 1 - u·v = |u - v|² / 2,  u = x / |x|.

    So the smallest distances keep their digits. A row of zeros is at right angles to all others,
    at distance one. Rows that differ by a factor alone are equal up to the rounding of x / |x|.
    """

    def __init__(self, X: Array | SparseRows, search: Callable[[Any], Index]) -> None:
        self._index = search(directions(X)[0])

    def nearest(self, Q: Any, k: int, skip: Array | None = None) -> tuple[Floats, Integers]:
        U, zero = directions(Q)
        distance, number = self._index.nearest(U, k, skip)
        distance = 0.5 * distance**2
        order = np.lexsort((number, distance), axis=1)  # squares may be equal
        distance = np.take_along_axis(distance, order, 1)
        number = np.take_along_axis(number, order, 1)
        distance[zero] = 1.0
        number[zero] = np.arange(k)
        if skip is not None:
            own = np.asarray(skip)[zero, None]
            number[zero] += (own >= 0) & (number[zero] >= own)
        return distance, number


class Correlations:
    """Rows, near if they correlate: their directions around their means."""

    def __init__(self, X: Array, search: Callable[[Any], Index]) -> None:
        self._directions = Directions(centered(X), search)

    def nearest(self, Q: Any, k: int, skip: Array | None = None) -> tuple[Floats, Integers]:
        return self._directions.nearest(centered(Q), k, skip)


def directions(X: Array | SparseRows) -> tuple[Array | SparseRows, Array]:
    """x / |x|, a column that is one where x is zero, and the rows where it is."""
    if isinstance(X, SparseRows):
        return _sparse_directions(X)
    U = np.zeros((len(X), X.shape[1] + 1))
    for rows in slabs(*X.shape):
        x = X[rows].astype(np.float64)
        x /= _or_one(np.abs(x).max(axis=1, initial=0.0))[:, None]  # squares do not overflow
        length = np.sqrt(np.einsum("ij,ij->i", x, x))
        U[rows, :-1] = x / _or_one(length)[:, None]
        U[rows, -1] = length == 0
    return U, U[:, -1] == 1


def _sparse_directions(X: SparseRows) -> tuple[SparseRows, Array]:
    matrix = X.canonical().scipy(copy=False).astype(np.float64)
    n = matrix.shape[0]
    row = np.repeat(np.arange(n), np.diff(matrix.indptr))
    largest = np.zeros(n)
    np.maximum.at(largest, row, np.abs(matrix.data))
    matrix.data /= _or_one(largest)[row]
    length = np.sqrt(np.bincount(row, matrix.data**2, n))
    matrix.data /= _or_one(length)[row]
    zero = length == 0
    table = sparse.hstack([matrix, sparse.csr_array(zero[:, None] * 1.0)], format="csr")
    return SparseRows.of(sparse.csr_array(table)), zero


def centered(X: Array) -> Floats:
    """Rows less their means; a row that does not vary is zero, whatever the rounding."""
    X = X.astype(np.float64)
    mean = X.sum(axis=1, keepdims=True) / max(X.shape[1], 1)
    apart = X - mean
    unit = X.shape[1] * np.finfo(np.float64).eps * np.abs(mean)
    apart[(np.abs(apart) <= unit).all(axis=1)] = 0.0
    return apart


def _or_one(x: Floats) -> Floats:
    return np.where(x > 0, x, 1.0)
