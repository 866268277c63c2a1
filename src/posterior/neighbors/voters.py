"""The neighbors who vote on a query, and how much each of them counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from posterior.data.typing import Floats, Integers
from posterior.neighbors import votes
from posterior.neighbors.index import Index


@dataclass(frozen=True, slots=True, eq=False)
class Neighbors:
    """The nearest rows of m queries, nearest first."""

    distances: Floats  # (m, j)
    rows: Integers  # (m, j)
    weight: Floats | None  # (m, j): of the rows, None if each counts once
    skipped: Integers | None  # (m,): the row that was left out for each query

    def parts(self, k: int) -> Floats:
        """How much of each counts, if k rows vote; of rows behind them nothing."""
        if self.weight is None:
            return np.broadcast_to(1.0, (len(self.rows), min(k, self.rows.shape[1])))
        part = votes.parts(self.weight, k)
        return part[:, : 1 + int(np.flatnonzero(part.any(axis=0))[-1])]

    def reach(self, k: int) -> Floats:
        """The distance (m,) of the last of those who vote."""
        last = (self.parts(k) > 0).sum(axis=1) - 1
        return self.distances[np.arange(len(last)), last]


def neighbors(
    index: Index,
    Q: Any,
    k: int,
    weight: Floats | None = None,
    skip: Integers | None = None,
) -> Neighbors:
    """Rows around each query whose weights add up to k: as many as it takes."""
    if weight is None:
        return Neighbors(*index.nearest(Q, k, skip), None, skip)
    counted = np.count_nonzero(weight)
    most = int(counted) - (skip is not None)
    wanted = min(most, max(k, int(k / weight[weight > 0].mean())))
    while True:
        distances, rows = index.nearest(Q, wanted, skip)
        own = weight[rows]
        if wanted == most or (own.sum(axis=1) >= k * (1 - 1e-12)).all():
            return Neighbors(distances, rows, own, skip)
        wanted = min(most, 2 * wanted)
