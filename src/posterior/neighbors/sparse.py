"""Sparse rows by Euclidean distance."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from posterior.data.rows import SparseRows
from posterior.data.typing import Array, Floats, Integers
from posterior.kernels.searched import Shortlist, rounding
from posterior.neighbors.index import Fill
from posterior.neighbors.nearest_first import deal, wanted, without

CELLS = 1 << 18  # distances of a block
LEAST = 64  # rows of a block


class SparseSearch:
    """Compressed sparse rows, near if |q - x| is small: products first, then differences."""

    def __init__(self, X: SparseRows, fill: Fill) -> None:
        self._X, self._fill = _matrix(X), fill
        self._square = _squares(self._X)

    def nearest(self, Q: Any, k: int, skip: Array | None = None) -> tuple[Floats, Integers]:
        X, square = self._X, self._square
        n = X.shape[0]
        most = wanted(k, skip, n)
        queries = _matrix(Q)

        def look(part: slice) -> tuple[Floats, Integers]:
            q = queries[part]
            found = Shortlist(q.shape[0], most)
            own = _squares(q)[:, None]
            error = rounding(int(np.diff(q.indptr).max(initial=0)))  # of so many products a sum

            def measure(query: Integers, row: Integers) -> Floats:
                return np.sqrt(_squares(q[query] - X[row]))

            step = max(LEAST, CELLS // max(q.shape[0], 1))
            for start in range(0, n, step):
                size = own + square[start : start + step]
                D = size - 2 * (q @ X[start : start + step].T).toarray()
                found.see(D, error * size, start, measure)
            return found.distance, found.number

        distance, number = deal(look, self._fill, queries.shape[0], n, most)
        return without(distance, number, skip, k)


def _matrix(X: Any) -> sparse.csr_array:
    """In double precision, columns ascending, each once."""
    if not isinstance(X, SparseRows):
        return sparse.csr_array(X, dtype=np.float64)
    return X.canonical().scipy(copy=False).astype(np.float64)


def _squares(X: sparse.csr_array) -> Floats:
    """|x|² of each row."""
    row = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    return np.bincount(row, X.data**2, X.shape[0]).astype(np.float64)
