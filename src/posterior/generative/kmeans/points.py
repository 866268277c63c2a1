"""A table of rows with weights, ready to be measured from centers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from posterior.data.rows import Hard, Rows, SparseRows, slabs, take
from posterior.data.typing import Array, Floats
from posterior.generative.kmeans.bounded import Bounded
from posterior.generative.kmeans.geometries import Dense, Gaps, Sparse
from posterior.generative.kmeans.space import Fill, Geometry, Plain, Space, Sum, squared
from posterior.sources.remote_rows import RemoteRows
from posterior.statistics.algebra import Exactly
from posterior.statistics.moments import Moments


@dataclass(frozen=True, slots=True, eq=False)
class Spread:
    """Where rows lie: center and scatter of each column, and the weight of its cells."""

    mean: Floats  # (d,)
    scatter: Floats  # (d,): Σᵢ wᵢ (x_ij - mean_j)²
    weight: Floats  # (d,)

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

    @classmethod
    def of(cls, X: Any, weight: Floats | None, complete: bool, fill: Fill, sum: Sum) -> Points:
        geometry: Geometry = Sparse() if isinstance(X, SparseRows) else Dense()
        return cls(X, weight, geometry if complete else Gaps(), fill, sum)

    def __len__(self) -> int:
        return int(self.X.shape[0])

    @property
    def dtype(self) -> Any:
        return (self.X.data if isinstance(self.X, SparseRows) else self.X).dtype

    @property
    def weights(self) -> Floats:
        return np.ones(len(self)) if self.weight is None else self.weight

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
        groups = Hard(np.zeros(len(self), np.int32), 1, self.weight)
        return spread_of(self.geometry, Rows(self.X, groups), self.sum)

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


def spread_of(geometry: Geometry, rows: Rows | RemoteRows, sum: Sum) -> Spread:
    """Of rows that are one group."""
    moments: Moments = sum(Exactly(lambda rows: geometry.moments(rows.X, rows.hard)), rows)
    mean, scatter = moments.mean_and_scatter()
    weight = moments.weight.rounded()[0]
    return Spread(np.where(weight > 0, mean[0], 0.0), scatter[0], weight)


def all_finite(X: Array) -> bool:
    """Whether no cell is missing or infinite, at one look while rows are in cache.

    Numbers whose sum overflows are taken for infinite.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        return all(bool(np.isfinite(X[rows].sum())) for rows in slabs(*X.shape))
