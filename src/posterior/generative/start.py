"""First guesses of hidden groups: whom EM listens to before it knows anything."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np

from posterior.data.rows import Blocks, CodedRows, Features, Groups, Hard, Soft, SparseRows
from posterior.data.typing import Array, Floats
from posterior.generative.kmeans.lloyd import Stop, lloyd
from posterior.generative.kmeans.points import Points
from posterior.generative.kmeans.seeding import at_random, plus_plus
from posterior.generative.kmeans.space import Fill, Sum
from posterior.statistics.extent import as_codes

Start: TypeAlias = Literal["kmeans", "k-means++", "random", "random_from_data"]
STARTS: tuple[Start, ...] = ("kmeans", "k-means++", "random", "random_from_data")
LLOYD = 300  # steps at most
TOLERANCE = 1e-4  # of the variance of a column, by which centers may still move


def first_groups(
    start: Start, points: Points, n_groups: int, random: np.random.RandomState
) -> Groups:
    """Each row's group: of its k-means cluster, of the nearest of some rows, or shares at random.

    Rows of which none are near are drawn one by one (greedy k-means++) or all at once, whatever
    order the rows come in, and as many as a row's weight says.
    """
    if start == "random":
        R = random.uniform(size=(len(points), n_groups))
        return Soft(R * (points.weights / R.sum(axis=1))[:, None])
    spread = points.spread()
    seeds = at_random if start == "random_from_data" else plus_plus
    centers = seeds(points.in_order(), n_groups, spread.mean, random)
    if start == "kmeans":
        stop = Stop(TOLERANCE * spread.variance, LLOYD)
        found = lloyd(points, centers, spread, stop)
        return Hard(found.labels, n_groups, points.weight)
    space = points.space(n_groups)
    space.assign(centers)
    return Hard(space.labels, n_groups, points.weight)


def points_of(X: Array | SparseRows, weight: Floats | None, fill: Fill, sum: Sum) -> Points:
    """Rows as k-means sees them."""
    complete = isinstance(X, SparseRows) or not bool(np.isnan(X).any())
    return Points.of(X, weight, complete, fill, sum)


def embedded(X: Features) -> Array | SparseRows:
    """Rows of any kind as points: numbers in units of their deviation, categories as corners.

    A missing cell is where the average is. Two categories are as far apart as two rows are on
    average in a column of numbers.
    """
    if isinstance(X, Blocks):
        return np.hstack([_dense(part) for part in X.parts])
    return X if isinstance(X, SparseRows) else _dense(X)


def _dense(X: Features) -> Floats:
    if isinstance(X, SparseRows):
        return X.scipy().toarray()
    if isinstance(X, CodedRows):
        codes = as_codes(X.codes)
        corners = [_corners(codes[:, j], len(v)) for j, v in enumerate(X.values)]
        return np.hstack(corners) if corners else np.zeros((len(codes), 0))
    x = np.asarray(X, np.float64)
    observed = ~np.isnan(x)
    count = np.maximum(observed.sum(axis=0), 1)
    mean = np.where(observed, x, 0.0).sum(axis=0) / count
    apart = np.where(observed, x - mean, 0.0)
    deviation = np.sqrt((apart**2).sum(axis=0) / count)
    return np.asarray(apart / np.where(deviation > 0, deviation, 1.0))


def _corners(codes: Array, n_values: int) -> Floats:
    corner = np.eye(n_values + 1, n_values)  # the last is nowhere
    corner -= corner[:-1].mean(axis=0) if n_values else 0.0
    corner[-1] = 0.0
    seen = (codes >= 0) & (codes < n_values)
    return np.asarray(corner[np.where(seen, codes, n_values)])
