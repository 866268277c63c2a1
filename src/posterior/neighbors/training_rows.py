"""Training rows with their classes: all that a model of neighbors knows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from posterior.data import validate
from posterior.data.rows import SparseRows, take
from posterior.data.typing import Array, Floats, Integers
from posterior.neighbors.votes import shares


@dataclass(frozen=True, slots=True, eq=False)
class TrainingRows:
    """Rows, the code of their class for each output, and their weights. They add and subtract."""

    X: Any
    codes: Array  # (n, outputs)
    classes: tuple[Array, ...]  # of each output, sorted
    weight: Floats | None  # None if each row counts once

    @classmethod
    def of(cls, X: Any, y: Any, weight: Floats | None) -> TrainingRows:
        """Rows and their labels, in one column or in several."""
        y = y.toarray() if sparse.issparse(y) else y
        table = y if y is None or isinstance(y, np.ndarray) else np.asarray(y)
        several = table is not None and table.ndim == 2 and table.shape[1] > 1
        columns: Any = np.asarray(table).T if several else [y]
        classes, codes = zip(*(validate.labels(c, X.shape[0]) for c in columns), strict=True)
        return cls(X, np.stack(codes, axis=1), classes, weight)

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def weights(self) -> Floats:
        return np.ones(len(self)) if self.weight is None else self.weight

    @property
    def total(self) -> float:
        """The number of rows, by their weights."""
        return float(len(self)) if self.weight is None else float(self.weight.sum())

    @property
    def counted(self) -> Integers:
        """Numbers of the rows that have a weight."""
        return np.arange(len(self)) if self.weight is None else np.flatnonzero(self.weight)

    def class_weight(self, output: int) -> Floats:
        """The weight of each class, (n_classes,)."""
        n_classes = len(self.classes[output])
        return np.bincount(self.codes[:, output], self.weight, n_classes).astype(np.float64)

    def prior(self, output: int, without: Integers | None = None) -> Floats:
        """Shares (C,) of the classes, or (m, C) as they are without each of some rows."""
        weight = self.class_weight(output)
        if without is not None:
            weight = np.tile(weight, (len(without), 1))
            weight[np.arange(len(without)), self.codes[without, output]] -= self.weights[without]
        return shares(weight)

    # ---- rows that come and go ----

    def take(self, rows: Integers) -> TrainingRows:
        """Copies of the rows at some positions, in that order."""
        weight = None if self.weight is None else self.weight[rows]
        return TrainingRows(take(self.X, rows), self.codes[rows], self.classes, weight)

    def among(self, classes: Sequence[Array]) -> TrainingRows:
        """The same rows among more classes, or among those that they have."""
        both = zip(classes, self.classes, self.codes.T, strict=True)
        codes = [np.searchsorted(new, old)[codes] for new, old, codes in both]
        return replace(self, codes=np.stack(codes, axis=1), classes=tuple(classes))

    def among_own(self) -> TrainingRows:
        """The same rows, without the classes that none of them has."""
        seen = [np.unique(codes) for codes in self.codes.T]
        return self.among([c[kept] for c, kept in zip(self.classes, seen, strict=True)])

    def __add__(self, other: TrainingRows, /) -> TrainingRows:
        """These rows, then the others, whose classes may be new."""
        self._check_outputs(other)
        union = [validate.union(a, b) for a, b in zip(self.classes, other.classes, strict=True)]
        mine, theirs = self.among(union), other.among(union)
        plain = self.weight is None and other.weight is None
        return TrainingRows(
            joined(self.X, other.X),
            np.concatenate([mine.codes, theirs.codes]),
            mine.classes,
            None if plain else np.concatenate([self.weights, other.weights]),
        )

    def __sub__(self, other: TrainingRows, /) -> TrainingRows:
        """These rows without others, which are there with the same cells, classes and weight."""
        self._check_outputs(other)
        for mine, theirs in zip(self.classes, other.classes, strict=True):
            if len(validate.union(mine, theirs)) > len(mine):
                raise ValueError(
                    "Expected rows that were learned, got class(es) "
                    f"{np.setdiff1d(theirs, mine).tolist()} never seen."
                )
        numbers = self.find(other.among(self.classes))
        if (numbers < 0).any():
            raise ValueError(
                f"Expected rows that were learned, but row {int(np.argmin(numbers))} of X is not "
                "there with this label and weight, or not as often."
            )
        left = np.setdiff1d(np.arange(len(self)), numbers)
        if len(left) == 0:
            raise ValueError("Expected some rows to remain; to start anew, call fit().")
        return self.take(left)

    def find(self, others: TrainingRows) -> Integers:
        """For each of the others a row of its own with the same cells, classes and weight.

        The last that is not taken yet, so that what came last goes first; -1 if there is none.
        """
        places: defaultdict[Hashable, list[int]] = defaultdict(list)
        X = others.X.astype(self.X.dtype) if isinstance(self.X, np.ndarray) else others.X
        wanted = list(replace(others, X=X).keys())
        asked = set(wanted)
        for row, key in enumerate(self.keys()):
            if key in asked:
                places[key].append(row)
        return np.array([places[key].pop() if places[key] else -1 for key in wanted], np.int64)

    def keys(self) -> zip[tuple[Hashable, ...]]:
        """Cells, classes and weight of each row, to look it up."""
        return zip(cells(self.X), map(tuple, self.codes.tolist()), self.weights, strict=True)

    def _check_outputs(self, other: TrainingRows) -> None:
        if len(self.classes) != len(other.classes):
            raise ValueError(
                f"Expected y of {len(self.classes)} column(s), got {len(other.classes)}."
            )


def joined(a: Any, b: Any) -> Any:
    """Rows one below the other."""
    if isinstance(a, SparseRows):
        both = [a.scipy(copy=False), b.scipy(copy=False)]
        return SparseRows.of(sparse.vstack(both, format="csr"))
    if isinstance(a, np.ndarray):
        return np.concatenate([a, b])
    return a.joined(b)


def cells(X: Any) -> list[Hashable]:
    """The cells of each row, as something that can be looked up."""
    if isinstance(X, SparseRows):
        spans = zip(X.start[:-1], X.start[1:], strict=True)
        return [
            (X.column[i:j].astype(np.int64).tobytes(), X.data[i:j].astype(np.float64).tobytes())
            for i, j in spans
        ]
    if not isinstance(X, np.ndarray):
        return list(X.cells())
    if X.dtype.kind == "O":
        return list(X)
    plain = np.where(np.isnan(X), np.nan, X.astype(np.float64)) + 0.0  # one NaN, one zero
    return [row.tobytes() for row in plain]
