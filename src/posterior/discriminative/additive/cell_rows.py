"""Labeled rows of cells: equal rows are one, and their order is that of their content."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from posterior.data.fingerprints import fingerprints
from posterior.data.typing import Array, Codes, Floats, Integers
from posterior.statistics.exact import Exact

FOLDS = 5
MANY_ROWS = 10_000
TINY = 1e-9  # of a weight: what is left where all of it was taken away
LARGEST_WHOLE = 2.0**32  # weight that is counted as a whole number: sums of many have room


@dataclass(frozen=True, slots=True, eq=False)
class CellRows:
    """Different rows, sorted by class and content, and the weight of each."""

    codes: Array  # (d, n) uint8, column after column
    labels: Codes  # (n,)
    weight: Floats  # (n,), positive
    key: Array  # (n,) of 64 bits: a function of the content
    n_classes: int
    exact: Exact | None = None  # the weight before rounding, of rows that others may join

    @classmethod
    def of(cls, codes: Array, labels: Codes, weight: Floats | None, n_classes: int) -> CellRows:
        """Equal rows as one. What is learned from them does not depend on how they came."""
        return cls.summed(codes, labels, _exactly(weight, len(labels)), n_classes)

    @classmethod
    def summed(cls, codes: Array, labels: Codes, weight: Exact, n_classes: int) -> CellRows:
        """The same of weights that add up exactly; a row that weighs nothing is none."""
        key = fingerprints(codes.T)
        order = np.lexsort((key, labels))
        key, labels = key[order], labels[order]
        new = np.ones(len(order), bool)
        new[1:] = (key[1:] != key[:-1]) | (labels[1:] != labels[:-1])
        start = np.flatnonzero(new)
        total = weight[order].runs(start) if len(start) else weight
        some = total.sign() != 0
        start, total = start[some], total[some]
        columns = np.ascontiguousarray(codes[:, order[start]])
        label = labels[start].astype(np.int32)
        return cls(columns, label, total.rounded(), key[start], n_classes, total)

    def __len__(self) -> int:
        return len(self.labels)

    def __add__(self, other: CellRows, /) -> CellRows:
        """The rows of both."""
        return self._with(other, other.whole)

    def __sub__(self, other: CellRows, /) -> CellRows:
        """Without the rows of another; those that were none of these weigh less than nothing."""
        return self._with(other, -other.whole)

    def _with(self, other: CellRows, weight: Exact) -> CellRows:
        n, m = len(self), len(other)
        mine, theirs = (
            self.whole.placed(np.arange(n), n + m),
            weight.placed(n + np.arange(m), n + m),
        )
        return CellRows.summed(
            np.concatenate([self.codes, other.codes], axis=1),
            np.concatenate([self.labels, other.labels]),
            (mine + theirs).trimmed(),
            max(self.n_classes, other.n_classes),
        )

    @property
    def whole(self) -> Exact:
        """The weight before rounding."""
        return _exactly(self.weight, len(self)) if self.exact is None else self.exact

    @property
    def total(self) -> float:
        """The weight of all rows."""
        return float(self.whole.sum().rounded())

    def placed(self, index: Array, n_classes: int) -> CellRows:
        """The same rows, where classes have new codes in the same order."""
        labels = np.asarray(index, np.int32)[self.labels]
        return replace(self, labels=labels, n_classes=n_classes)

    def weighing(self, weight: Floats) -> CellRows:
        """The rows that have some of these weights."""
        some = self.held_by(weight)
        if some.all():
            return CellRows(self.codes, self.labels, weight, self.key, self.n_classes)
        codes = np.ascontiguousarray(self.codes[:, some])
        return CellRows(codes, self.labels[some], weight[some], self.key[some], self.n_classes)

    def held_by(self, weight: Floats) -> Array:
        """Which rows have some of these weights."""
        return weight > TINY * self.weight

    def folded(self, index: Array, folds: Codes, weight: Floats | None) -> Floats:
        """The weight that each fold holds out, (n_folds, n), of rows that are these by `index`.

        A fold below zero is never held out.
        """
        n_folds = int(folds.max()) + 1
        some = folds >= 0
        place = folds[some] * len(self) + index[some]
        given = None if weight is None else weight[some]
        held = np.bincount(place, given, n_folds * len(self)).astype(np.float64)
        return np.minimum(held.reshape(n_folds, len(self)), self.weight)

    def places(self, codes: Array, labels: Codes) -> Integers:
        """Which of these rows each of some labeled rows of cells (d, n) is."""
        starts = np.searchsorted(self.labels, np.arange(self.n_classes + 1))
        key, found = fingerprints(codes.T), np.empty(len(labels), np.int64)
        for k in range(self.n_classes):
            own = labels == k
            found[own] = starts[k] + np.searchsorted(self.key[starts[k] : starts[k + 1]], key[own])
        return found

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

    @property
    def n_folds(self) -> int:
        """How many folds choose what rows leave open: of many rows one says enough."""
        return 1 if len(self) >= MANY_ROWS else FOLDS

    def held_out(self) -> Floats:
        """The weight that each fold to choose by holds out, (n_folds, n)."""
        return self.dealt(FOLDS)[: self.n_folds]

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


def _exactly(weight: Floats | None, n: int) -> Exact:
    """Weights that add up without rounding; whole numbers take less room."""
    if weight is None:
        return Exact.of(np.ones(n, np.int64))
    whole = (weight == np.floor(weight)).all() and weight.max(initial=0) < LARGEST_WHOLE
    return Exact.of(weight.astype(np.int64)) if whole else Exact.of(weight).trimmed()
