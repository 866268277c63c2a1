"""Labeled rows of cells: equal rows are one, and their order is that of their content."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from posterior.data.fingerprints import fingerprints
from posterior.data.typing import Array, Codes, Floats

TINY = 1e-9  # of a weight: what is left where all of it was taken away


@dataclass(frozen=True, slots=True, eq=False)
class CellRows:
    """Different rows, sorted by class and content, and the weight of each."""

    codes: Array  # (d, n) uint8, column after column
    labels: Codes  # (n,)
    weight: Floats  # (n,), positive
    key: Array  # (n,) of 64 bits: a function of the content
    n_classes: int

    @classmethod
    def of(cls, codes: Array, labels: Codes, weight: Floats | None, n_classes: int) -> CellRows:
        """Equal rows as one. What is learned from them does not depend on how they came."""
        weight = np.ones(len(labels)) if weight is None else weight
        key = fingerprints(codes.T)
        order = np.lexsort((weight, key, labels))
        order = order[weight[order] > 0]
        sorted_key, sorted_label = key[order], labels[order]
        new = np.ones(len(order), bool)
        new[1:] = (sorted_key[1:] != sorted_key[:-1]) | (sorted_label[1:] != sorted_label[:-1])
        first = order[new]
        total = np.add.reduceat(weight[order], np.flatnonzero(new)) if len(order) else weight[:0]
        columns = np.ascontiguousarray(codes[:, first])
        return cls(columns, labels[first].astype(np.int32), total, key[first], n_classes)

    def __len__(self) -> int:
        return len(self.labels)

    def __add__(self, other: CellRows, /) -> CellRows:
        """The rows of both."""
        return CellRows.of(
            np.concatenate([self.codes, other.codes], axis=1),
            np.concatenate([self.labels, other.labels]),
            np.concatenate([self.weight, other.weight]),
            max(self.n_classes, other.n_classes),
        )

    def weighing(self, weight: Floats) -> CellRows:
        """The rows that have some of these weights."""
        some = weight > TINY * self.weight
        if some.all():
            return CellRows(self.codes, self.labels, weight, self.key, self.n_classes)
        codes = np.ascontiguousarray(self.codes[:, some])
        return CellRows(codes, self.labels[some], weight[some], self.key[some], self.n_classes)

    def dealt(self, n_folds: int) -> Floats:
        """The weight that each fold holds out, (n_folds, n): rows are dealt out in turn.

        Rows lie side by side on a line, each as long as it weighs, and the line is dealt out by
        pieces of one: a row of weight two is two rows. Rows that weigh less than one on average
        make smaller pieces.
        """
        piece = min(1.0, self.weight.sum() / max(len(self), 1))
        ends = np.cumsum(self.weight) / piece
        up_to = np.stack([_dealt_up_to(ends, fold, n_folds) for fold in range(n_folds)])
        return piece * np.diff(up_to, axis=1, prepend=0.0)

    def class_weight(self) -> Floats:
        return np.bincount(self.labels, self.weight, self.n_classes).astype(np.float64)

    def cell_weight(self, sizes: Codes) -> list[Floats]:
        """The weight of the rows in each cell of each column."""
        pairs = zip(self.codes, sizes, strict=True)
        return [np.bincount(c, self.weight, size).astype(np.float64) for c, size in pairs]


def _dealt_up_to(ends: Floats, fold: int, n_folds: int) -> Floats:
    """How much of [0, end) is the fold's, if it has the pieces fold, fold + n_folds, ..."""
    turns, rest = np.divmod(ends, n_folds)
    return turns + np.clip(rest - fold, 0.0, 1.0)
