"""Rows by any distance, in blocks: no more than a block of distances is ever in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from posterior.data.rows import SparseRows
from posterior.data.typing import Array, Floats, Integers
from posterior.neighbors.index import Fill
from posterior.neighbors.nearest_first import Best, deal, wanted, without

CELLS = 1 << 18  # distances of a block
LEAST = 64  # rows of a block


class BlockedSearch:
    """Rows, near if `distance` of two blocks of rows, (m, d) and (b, d), is small there, (m, b).

    A distance that is not a number is as far as can be.
    """

    def __init__(
        self, X: Array | SparseRows, distance: Callable[[Any, Any], Array], fill: Fill
    ) -> None:
        self._X, self._distance, self._fill = X, distance, fill

    def nearest(self, Q: Any, k: int, skip: Array | None = None) -> tuple[Floats, Integers]:
        n = self._X.shape[0]
        most = wanted(k, skip, n)

        def look(part: slice) -> tuple[Floats, Integers]:
            q = Q[part]
            best = Best(q.shape[0], most)
            step = max(LEAST, CELLS // max(q.shape[0], 1))
            for start in range(0, n, step):
                D = np.asarray(self._distance(q, self._X[start : start + step]), np.float64)
                best.see(np.where(np.isnan(D), np.inf, D))
            return best.distance, best.number

        distance, number = deal(look, self._fill, Q.shape[0], n, most)
        return without(distance, number, skip, k)
