"""Lloyd's loop: rows go to their nearest center, centers to the mean of their rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from posterior.data.typing import Codes, Floats
from posterior.generative.kmeans.points import Points, Spread
from posterior.generative.kmeans.space import Space

UNMOVED = "no row changed its center"
STILL = "centers moved less than the tolerance"
TIRED = "the number of iterations is used up"

Log = Callable[[str], None]
Watch = Callable[[str, Floats, Codes], None]  # gets "assign" or "move", centers and labels


def silent(message: str) -> None:
    """Nobody asked for messages."""


def ignore(kind: str, centers: Floats, labels: Codes) -> None:
    """Nobody watches."""


@dataclass(frozen=True, slots=True)
class Stop:
    """When to stop: `tol` bounds the squared shift of all centers together."""

    tol: float
    max_iter: int


@dataclass(frozen=True, slots=True, eq=False)
class Clustering:
    centers: Floats  # (k, d)
    labels: Codes  # (n,)
    weight: Floats  # (k,): of the rows of each center
    inertias: Floats  # after each iteration; they never rise
    reason: str

    @property
    def inertia(self) -> float:
        return float(self.inertias[-1])

    @property
    def n_iter(self) -> int:
        return len(self.inertias)


def lloyd(
    points: Points,
    start: Floats,
    spread: Spread,
    stop: Stop,
    log: Log = silent,
    dtype: Any = np.float64,
    *,
    watch: Watch = ignore,
) -> Clustering:
    """Lower Σᵢ wᵢ |xᵢ - c(i)|² from a start until nothing moves; centers are numbers of a dtype.

    The inertia is told by what centers explain: Σᵢ wᵢ |xᵢ - m|² - Σ_k w_k |c_k - m|².
    """
    space, centers = points.space(len(start)), rounded(start, dtype)
    total, told, reason = float(spread.scatter.sum()), list[float](), TIRED
    for i in range(stop.max_iter):
        moved = space.assign(centers)
        watch("assign", centers, space.labels)
        if moved == 0:
            log(f"Converged at iteration {i}: strict convergence.")
            told.append(told[-1])
            reason = UNMOVED
            break
        weight, means = means_of(points, space, centers)
        told.append(total - float((weight * (means - spread.mean) ** 2).sum()))
        log(f"Iteration {i}, inertia {told[-1]}.")
        before, centers = centers, rounded(means, dtype)
        watch("move", centers, space.labels)
        shift = float(((centers - before) ** 2).sum())
        if shift <= stop.tol:
            log(f"Converged at iteration {i}: center shift {shift} within tolerance {stop.tol}.")
            reason = STILL
            break
    if reason != UNMOVED:
        space.assign(centers)  # so that labels are those of the centers
        watch("assign", centers, space.labels)
    assigned = space.assigned()
    told[-1] = assigned.inertia
    # Differences of sums round; what they tell neither rises nor ends below the last.
    inertias = np.minimum.accumulate(np.maximum(told, told[-1]))
    return Clustering(centers, space.labels, assigned.weight, inertias, reason)


def rounded(centers: Floats, dtype: Any) -> Floats:
    return centers.astype(dtype).astype(np.float64)


def means_of(points: Points, space: Space, centers: Floats) -> tuple[Floats, Floats]:
    """Weights (k, 1) or (k, d) and means of the rows of each center.

    An empty center takes rows that are far from their own; a cell that no row has stays.
    """
    weight, means = space.sums()
    weight = weight.reshape(len(centers), -1)
    means = np.where(np.isnan(means), centers, means)
    empty = np.flatnonzero(~weight.any(axis=1))
    if len(empty):
        weight = weight.copy()
        for center, (x, w, donor) in zip(empty, far_rows(points, space), strict=False):
            move(weight, means, x, w, donor, int(center))
    return weight, means


def far_rows(points: Points, space: Space) -> Iterator[tuple[Floats, float, int]]:
    """Cells, weight and center of rows, the farthest from their centers first.

    Equal rows come as one, and those as far as each other in the order of their cells, so that
    neither weights in place of repeated rows nor the order of rows matter. The last rows of a
    center are not among them.
    """
    distance, labels, weight = space.distances(), space.labels, points.weights
    left = np.bincount(labels[weight > 0])
    order = np.flatnonzero((distance > 0) & (weight > 0))
    order = order[np.argsort(-distance[order])]
    ends = np.flatnonzero(np.diff(distance[order], append=-1.0)) + 1
    for start, end in pairwise(np.append(0, ends)):
        cells = np.nan_to_num(points.rows(order[start:end]), nan=np.inf)
        different, place = np.unique(cells, axis=0, return_inverse=True)
        for j, x in enumerate(different):
            rows = order[start:end][place.ravel() == j]
            donor = int(labels[rows[0]])
            if left[donor] > len(rows):
                left[donor] -= len(rows)
                yield np.where(np.isinf(x), np.nan, x), float(weight[rows].sum()), donor


def move(weight: Floats, means: Floats, x: Floats, w: float, donor: int, center: int) -> None:
    """Rows at x, of weight w, leave their donor and become a center of their own."""
    observed = ~np.isnan(x)
    taken = w * observed if weight.shape[1] > 1 else np.array([w])
    x = np.where(observed, x, means[donor])
    left = weight[donor] - taken
    with np.errstate(invalid="ignore", divide="ignore"):
        means[donor] += np.where(left > 0, taken / left, 0.0) * (means[donor] - x)
    means[center], weight[center], weight[donor] = x, taken, left
