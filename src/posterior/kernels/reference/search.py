"""Searches for the nearest centers and rows, in NumPy.

Of rows, products tell which may be near, and differences which are.
"""

from __future__ import annotations

import numpy as np

from posterior.data.rows import slabs
from posterior.data.typing import Array, Codes, Floats, Integers
from posterior.kernels.centers import Bounds, Centers, places
from posterior.kernels.searched import Searched, Shortlist, rounding


def nearest(X: Array, centers: Centers, labels: Codes) -> int:
    """Label of the center with the smallest |c|² / 2 - x·c, the first of equals; how many moved."""
    points, half = centers.points, centers.half.ravel()[places(centers.number)]
    moved = 0
    for rows in slabs(len(X), len(points) + X.shape[1]):
        score = half - (X[rows] - centers.origin) @ points.T
        now = score.argmin(axis=1)
        moved += int(np.count_nonzero(now != labels[rows]))
        labels[rows] = now
    return moved


def nearest_bounded(X: Array, centers: Centers, bounds: Bounds, labels: Codes) -> tuple[int, float]:
    """The same labels; how many moved, and for how many rows all groups were looked at: all.

    The compiled twin looks only at groups that may hold a nearer center, and its bounds follow.
    """
    bounds.upper[:], bounds.lower[:] = np.inf, 0.0
    return nearest(X, centers, labels), float(len(X))


def own_distances(X: Array, centers: Floats, labels: Codes, out: Floats) -> None:
    """|x - c|² from the center of each row's label, by the differences themselves."""
    for rows in slabs(*X.shape):
        out[rows] = ((X[rows] - centers[labels[rows]]) ** 2).sum(axis=1)


def nearest_rows(Q: Array, rows: Searched, single: bool, distance: Floats, number: Integers) -> int:
    """Fill in distances and numbers (m, k) of the rows nearest to each query.

    Returns how many distances were measured. The compiled twin may take products in single
    precision, and its bounds are those of it.
    """
    n, d = rows.X.shape
    found, measured = Shortlist(*distance.shape), 0
    q = rows.around(Q)

    def measure(query: Integers, row: Integers) -> Floats:
        apart = rows.X[row] - Q[query].astype(np.float64)
        square = np.cumsum(apart**2, axis=1)[:, -1] if d else np.zeros(len(query))
        return np.sqrt(square)  # columns were added in order, as the twin does

    for block in slabs(n, len(Q) + d):
        D, size = squares(q @ rows.around(rows.X[block]).T, q, rows.half[block])
        measured += found.see(D, rounding(d) * size, block.start, measure, rows.scale)
    distance[:], number[:] = found.distance, found.number
    return measured


def squares(products: Floats, q: Floats, half: Floats) -> tuple[Floats, Floats]:
    """|q - x|² from q·x (m, b), and |q|² + |x|², of which it is what does not cancel."""
    size = np.einsum("ij,ij->i", q, q)[:, None] + 2 * half
    return size - 2 * products, size
