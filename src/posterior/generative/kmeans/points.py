"""A table of rows with weights, ready to be measured from centers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from posterior.data import validate
from posterior.data.names import quoted
from posterior.data.rows import Features, Hard, Rows, SparseRows, slabs, take
from posterior.data.typing import Array, Floats
from posterior.generative.kmeans.bounded import Bounded
from posterior.generative.kmeans.geometries import Dense, Gaps, Sparse
from posterior.generative.kmeans.space import Fill, Geometry, Plain, Space, Sum, squared
from posterior.readers.reader import Reader
from posterior.statistics.algebra import Exactly
from posterior.statistics.moments import Moments, floats


@dataclass(frozen=True, slots=True, eq=False)
class Spread:
    """Where rows lie: center and scatter of each column, and the weight of its cells."""

    mean: Floats  # (d,)
    scatter: Floats  # (d,): Σᵢ wᵢ (x_ij - mean_j)²
    weight: Floats  # (d,)

    @classmethod
    def of(cls, moments: Moments) -> Spread:
        """Of rows that are one group."""
        mean, scatter = moments.mean_and_scatter()
        weight = moments.weight.rounded()[0]
        return cls(np.where(weight > 0, mean[0], 0.0), scatter[0], weight)

    def check(self, names: Array, dtype: Any) -> None:
        """Refuse columns that have no place among numbers of a dtype."""
        for lost, expected, got in (
            (self.weight == 0, "a value in every column", "none at all"),
            (
                ~(self.scatter <= np.finfo(dtype).max),
                "numbers whose squares can be added",
                "larger ones",
            ),
        ):
            if lost.any():
                raise ValueError(
                    f"Expected {expected}, got {got} in column {quoted(names[lost][0])}. "
                    "Leave it out, or rescale it."
                )

    @property
    def variance(self) -> float:
        """Of a column, on average."""
        seen = self.weight > 0
        return float((self.scatter[seen] / self.weight[seen]).mean()) if seen.any() else 0.0

    def around_centers(self, inertia: float) -> float:
        """The variance of a cell around its center."""
        variance = inertia / float(self.weight.sum())
        if not np.isfinite(variance):
            raise ValueError(
                "Expected rows whose squared distances are finite, got cells that are too large. "
                "Scale the columns down."
            )
        return variance


@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """Rows of float32 or float64, their weights, and the threads that look at them."""

    X: Any  # an array in C order, or SparseRows
    weight: Floats | None
    geometry: Geometry
    fill: Fill
    sum: Sum
    in_memory: ClassVar[bool] = True  # all of them, so that each can have its label

    @classmethod
    def of(cls, X: Any, weight: Floats | None, complete: bool, fill: Fill, sum: Sum) -> Points:
        geometry: Geometry = Sparse() if isinstance(X, SparseRows) else Dense()
        return cls(X, weight, geometry if complete else Gaps(), fill, sum)

    @classmethod
    def read(cls, reader: Reader, table: Features, weight: Any, fill: Fill, sum: Sum) -> Points:
        """The rows of a table that was read; those that count for something, by their weights."""
        X: Any = table
        if isinstance(X, SparseRows):
            X = X if X.scipy(copy=False).has_canonical_format else X.canonical()
            complete = True
            reader.check(X)
        else:
            X = np.ascontiguousarray(floats(X))
            complete = all_finite(X)
            if not complete:
                reader.check(X)
                complete = not np.isnan(X).any()
        return cls.of(X, validate.weights(weight, X.shape[0]), complete, fill, sum)

    def __len__(self) -> int:
        return int(self.X.shape[0])

    @property
    def n_rows(self) -> int:
        """How many there are, in memory or not."""
        return len(self)

    @property
    def total_weight(self) -> float:
        """The weight of all rows, in memory or not."""
        return float(self.weights.sum())

    @property
    def dtype(self) -> Any:
        return (self.X.data if isinstance(self.X, SparseRows) else self.X).dtype

    @property
    def weights(self) -> Floats:
        return np.ones(len(self)) if self.weight is None else self.weight

    @property
    def sparse(self) -> bool:
        return isinstance(self.X, SparseRows)

    @property
    def complete(self) -> bool:
        return not isinstance(self.geometry, Gaps)

    def take(self, index: Array) -> Points:
        """Some of the rows."""
        weight = None if self.weight is None else self.weight[index]
        return Points(take(self.X, index), weight, self.geometry, self.fill, self.sum)

    def in_order(self) -> Points:
        """The rows in an order that depends on their cells alone, so that draws do too."""
        direction = np.random.default_rng(0).standard_normal(self.X.shape[1])
        with np.errstate(over="ignore", invalid="ignore"):
            if isinstance(self.X, SparseRows):
                return self.take(np.argsort(self.X.scipy(copy=False) @ direction))
            if self.complete:
                return self.take(np.argsort(self.X @ direction))
            gaps = np.isnan(self.X)
            return self.take(
                np.lexsort((np.where(gaps, 0.0, self.X) @ direction, gaps @ direction))
            )

    def unweighted(self) -> Points:
        return Points(self.X, None, self.geometry, self.fill, self.sum)

    def rows(self, index: Array) -> Floats:
        """Some of the rows as doubles, missing cells as NaN."""
        return self.geometry.dense(take(self.X, index))

    def space(self, n_centers: int) -> Space:
        """The rows as n centers see them."""
        if isinstance(self.geometry, Dense):
            return Bounded(self.X, self.weight, n_centers, self.fill, self.sum)
        return Plain(self.geometry, self.X, self.weight, n_centers, self.fill, self.sum)

    def spread(self) -> Spread:
        rows = Rows(self.X, Hard(np.zeros(len(self), np.int32), 1, self.weight))
        return Spread.of(self.sum(Exactly(self.geometry.moments), rows))

    def batches(self, size: int, random: np.random.RandomState) -> Iterator[Points]:
        """Rows drawn by weight, a few at a time, without end."""
        share = (self.weights / self.weights.sum()).cumsum()
        share /= share[-1]
        drawing = self.unweighted()  # weight is in the draws already
        while True:
            yield drawing.take(np.searchsorted(share, random.random_sample(size), side="right"))

    def squared(self, centers: Floats, below: Floats | None = None) -> Floats:
        """Squared distances (n, k) from all centers; with `below` (n,), none above it."""
        out = np.empty((len(self), len(centers)))

        def look(X: Any, rows: slice, out: Floats) -> None:
            for part in slabs(len(out), len(centers) + X.shape[1]):
                D, _ = squared(self.geometry, X[part], centers)
                if below is not None:
                    np.minimum(D, below[rows][part, None], out=D)
                out[part] = D

        self.fill(look, self.X, out)
        return out

    def inertia(self, centers: Floats) -> float:
        """Σᵢ wᵢ min_k |xᵢ - c_k|²."""
        space = self.space(len(centers))
        space.assign(centers)
        return float(self.weights @ space.distances())


def all_finite(X: Array) -> bool:
    """Whether no cell is missing or infinite, at one look while rows are in cache.

    Numbers whose sum overflows count as infinite.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        return all(bool(np.isfinite(X[rows].sum())) for rows in slabs(*X.shape))
