"""Shares of the classes among rows of one value, drawn towards those of all rows.

    p(k | v) = (n_vk + m π_k) / (n_v + m)

m is that of least log loss when each row is answered by the others, which the counts say at once:
n_vk - 1 and n_v - 1 are those of the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from posterior.data import frames
from posterior.data.typing import Array, Codes, Floats

PSEUDO_ROWS = 2.0 ** np.arange(-2, 11)  # that m is chosen among


@dataclass(frozen=True, slots=True, eq=False)
class ValueShares:
    """Counts of the classes for each value of a column; of a value never seen there are none."""

    values: Array  # sorted
    counts: Floats  # (values, k)
    pseudo_rows: float

    @classmethod
    def learn(
        cls, cells: Sequence[str | None], codes: Codes, k: int, weight: Floats | None
    ) -> ValueShares:
        values = frames.distinct(cells)
        place = frames.encode(cells, values)
        known = place >= 0
        counts = np.zeros((len(values), k))
        w = np.ones(len(codes)) if weight is None else weight
        np.add.at(counts, (place[known], codes[known]), w[known])
        shares = cls(values, counts, 1.0)
        return replace(
            shares, pseudo_rows=shares.best_pseudo_rows(place[known], codes[known], w[known])
        )

    def without(self, cells: Sequence[str | None], codes: Codes, weight: Floats | None) -> Self:
        """The same after some rows are taken back."""
        place = frames.encode(cells, self.values)
        counts = self.counts.copy()
        known = place >= 0
        w = np.ones(len(codes)) if weight is None else weight
        np.subtract.at(counts, (place[known], codes[known]), w[known])
        return replace(self, counts=np.maximum(counts, 0.0))

    def log_proba(self, cells: Sequence[str | None]) -> Floats:
        """log p(k | v), (n, k); the shares of all rows where a cell is missing or never seen."""
        prior = self._prior()
        rows = np.vstack([self.counts, np.zeros((1, len(prior)))])
        place = frames.encode(cells, self.values)
        found = rows[np.where(place < 0, len(self.values), place)] + self.pseudo_rows * prior
        return np.asarray(np.log(found / found.sum(axis=1, keepdims=True)))

    def _prior(self) -> Floats:
        total = self.counts.sum(axis=0) + 0.5
        return np.asarray(total / total.sum())

    def best_pseudo_rows(self, place: Codes, codes: Codes, weight: Floats) -> float:
        """m of least log loss, each row answered by the others."""
        own = np.maximum(self.counts[place, codes] - weight, 0.0)
        all_ = np.maximum(self.counts.sum(axis=1)[place] - weight, 0.0)
        share = self._prior()[codes]
        losses = [-float(weight @ np.log((own + m * share) / (all_ + m))) for m in PSEUDO_ROWS]
        return float(PSEUDO_ROWS[int(np.argmin(losses))])
