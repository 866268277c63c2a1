"""Nearest rows of queries: those that vote, and their distances next to those of training."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from posterior.data.rows import take
from posterior.data.typing import Floats, Integers
from posterior.neighbors.index import Index
from posterior.neighbors.votes import Rule, parts, vote_weights

MOST = 20_000  # training rows that are asked for their neighbors


@dataclass(frozen=True, slots=True, eq=False)
class Neighbors:
    """The nearest rows of m queries, nearest first."""

    distances: Floats  # (m, j)
    rows: Integers  # (m, j)
    weight: Floats | None  # (m, j): of the rows, None if each counts once
    skipped: Integers | None  # (m,): the row that was left out for each query

    def parts(self, k: int) -> Floats:
        """The part of each that counts, if k rows vote; of rows behind them nothing."""
        if self.weight is None:
            return np.broadcast_to(1.0, (len(self.rows), min(k, self.rows.shape[1])))
        part = parts(self.weight, k)
        return part[:, : 1 + int(np.flatnonzero(part.any(axis=0))[-1])]

    def votes(self, k: int, rule: Rule) -> tuple[Floats, Floats]:
        """The part of each neighbor that counts, and the weight of its vote, both (m, j)."""
        part = self.parts(k)
        return part, part * vote_weights(self.distances[:, : part.shape[1]], rule, part)

    def reach(self, k: int) -> Floats:
        """The distance (m,) of the last of those that vote."""
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


@dataclass(frozen=True, slots=True, eq=False)
class Reach:
    """Distances of training rows from the last of their k neighbors, themselves left out."""

    distance: Floats  # ascending
    share: Floats  # of the rows before this one; one longer

    @classmethod
    def of(cls, index: Index, X: Any, k: int, weight: Floats | None) -> Reach:
        """From all rows, or from some thousands spread evenly."""
        rows = np.arange(X.shape[0]) if weight is None else np.flatnonzero(weight)
        rows = rows[:: -(-len(rows) // MOST)]
        far = neighbors(index, take(X, rows), k, weight, rows).reach(k)
        order = np.argsort(far)
        w = np.ones(len(rows)) if weight is None else weight[rows[order]]
        share = np.concatenate([[0.0], np.cumsum(w) / w.sum()])
        share[-1] = 1.0
        return cls(far[order], share)

    def strangeness(self, distance: Floats) -> Floats:
        """The share of training rows that have their neighbors nearer."""
        return self.share[np.searchsorted(self.distance, distance, side="left")]
