"""Rows as centers see them, and the plain way to look: all distances, block by block."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np

from posterior.data.rows import Features, Hard, Rows, slabs, take
from posterior.data.typing import Codes, Floats
from posterior.sources.remote_rows import RemoteRows
from posterior.statistics.algebra import Exactly
from posterior.statistics.moments import Moments, Totals

Fill: TypeAlias = Callable[[Callable[[Any, slice, Any], None], Any, Any], None]
Sum: TypeAlias = Callable[[Callable[[Rows], Any], Rows | RemoteRows], Any]

CANCELLED = 1e-6  # of |x|² + |c|²: below it, a distance is taken again by differences
CLOSE = 1e-12  # of the same: what matrix products cannot tell apart


@dataclass(frozen=True, slots=True, eq=False)
class Assigned:
    """What rows at their nearest centers add up to."""

    weight: Floats  # (k,): of the rows of each center
    inertia: float  # Σᵢ wᵢ |xᵢ - c(i)|²

    @classmethod
    def of(
        cls, distances: Floats, labels: Codes, weight: Floats | None, n_centers: int
    ) -> Assigned:
        w = np.ones(len(labels)) if weight is None else weight
        received = np.bincount(labels, w, n_centers).astype(np.float64)
        return cls(received, float(w @ distances))

    def __add__(self, other: Assigned, /) -> Assigned:
        return Assigned(self.weight + other.weight, self.inertia + other.inertia)


class Space(Protocol):
    """Rows as centers see them: which is nearest to each, and what they sum to."""

    @property
    def labels(self) -> Codes:
        """(n,), -1 before the first assign."""
        ...

    def assign(self, centers: Floats) -> int:
        """Every row to its nearest center, the first of equals; how many rows moved."""
        ...

    def sums(self) -> tuple[Floats, Floats]:
        """Weight (k,) and mean (k, d) of the rows of each center; the mean of none is NaN.

        Where cells are missing, the weight is that of the observed cells, (k, d).
        """
        ...

    def distances(self) -> Floats:
        """Squared distance (n,) of each row from the center that it was assigned to."""
        ...

    def assigned(self) -> Assigned: ...


class Geometry(Protocol):
    """Distances and sums of rows of one kind."""

    def products(self, X: Any, centers: Floats) -> tuple[Floats, Floats]:
        """Squared distances (n, k) by matrix products, and the size of what cancels in them."""
        ...

    def apart(self, X: Any, centers: Floats) -> Floats:
        """Squared distance of row i from center i, by their differences."""
        ...

    def totals(self, rows: Rows) -> Totals: ...

    def moments(self, rows: Rows) -> Moments: ...

    def dense(self, X: Any) -> Floats:
        """The rows themselves, missing cells as NaN."""
        ...


def squared(geometry: Geometry, X: Features, centers: Floats) -> tuple[Floats, Floats]:
    """|x - c|² for all rows and centers, to nine digits however near they are; and |x|² + |c|²."""
    D, size = geometry.products(X, centers)
    row, center = np.nonzero(D < CANCELLED * size)
    for part in slabs(len(row), X.shape[1]):
        i, k = row[part], center[part]
        D[i, k] = geometry.apart(take(X, i), centers[k])
    return D, size


def nearest(geometry: Geometry, X: Features, centers: Floats) -> Codes:
    """The nearest center of each row, the first of equals."""
    D, size = squared(geometry, X, centers)
    close = D <= D.min(axis=1, keepdims=True) + CLOSE * size
    label = close.argmax(axis=1).astype(np.int32)
    tied = np.flatnonzero(close.sum(axis=1) > 1)  # equal, or nearly: the differences decide
    row, center = np.nonzero(close[tied])
    E = np.full((len(tied), len(centers)), np.inf)
    for part in slabs(len(row), X.shape[1]):
        i, k = row[part], center[part]
        E[i, k] = geometry.apart(take(X, tied[i]), centers[k])
    label[tied] = E.argmin(axis=1)
    return label


class Plain:
    """A space of rows of any kind."""

    def __init__(
        self,
        geometry: Geometry,
        X: Features,
        weight: Floats | None,
        n_centers: int,
        fill: Fill,
        sum: Sum,
    ) -> None:
        self._geometry, self._X, self._weight = geometry, X, weight
        self._n_centers, self._fill, self._sum = n_centers, fill, sum
        self._centers = np.empty((n_centers, X.shape[1]))
        self.labels = np.full(X.shape[0], -1, np.int32)

    def assign(self, centers: Floats) -> int:
        before, self._centers = self.labels, centers
        self.labels = np.empty_like(before)

        def look(X: Any, rows: slice, out: Codes) -> None:
            for part in slabs(len(out), len(centers) + X.shape[1]):
                out[part, 0] = nearest(self._geometry, X[part], centers)

        self._fill(look, self._X, self.labels[:, None])
        return int(np.count_nonzero(self.labels != before))

    def sums(self) -> tuple[Floats, Floats]:
        groups = Hard(self.labels, self._n_centers, self._weight)
        totals: Totals = self._sum(Exactly(self._geometry.totals), Rows(self._X, groups))
        weight = totals.weight.rounded()
        return (weight[:, 0] if weight.shape[1] == 1 else weight), totals.mean()

    def distances(self) -> Floats:
        out = np.empty(len(self.labels))

        def look(X: Any, rows: slice, out: Floats) -> None:
            for part in slabs(len(out), X.shape[1]):
                own = self._centers[self.labels[rows][part]]
                out[part, 0] = self._geometry.apart(X[part], own)

        self._fill(look, self._X, out[:, None])
        return out

    def assigned(self) -> Assigned:
        return Assigned.of(self.distances(), self.labels, self._weight, self._n_centers)
