"""Points that are elsewhere: centers are summed over all of them, a sample stands for each one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from posterior import kernels
from posterior.data.rows import Hard, Rows, slabs
from posterior.data.typing import Codes, Floats
from posterior.generative.kmeans.bounded import origin_of
from posterior.generative.kmeans.geometries import Dense
from posterior.generative.kmeans.points import Points, Spread
from posterior.generative.kmeans.space import Assigned, Fill, Geometry, Space, Sum, nearest
from posterior.kernels.centers import Centers
from posterior.sources.remote_rows import RemoteRows
from posterior.sources.source import Source
from posterior.statistics.algebra import Exactly
from posterior.statistics.moments import Totals, floats


@dataclass(frozen=True, slots=True, eq=False)
class RemotePoints(Points):
    """The points of the sample, whose sums are those of all rows."""

    away: RemoteRows
    source: Source
    in_memory: ClassVar[bool] = False

    @classmethod
    def among(
        cls, rows: RemoteRows, source: Source, complete: bool, fill: Fill, sum: Sum
    ) -> RemotePoints:
        """The rows of a source, of which it is known whether no cell is missing."""
        rows = rows.map(_contiguous)
        near = Points.of(rows.sample.X, rows.sample.hard.weight, complete, fill, sum)
        return cls(near.X, near.weight, near.geometry, fill, sum, rows, source)

    @property
    def n_rows(self) -> int:
        return self.away.n_rows

    @property
    def total_weight(self) -> float:
        return self.away.weight

    def space(self, n_centers: int) -> Away:
        near = Points(self.X, self.weight, self.geometry, self.fill, self.sum).space(n_centers)
        return Away(self, near, n_centers)

    def batches(self, size: int, random: np.random.RandomState) -> Iterator[Points]:
        """All rows in their order, a few at a time, again and again."""
        while True:
            for batch in self.source.batches():
                rows = self.away.prepare(batch)
                for i in range(0, len(rows), size):
                    few = rows[i : i + size]
                    yield Points(few.X, few.hard.weight, self.geometry, self.fill, self.sum)

    def spread(self) -> Spread:
        return Spread.of(self.sum(Exactly(self.geometry.moments), self.away))


class Away:
    """All rows as centers see them; distances and labels are those of the sample."""

    def __init__(self, points: RemotePoints, near: Space, n_centers: int) -> None:
        self._points, self._near, self._n_centers = points, near, n_centers
        self._totals: Totals | None = None
        self._centers = np.empty((0, 0))
        self._seen = False  # whether the sample was assigned to the centers

    @property
    def labels(self) -> Codes:
        self._look_near()
        return self._near.labels

    def assign(self, centers: Floats) -> int:
        """Sums all rows by their nearest centers; 0 if no sum changed, so that no row moved."""
        self._centers, self._seen, before = np.array(centers, np.float64), False, self._totals
        look, geometry, k = self._label(), self._points.geometry, self._n_centers

        def totals(rows: Rows) -> Totals:
            return geometry.totals(Rows(rows.X, Hard(look(rows.X), k, rows.hard.weight)))

        self._totals = self._points.sum(Exactly(totals), self._points.away)
        return 0 if before is not None and self._totals == before else 1

    def sums(self) -> tuple[Floats, Floats]:
        assert self._totals is not None
        weight = self._totals.weight.rounded()
        return (weight[:, 0] if weight.shape[1] == 1 else weight), self._totals.mean()

    def distances(self) -> Floats:
        self._look_near()
        return self._near.distances()

    def assigned(self) -> Assigned:
        centers, look, k = self._centers, self._label(), self._n_centers
        geometry = self._points.geometry

        def assigned(rows: Rows) -> Assigned:
            labels, distance = look(rows.X), np.empty(len(rows))
            for part in slabs(*rows.X.shape):
                distance[part] = geometry.apart(rows.X[part], centers[labels[part]])
            return Assigned.of(distance, labels, rows.hard.weight, k)

        total: Assigned = self._points.sum(assigned, self._points.away)
        return total

    def _label(self) -> Callable[[Any], Codes]:
        """The nearest center of each row, by a function that may travel."""
        centers, geometry = self._centers, self._points.geometry
        if isinstance(geometry, Dense):
            return _dense_labels(centers, origin_of(self._points.X))
        return lambda X: _labels(geometry, X, centers)

    def _look_near(self) -> None:
        if not self._seen:
            self._near.assign(self._centers)
            self._seen = True


def _contiguous(rows: Rows) -> Rows:
    table: Any = rows.X
    return Rows(np.ascontiguousarray(floats(table)), rows.groups)


def _dense_labels(centers: Floats, origin: Any) -> Callable[[Any], Codes]:
    """As `Bounded` finds them in a full search."""
    table = Centers.of((centers - origin).astype(origin.dtype), origin)

    def labels(X: Any) -> Codes:
        out = np.full(len(X), -1, np.int32)
        kernels.nearest(np.ascontiguousarray(floats(X)), table, out)
        return out

    return labels


def _labels(geometry: Geometry, X: Any, centers: Floats) -> Codes:
    out = np.empty(X.shape[0], np.int32)
    for part in slabs(len(out), len(centers) + X.shape[1]):
        out[part] = nearest(geometry, X[part], centers)
    return out
