"""Shapes of an additive model: what each set of columns adds, as one table to read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np

from posterior.data.typing import Array, Floats
from posterior.discriminative.additive.terms import Terms
from posterior.readers.cells import MISSING


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """The function of some columns, over groups of cells that it does not tell apart."""

    columns: tuple[int, ...]
    groups: tuple[Array, ...]  # of each column (cells,): the group of each cell
    effect: Floats  # (groups, ..., outputs)
    share: Floats  # (groups, ...) of the rows, as if the columns were independent

    @classmethod
    def of(cls, columns: tuple[int, ...], terms: Terms, weights: Sequence[Floats]) -> Shape:
        """All terms of the columns together, without values never seen, which add nothing."""
        outputs = terms.values.shape[1]
        if not len(terms):
            groups = tuple(np.zeros(len(weights[j]), np.uint8) for j in columns)
            nothing = np.zeros((1,) * len(columns) + (outputs,))
            return cls(columns, groups, nothing, np.ones((1,) * len(columns)))
        term = reduce(add, (terms[t] for t in range(len(terms))))
        ordered = [_ordered(group[:-1]) for group in term.groups]
        groups = tuple(group for _, group in ordered)
        shares = [_shares(weights[j], g) for j, g in zip(columns, groups, strict=True)]
        table = term.table[np.ix_(*(order for order, _ in ordered))]
        return cls(columns, groups, table, reduce(np.multiply.outer, shares))

    @property
    def importance(self) -> float:
        """Σ share · |effect|, the mean over outputs."""
        return float(np.tensordot(self.share, np.abs(self.effect), self.share.ndim).mean())


def _ordered(group: Array) -> tuple[Array, Array]:
    """Groups in the order of their cells, missing values last, and the new group of each cell."""
    turned = np.roll(group, -1 - MISSING)
    kept, first = np.unique(turned, return_index=True)
    order = kept[np.argsort(first)]
    return order, np.argsort(order)[group]


def _shares(weight: Floats, group: Array) -> Floats:
    total = np.bincount(group, weight, int(group.max()) + 1)
    return np.asarray(total / max(total.sum(), np.finfo(float).tiny))
