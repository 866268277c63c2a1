"""Distances that the user has computed: all of them, or those of near rows in a sparse graph."""

from __future__ import annotations

from typing import Any

import numpy as np

from posterior.data.rows import SparseRows, slabs
from posterior.data.typing import Array, Floats, Integers


class PrecomputedDistances:
    """An index whose queries are rows of distances from the n training rows.

    Of a sparse graph only stored entries are neighbors; a row is its own neighbor at distance 0
    only where that entry is stored.
    """

    def nearest(self, Q: Any, k: int, skip: Array | None = None) -> tuple[Floats, Integers]:
        if isinstance(Q, SparseRows):
            return _from_graph(Q, k, skip)
        distances, rows = np.empty((len(Q), k)), np.empty((len(Q), k), np.int64)
        for part in slabs(*Q.shape):
            D = Q[part].astype(np.float64)
            if skip is not None:
                own = np.flatnonzero(skip[part] >= 0)
                D[own, skip[part][own]] = np.nan  # sorted behind all numbers
            rows[part] = _first(D, k)
            distances[part] = np.take_along_axis(D, rows[part], axis=1)
        return distances, rows


def _first(D: Floats, k: int) -> Integers:
    """The k least of each row, of equals the first."""
    if k < D.shape[1]:
        limit = np.partition(D, k - 1, axis=1)[:, k - 1 : k]
        D = np.where(limit >= D, D, np.nan)
    return np.argsort(D, axis=1, kind="stable")[:, :k]


def _from_graph(Q: SparseRows, k: int, skip: Array | None) -> tuple[Floats, Integers]:
    n = np.diff(Q.start)
    owner = np.repeat(np.arange(len(n)), n)
    entries, column = Q.entries(), Q.column[Q.start[0] : Q.start[-1]]
    if skip is not None:
        kept = column != skip[owner]
        owner, entries, column = owner[kept], entries[kept], column[kept]
        n = np.bincount(owner, minlength=len(n))
    if n.min(initial=k) < k:
        extra = skip is not None  # as scikit-learn counts: with the row itself
        raise ValueError(
            f"{k + extra} neighbors per samples are required, but some samples have only "
            f"{n.min() + extra} neighbors in precomputed graph matrix. Decrease number of "
            "neighbors used or recompute the graph with more neighbors."
        )
    order = np.lexsort((column, entries, owner))
    first = np.concatenate([[0], np.cumsum(n)[:-1]])
    at = order[first[:, None] + np.arange(k)]
    return entries[at].astype(np.float64), column[at].astype(np.int64)
