"""Where centers begin."""

from __future__ import annotations

from typing import Any

import numpy as np

from posterior.data.rows import slabs
from posterior.data.typing import Array, Floats
from posterior.generative.kmeans.geometries import Dense, squares
from posterior.generative.kmeans.points import Points
from posterior.generative.kmeans.space import CANCELLED


def plus_plus(
    points: Points, n_centers: int, mean: Floats, random: np.random.RandomState
) -> Floats:
    """Centers at rows, each drawn in proportion to w |x - c|² from the centers before it.

    Of 2 + log k draws the one that leaves the least inertia is kept (greedy k-means++, Arthur &
    Vassilvitskii 2007). The first row is drawn by weight alone.
    """
    n_trials = 2 + int(np.log(n_centers))
    weight = points.weights
    first = random.choice(len(points), 1, p=weight / weight.sum())
    centers = np.repeat(filled(points.rows(first), mean), n_centers, axis=0)
    seen = Lifted(points, mean) if isinstance(points.geometry, Dense) else points
    left = seen.squared(centers[:1])[:, 0]
    for k in range(1, n_centers):
        trials = filled(points.rows(drawn(weight * left, n_trials, random)), mean)
        after = seen.squared(trials, below=left)
        best = int(np.einsum("i,ik->k", weight, after).argmin())
        centers[k], left = trials[best], after[:, best].copy()
    return centers


class Lifted:
    """Complete rows as [x, |x|², 1] around their mean, to look at many times.

    Their products with [-2c, 1, |c|²] are the squared distances.
    """

    def __init__(self, points: Points, mean: Floats) -> None:
        n, d = points.X.shape
        self._points, self._mean, self._rows = points, mean, np.ones((n, d + 2))
        np.subtract(points.X, mean, out=self._rows[:, :d])
        np.einsum("ij,ij->i", self._rows[:, :d], self._rows[:, :d], out=self._rows[:, d])

    def squared(self, centers: Floats, below: Floats | None = None) -> Floats:
        """Squared distances (n, k) from all centers; with `below` (n,), none above it."""
        c = centers - self._mean
        lifted = np.column_stack([-2.0 * c, np.ones(len(c)), squares(c)])
        out = np.empty((len(c), len(self._rows)))

        def look(rows: Any, place: slice, _: Floats) -> None:
            for part in slabs(*rows.shape):
                here = slice(place.start + part.start, min(place.start + part.stop, place.stop))
                D = np.matmul(lifted, rows[part].T, out=out[:, here])
                cancelled = D < CANCELLED * rows[part, -2]
                if cancelled.any():
                    k, i = np.nonzero(cancelled)
                    D[k, i] = Dense().apart(self._points.X[here][i], centers[k])
                if below is not None:
                    np.minimum(D, below[here], out=D)

        self._points.fill(look, self._rows, out.T)
        return out.T


def drawn(mass: Floats, n: int, random: np.random.RandomState) -> Array:
    """Rows drawn with probabilities in proportion to their mass; any row if there is none."""
    total = mass.cumsum()
    last = np.searchsorted(total, total[-1])  # of those that have some
    draws = np.searchsorted(total, random.uniform(size=n) * total[-1], side="right")
    return np.minimum(draws, last)


def at_random(
    points: Points, n_centers: int, mean: Floats, random: np.random.RandomState
) -> Floats:
    """Centers at rows drawn by weight, at different ones while there are any."""
    p = points.weights / points.weights.sum()
    again = bool(np.count_nonzero(p) < n_centers)
    return filled(points.rows(random.choice(len(points), n_centers, replace=again, p=p)), mean)


def filled(rows: Floats, mean: Floats) -> Floats:
    """Rows as centers: a missing cell becomes the mean of its column."""
    return np.where(np.isnan(rows), mean, rows)
