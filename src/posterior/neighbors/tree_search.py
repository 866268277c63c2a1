"""Neighbors of dense rows of few columns, by a tree of boxes."""

from __future__ import annotations

from typing import Any

import numpy as np

from posterior import kernels
from posterior.data.typing import Array, Floats, Integers
from posterior.neighbors.index import Fill

MOST_ROWS = 2**31 - 1  # their numbers are kept as int32
WORK = 64  # cells that the engine would read in the time of a search


class KDTree:
    """Dense complete rows under L_p distance, p in [1, ∞] (Friedman, Bentley and Finkel 1977).

    d(x, q) = (Σⱼ |xⱼ - qⱼ|^p)^(1/p)      p = ∞: maxⱼ |xⱼ - qⱼ|

    Neighbors are those of all n distances, however values round; a search takes about log n steps
    while columns are few.
    """

    def __init__(self, X: Array, p: float, fill: Fill) -> None:
        if not p >= 1:
            raise ValueError(f"Expected p from 1 to infinity, got {p!r}.")
        if X.size == 0 or len(X) > MOST_ROWS:
            raise ValueError(f"Expected 1 to {MOST_ROWS} rows of some columns, got {X.shape}.")
        self._tree, self._p, self._fill = kernels.grow_tree(X), float(p), fill

    def nearest(self, Q: Any, k: int, skip: Array | None = None) -> tuple[Floats, Integers]:
        """Distances (m, k), ascending, and numbers (m, k) of the k rows nearest to each query.

        Equal distances are in the order of the rows' numbers; `skip` (m,) is for each query a row
        that may not be among its neighbors, or -1.
        """
        if skip is None or not (skip >= 0).any():
            return self._search(Q, k)
        distances, numbers = self._search(Q, k + 1)
        kept = numbers != skip[:, None]
        kept[kept.all(axis=1), k] = False
        return distances[kept].reshape(-1, k), numbers[kept].reshape(-1, k)

    def _search(self, Q: Array, k: int) -> tuple[Floats, Integers]:
        m, tree = len(Q), self._tree
        Q = np.ascontiguousarray(Q, np.float64)
        leaf = np.empty((m, 1), np.int32)
        self._fill(lambda part, _, out: kernels.find_leaves(tree, part, out[:, 0]), Q, leaf)
        # Queries of one leaf follow each other: what they need is then in the cache.
        order = np.argsort(leaf[:, 0])
        distances, numbers = np.empty((m, k)), np.empty((m, k), np.int64)

        def look(_: Any, rows: slice, part: Integers) -> None:
            search = leaf[:, 0], part[:, 0], self._p, distances, numbers
            kernels.search_tree(tree, Q, *search)

        self._fill(look, np.broadcast_to(order[:, None], (m, WORK)), order[:, None])
        return distances, numbers
