"""Training rows with their classes: all that a model of neighbors knows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from posterior.data.rows import SparseRows, take
from posterior.data.typing import Array, Floats, Integers
from posterior.neighbors.votes import shares


@dataclass(frozen=True, slots=True, eq=False)
class Examples:
    """Rows, the code of their class for each output, and their weights."""

    X: Any
    codes: Array  # (n, outputs)
    n_classes: tuple[int, ...]
    weight: Floats | None  # None if each row counts once

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def weights(self) -> Floats:
        return np.ones(len(self)) if self.weight is None else self.weight

    @property
    def total(self) -> float:
        """How many rows there are, by their weights."""
        return float(len(self)) if self.weight is None else float(self.weight.sum())

    @property
    def counted(self) -> Integers:
        """Numbers of the rows that have a weight."""
        return np.arange(len(self)) if self.weight is None else np.flatnonzero(self.weight)

    def class_weight(self, output: int) -> Floats:
        """The weight of each class, (n_classes,)."""
        counts = np.bincount(self.codes[:, output], self.weight, self.n_classes[output])
        return counts.astype(np.float64)

    def prior(self, output: int, without: Integers | None = None) -> Floats:
        """Shares (C,) of the classes, or (m, C) as they are without each of some rows."""
        weight = self.class_weight(output)
        if without is not None:
            weight = np.tile(weight, (len(without), 1))
            weight[np.arange(len(without)), self.codes[without, output]] -= self.weights[without]
        return shares(weight)

    def take(self, rows: Integers) -> Examples:
        weight = None if self.weight is None else self.weight[rows]
        return Examples(take(self.X, rows), self.codes[rows], self.n_classes, weight)

    def recoded(self, codes: Sequence[Array], n_classes: tuple[int, ...]) -> Examples:
        """The same rows among other classes: codes[o][c] is the new code of c."""
        columns = [new[old] for new, old in zip(codes, self.codes.T, strict=True)]
        return Examples(self.X, np.stack(columns, axis=1), n_classes, self.weight)

    def __add__(self, other: Examples, /) -> Examples:
        """These rows, then the others."""
        plain = self.weight is None and other.weight is None
        return Examples(
            joined(self.X, other.X),
            np.concatenate([self.codes, other.codes]),
            self.n_classes,
            None if plain else np.concatenate([self.weights, other.weights]),
        )

    def find(self, others: Examples) -> Integers:
        """For each of the others a row of its own with the same cells, classes and weight.

        The last that is not taken yet, so that what came last goes first; -1 if there is none.
        """
        places: defaultdict[Hashable, list[int]] = defaultdict(list)
        X = others.X.astype(self.X.dtype) if isinstance(self.X, np.ndarray) else others.X
        wanted = list(replace(others, X=X)._keys())
        asked = set(wanted)
        for row, key in enumerate(self._keys()):
            if key in asked:
                places[key].append(row)
        return np.array([places[key].pop() if places[key] else -1 for key in wanted], np.int64)

    def _keys(self) -> zip[tuple[Hashable, ...]]:
        return zip(cells(self.X), map(tuple, self.codes.tolist()), self.weights, strict=True)


def joined(a: Any, b: Any) -> Any:
    """Rows one below the other."""
    if isinstance(a, SparseRows):
        both = [a.scipy(copy=False), b.scipy(copy=False)]
        return SparseRows.of(sparse.vstack(both, format="csr"))
    if isinstance(a, np.ndarray):
        return np.concatenate([a, b])
    return a.joined(b)


def cells(X: Any) -> list[Hashable]:
    """What is in each row, as something that can be looked up."""
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
