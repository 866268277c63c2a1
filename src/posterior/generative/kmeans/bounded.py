"""Dense rows as centers see them, with bounds that save most of the search for the nearest one."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from posterior import kernels
from posterior.data.rows import Hard, Rows
from posterior.data.typing import Array, Codes, Floats
from posterior.generative.kmeans.space import Assigned
from posterior.kernels.centers import GROUP, Bounds, Centers, neighborhoods, places
from posterior.statistics.algebra import Exactly
from posterior.statistics.moments import Totals

READ = 5120  # bytes of centers that are searched as fast as the bounds of a row are read
UNEVEN = 1.5  # looking at some groups costs so much more than its part of a full search
SPARE = 1.25  # centers may come so much farther from the origin before bounds are made anew
MANY = 0.25  # of the rows: if more moved, sums are taken afresh
LANES = 16  # bounds that are compared at once: their lines are whole vectors, or quarters
SAMPLE = 256  # rows that tell where the origin is, and whether bounds would pay


class Bounded:
    """Complete rows of floats; labels are those of a full search, to the last bit.

    Bounds are made anew each time the steps of the centers have halved, if a sample of the rows
    tells that they will save enough, and given up when they do not.
    """

    labels: Codes  # (n,), -1 before the first assign

    def __init__(
        self,
        X: Array,
        weight: Floats | None,
        n_centers: int,
        fill: Callable[..., None],
        sum: Callable[..., Any],
    ) -> None:
        self._X, self._weight, self._n_centers = np.ascontiguousarray(X), weight, n_centers
        self._fill, self._sum = fill, sum
        self.labels = np.full(len(X), -1, np.int32)
        self._origin = origin_of(self._X)
        self._centers = np.empty((0, X.shape[1]))  # that the labels are for
        self._points = self._centers.astype(X.dtype)  # the same around the origin
        self._moving: Moving | None = None
        self._step = math.inf  # of the centers, when bounds were last thought of
        self._summed: tuple[Codes, Totals] | None = None  # labels, and the sums for them

    def assign(self, centers: Floats) -> int:
        """Every row to its nearest center, the first of equals; how many rows moved."""
        self._centers, before = np.array(centers, np.float64), self._points
        self._points = (self._centers - self._origin).astype(self._X.dtype)
        worth = (1 - READ / max(self._points.nbytes, 1)) / UNEVEN
        if len(before) == len(self._points) and worth > 0:
            self._follow(before, worth)
        bounds = None if self._moving is None else self._moving.bounds
        number = None if self._moving is None else self._moving.number
        table = Centers.of(self._points, self._origin, number)
        done: list[tuple[int, float]] = []  # rows that moved, and rows' worth of centers looked at

        def look(X: Array, rows: slice, labels: Codes) -> None:
            if bounds is None:
                done.append((kernels.nearest(X, table, labels[:, 0]), 0.0))
            else:
                done.append(kernels.nearest_bounded(X, table, bounds[rows], labels[:, 0]))

        self._fill(look, self._X, self.labels[:, None])
        looked = math.fsum(looked for _, looked in done)
        if bounds is not None and not bounds.fresh and looked > worth * len(self._X):
            self._moving = None
        return sum(moved for moved, _ in done)

    def _follow(self, before: Array, worth: float) -> None:
        """Loosen the bounds by the steps of the centers, or make new ones if they would pay."""
        steps = lengths(self._points.astype(np.float64) - before)
        if self._moving is not None and not self._moving.follow(self._points, steps):
            self._moving = None
        step = float(np.sqrt(np.mean(steps**2)))
        if step <= self._step / 2:
            self._step = step
            sample = some_rows(self._X) - self._origin
            if expected_work(sample, self._points, steps) <= worth / 2:
                self._moving = Moving(len(self._X), self._points)

    def sums(self) -> tuple[Floats, Floats]:
        """Weight (k,) and mean (k, d) of the rows of each center; the mean of none is NaN.

        Sums are exact: rows that moved are taken from one and added to another without a trace.
        """
        n = len(self.labels)
        before, totals = self._summed or (np.full(n, -1, np.int32), None)
        rows = np.flatnonzero(self.labels != before)
        if totals is None or len(rows) > MANY * n:
            totals = self._totals(self._X, self.labels, self._weight)
        elif len(rows):
            X, weight = self._X[rows], None if self._weight is None else self._weight[rows]
            added = self._totals(X, self.labels[rows], weight)
            totals = totals + (added - self._totals(X, before[rows], weight))
        self._summed = self.labels.copy(), totals
        return totals.weight.rounded()[:, 0], totals.mean()

    def _totals(self, X: Array, labels: Codes, weight: Floats | None) -> Totals:

        def total(part: Rows) -> Totals:
            assert isinstance(part.X, np.ndarray)
            return Totals.of(part.X, part.groups)

        rows = Rows(X, Hard(labels, self._n_centers, weight))
        totals: Totals = self._sum(Exactly(total), rows)
        return totals

    def distances(self) -> Floats:
        """Squared distance (n,) of each row from the center that it was assigned to."""
        out = np.empty(len(self._X))

        def measure(X: Array, rows: slice, part: Floats) -> None:
            kernels.own_distances(X, self._centers, self.labels[rows], part[:, 0])

        self._fill(measure, self._X, out[:, None])
        return out

    def assigned(self) -> Assigned:
        return Assigned.of(self.distances(), self.labels, self._weight, self._n_centers)


class Moving:
    """Bounds of n rows, which loosen as the centers move (Ding et al. 2015).

    A row keeps an upper bound on the distance from its own center, and a lower bound on that from
    each group of sixteen others.
    """

    def __init__(self, n: int, points: Array) -> None:
        self.number = neighborhoods(points.astype(np.float64))
        groups = len(self.number)
        width = -(-groups // 4) * 4 if groups < LANES else -(-groups // LANES) * LANES
        self._way, self._farthest = np.zeros(len(points)), np.zeros(width)
        self.bounds = Bounds(
            np.empty(n, np.float32),
            np.empty((n, width), np.float32),
            rounded_up(self._way),
            rounded_up(self._farthest),
            places(self.number),
            SPARE * lengths(points).max(),
            fresh=True,
        )

    def follow(self, points: Array, steps: Floats) -> bool:
        """Loosen the bounds by the steps of the centers; not possible if one came too far."""
        self._way += steps
        groups = np.where(self.number >= 0, steps[self.number], 0.0)
        self._farthest[: len(groups)] += groups.max(axis=1)
        self.bounds = replace(
            self.bounds,
            way=rounded_up(self._way),
            farthest=rounded_up(self._farthest),
            fresh=False,
        )
        return bool(lengths(points).max() <= self.bounds.radius)


def expected_work(rows: Floats, points: Array, steps: Floats) -> float:
    """The part of a full search that new bounds will leave if centers go on as they did."""
    points, n = points.astype(np.float64), len(rows)
    number = neighborhoods(points)
    known = number >= 0
    squares = (points**2).sum(axis=1) - 2 * (rows @ points.T)
    distance = np.sqrt(np.maximum(squares + (rows**2).sum(axis=1)[:, None], 0.0))
    own = distance.argmin(axis=1)
    upper = distance[np.arange(n), own] + steps[own]
    distance[np.arange(n), own] = np.inf
    farthest = np.where(known, steps[number], 0.0).max(axis=1)
    nearest = np.where(known, distance[:, number], np.inf).min(axis=2)
    needed = nearest - farthest < upper[:, None]
    needed[np.arange(n), places(number)[own] // GROUP] |= needed.any(axis=1)
    return float(needed.mean())


def lengths(points: Array) -> Floats:
    return np.sqrt((points.astype(np.float64) ** 2).sum(axis=1))


def rounded_up(x: Floats) -> Array:
    return np.nextafter(x.astype(np.float32), np.float32(np.inf))


def some_rows(X: Array) -> Floats:
    return X[:: max(1, len(X) // SAMPLE)].astype(np.float64)


def origin_of(X: Array) -> Array:
    """A point amid the rows, (d,), rounded to their spread: whole numbers stay whole around it."""
    sample = some_rows(X)
    mean, spread = sample.mean(axis=0), sample.std(axis=0)
    unit = np.exp2(np.floor(np.log2(np.where(spread > 0, spread, 1.0))))
    return (np.round(mean / unit) * unit).astype(X.dtype)
