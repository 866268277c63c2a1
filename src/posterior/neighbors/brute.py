"""Dense rows by Euclidean distance: every row is looked at, few are measured."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from posterior import kernels
from posterior.data.typing import Array, Floats, Integers
from posterior.kernels.searched import Searched
from posterior.neighbors.blocked import BlockedSearch
from posterior.neighbors.index import Fill
from posterior.neighbors.nearest_first import deal, wanted, without

SAMPLE = 1024  # rows that tell where the origin is
TRIAL = 32  # queries that tell whether single precision does
MUCH = 1 / 32  # of the rows: if more must be measured, products in double are worth their time
SINGLE, DOUBLE = 1e15, 1e140  # lengths whose squares are far from overflow; rows have about one
EXTREME = 1e100  # sizes of rows that are not scaled without loss


class BruteForce:
    """Complete rows of float32 or float64, near if |q - x| is small.

    Products q·x tell every distance up to a bound on their rounding, of any size of block and any
    precision: |q|² + |x|² - 2 q·x, as computed, is within c (|q|² + |x|²) of |q - x|² with
    c = (d + 16) ε. Rows that may be among the k nearest by that are few; they are measured again
    by Σ (q - x)², columns in order, in double precision, and ordered by (distance, number). So
    neighbors, ties and distances are those of the plain computation, whatever the offset of the
    rows. Products are taken in single precision, around the middle of the rows, where some
    queries tell that this leaves few rows to measure.
    """

    def __init__(self, X: Array, fill: Fill) -> None:
        self._fill = fill
        self._single: bool | None = None  # not known yet
        self._plain = BlockedSearch(X, cdist, fill)
        with np.errstate(all="ignore"):
            self._rows = searched(X, fill)
        self._extreme = not 1 / EXTREME < self._rows.scale < EXTREME

    def nearest(self, Q: Any, k: int, skip: Array | None = None) -> tuple[Floats, Integers]:
        rows = self._rows
        n = len(rows.X)
        most = wanted(k, skip, n)
        reach = self._reach(Q)
        if self._extreme or not reach < DOUBLE:
            return self._plain.nearest(Q, k, skip)

        def look(part: slice, single: bool) -> tuple[Floats, Integers, int]:
            q = np.ascontiguousarray(Q[part], np.float64)
            distance, number = np.empty((len(q), most)), np.empty((len(q), most), np.int64)
            measured = kernels.nearest_rows(q, rows, single, distance, number)
            return distance, number, measured

        if self._single is None and len(Q) >= TRIAL:
            *_, measured = look(slice(0, TRIAL), reach < SINGLE)
            self._single = measured <= TRIAL * (MUCH * n + 4 * most)
        single = self._single is not False and reach < SINGLE
        distance, number = deal(lambda part: look(part, single)[:2], self._fill, len(Q), n, most)
        return without(distance, number, skip, k)

    def _reach(self, Q: Array) -> float:
        """A length that no query exceeds, in the units of the rows."""
        far = max(abs(float(Q.max(initial=0))), abs(float(Q.min(initial=0))))
        far += float(np.abs(self._rows.origin).max(initial=0.0))
        return float(far * self._rows.scale * np.sqrt(max(Q.shape[1], 1)))


def searched(X: Array, fill: Fill) -> Searched:
    """Rows as the search reads them, around the mean of some."""
    X = np.ascontiguousarray(X)
    origin = X[:: max(1, len(X) // SAMPLE)].mean(axis=0, dtype=np.float64)
    square = np.empty((len(X), 1))

    def measure(x: Array, _: slice, out: Floats) -> None:
        kernels.own_distances(x, origin[None], np.zeros(len(x), np.int32), out[:, 0])

    fill(measure, X, square)
    longest = np.sqrt(square.max())
    scale = 2.0 ** -np.ceil(np.log2(longest)) if 0 < longest < np.inf else 1.0
    return Searched(X, origin, float(scale), 0.5 * scale**2 * square[:, 0])
