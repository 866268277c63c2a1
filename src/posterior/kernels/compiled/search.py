"""The compiled searches for nearest centers and rows."""

from __future__ import annotations

import posterior.kernels._compiled as _compiled
from posterior.data.typing import Array, Codes, Floats, Integers
from posterior.kernels.centers import Bounds, Centers
from posterior.kernels.searched import Searched


def nearest(X: Array, centers: Centers, labels: Codes) -> int:
    """Label of the center with the smallest |c|² / 2 - x·c, the first of equals; how many moved."""
    return _compiled.nearest(X, *centers.arrays(), labels)


def nearest_bounded(X: Array, centers: Centers, bounds: Bounds, labels: Codes) -> tuple[int, float]:
    """The same labels; how many moved, and for how many rows all groups might have been looked at.

    Looks only at groups that may hold a nearer center, and the bounds follow.
    """
    b = bounds
    moved, looked = _compiled.nearest_bounded(
        X,
        *centers.arrays(),
        b.upper,
        b.lower,
        b.way,
        b.farthest,
        b.place,
        b.radius,
        b.fresh,
        labels,
    )
    return moved, looked / len(centers.number)


def own_distances(X: Array, centers: Floats, labels: Codes, out: Floats) -> None:
    """|x - c|² from the center of each row's label, by the differences themselves."""
    _compiled.own_distances(X, centers, labels, out)


def nearest_rows(
    Q: Floats, rows: Searched, single: bool, distance: Floats, number: Integers
) -> int:
    """Fill in distances and numbers (m, k) of the rows nearest to each query.

    Products are taken in single precision, or in double. Returns how many distances were measured.
    """
    arrays = rows.X, rows.origin, rows.scale, rows.half
    return _compiled.nearest_rows(Q, *arrays, single, distance, number)
