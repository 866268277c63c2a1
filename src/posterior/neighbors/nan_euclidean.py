"""Rows with missing cells, by the columns that two rows share."""

from __future__ import annotations

from typing import Any

import numpy as np

from posterior.data.rows import slabs
from posterior.data.typing import Array, Floats, Integers
from posterior.neighbors.index import Best, Fill, deal, wanted, without

CELLS = 131_072  # pairs of a query and a row at once
DOUBLE = np.finfo(np.float64)


class NanEuclideanIndex:
    """Rows with NaN where a cell is missing. With S the columns that both rows have,

        d(a, b)²  =  D / |S|  Σ_{j ∈ S} (aⱼ - bⱼ)²          ∞ where S is empty

    as scikit-learn's nan_euclidean_distances, except that those are NaN where S is empty.

    Matrix products find out who may be near: around the column means, where what they round is
    less than (4 D + 32) ε (|a|² + |b|²). The differences themselves decide.
    """

    def __init__(self, X: Any, fill: Fill) -> None:
        self._X, self._fill = np.asarray(X), fill
        observed = ~np.isnan(self._X)
        total = np.where(observed, self._X, 0).sum(axis=0, dtype=np.float64)
        self._center = total / np.maximum(observed.sum(axis=0), 1)

    def nearest(self, Q: Any, k: int, skip: Array | None = None) -> tuple[Floats, Integers]:
        n, queries = len(self._X), np.asarray(Q)
        most = wanted(k, skip, n)
        look = lambda part: self._search(queries[part], most)  # noqa: E731
        return without(*deal(look, self._fill, len(queries), n, most), skip, k)

    def distances(self, Q: Array) -> Floats:
        """Of all queries from all rows, (m, n)."""
        out = np.empty((len(Q), len(self._X)))

        def measure(_: Array, part: slice, distances: Floats) -> None:
            q = Q[part]
            query, row = np.divmod(np.arange(distances.size), len(self._X))
            distances[...] = self._distances(q, self._X, query, row).reshape(distances.shape)

        self._fill(measure, np.broadcast_to(np.arange(len(Q))[:, None], out.shape), out)
        return out

    def _search(self, Q: Array, k: int) -> tuple[Floats, Integers]:
        best = Best(len(Q), k)
        step = max(CELLS // len(Q), 1)
        left = self._parts(Q)
        for first in range(0, len(self._X), step):
            X = self._X[first : first + step]
            least, most = self._between(left, self._parts(X))
            limit = best.distance[:, -1:] ** 2 if best.full else best.limit(most)
            query, column = np.nonzero(~(least > limit * (1 + 1e-15)))
            best.add(query, column, self._distances(Q, X, query, column), len(X))
        return best.distance, best.number

    def _parts(self, X: Array) -> tuple[Floats, Floats, Floats]:
        """Cells around their means, 0 where missing; which are observed; and their squares."""
        observed = ~np.isnan(X)
        Z = np.where(observed, X - self._center, 0.0)
        return Z, observed.astype(np.float64), Z * Z

    def _between(
        self, left: tuple[Floats, Floats, Floats], right: tuple[Floats, Floats, Floats]
    ) -> tuple[Floats, Floats]:
        """Squared distances (m, b) are between these."""
        (A, seen, A2), (B, shown, B2) = left, right
        d = A.shape[1]
        E = np.concatenate([A2, seen, -2 * A], axis=1) @ np.concatenate([shown, B2, B], axis=1).T
        shared = seen @ shown.T
        with np.errstate(divide="ignore", invalid="ignore"):
            scale = d / shared
            error = np.add.outer(A2.sum(axis=1), B2.sum(axis=1)) * DOUBLE.eps
            error = (4 * d + 32) * (error + DOUBLE.tiny)
            least, most = (E - error) * scale, (E + error) * scale
        least[shared == 0] = most[shared == 0] = np.inf
        return least, most

    def _distances(self, Q: Array, X: Array, query: Integers, column: Integers) -> Floats:
        """Distances of some pairs, by their differences."""
        d = Q.shape[1]
        squares, shared = np.empty(len(query)), np.empty(len(query))
        for part in slabs(len(query), d):
            apart = Q[query[part]].astype(np.float64) - X[column[part]]
            known = ~np.isnan(apart)
            apart[~known] = 0
            shared[part] = known.sum(axis=1)
            squares[part] = np.cumsum(apart * apart, axis=1)[:, -1]  # in order
        scaled = squares / np.maximum(shared, 1) * d
        # of whole rows the very square, as other searches measure it: equals stay equal
        distance = np.sqrt(np.where(shared == d, squares, scaled))
        distance[shared == 0] = np.inf
        return distance
