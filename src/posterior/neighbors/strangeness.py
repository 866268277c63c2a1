"""How strange a row is: how far its neighbors are, next to those of the training rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from posterior.data.rows import take
from posterior.data.typing import Floats
from posterior.neighbors.index import Index
from posterior.neighbors.voters import neighbors

MOST = 20_000  # training rows that are asked for their neighbors


@dataclass(frozen=True, slots=True, eq=False)
class Reach:
    """How far training rows are from the last of their k neighbors, they themselves left out."""

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
