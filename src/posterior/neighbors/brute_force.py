"""Brute force: every row is looked at, by Euclidean distance or any other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy
from scipy import sparse

from posterior import kernels
from posterior.data.rows import SparseRows
from posterior.data.typing import Array, Floats, Integers
from posterior.kernels.searched import Searched, Shortlist, rounding
from posterior.neighbors.index import Best, Fill, deal, wanted, without

CELLS = 1 << 18  # distances of a block
LEAST = 64  # rows of a block
SAMPLE = 1024  # rows that tell where the origin is
TRIAL = 32  # queries that tell whether single precision does
MUCH = 1 / 32  # of the rows: if more must be measured, products in double are worth their time
SINGLE, DOUBLE = 1e15, 1e140  # lengths whose squares are far from overflow; rows have about one
EXTREME = 1e100  # sizes of rows that are not scaled without loss


class BlockedSearch:
    """Rows, near if `distance` of two blocks of rows, (m, d) and (b, d), is small there, (m, b).

    A distance that is not a number is as far as can be.
    """

    def __init__(
        self, X: Array | SparseRows, distance: Callable[[Any, Any], Array], fill: Fill
    ) -> None:
        self._X, self._distance, self._fill = X, distance, fill

    def nearest(self, Q: Any, k: int, skip: Array | None = None) -> tuple[Floats, Integers]:
        n = self._X.shape[0]
        most = wanted(k, skip, n)

        def look(part: slice) -> tuple[Floats, Integers]:
            q = Q[part]
            best = Best(q.shape[0], most)
            step = max(LEAST, CELLS // max(q.shape[0], 1))
            for start in range(0, n, step):
                D = np.asarray(self._distance(q, self._X[start : start + step]), np.float64)
                best.see(np.where(np.isnan(D), np.inf, D))
            return best.distance, best.number

        distance, number = deal(look, self._fill, Q.shape[0], n, most)
        return without(distance, number, skip, k)


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
        self._plain = BlockedSearch(X, scipy.spatial.distance.cdist, fill)
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


class SparseSearch:
    """Compressed sparse rows, near if |q - x| is small: products first, then differences."""

    def __init__(self, X: SparseRows, fill: Fill) -> None:
        self._X, self._fill = _matrix(X), fill
        self._square = _squares(self._X)

    def nearest(self, Q: Any, k: int, skip: Array | None = None) -> tuple[Floats, Integers]:
        X, square = self._X, self._square
        n = X.shape[0]
        most = wanted(k, skip, n)
        queries = _matrix(Q)

        def look(part: slice) -> tuple[Floats, Integers]:
            q = queries[part]
            found = Shortlist(q.shape[0], most)
            own = _squares(q)[:, None]
            error = rounding(int(np.diff(q.indptr).max(initial=0)))  # of so many products a sum

            def measure(query: Integers, row: Integers) -> Floats:
                return np.sqrt(_squares(q[query] - X[row]))

            step = max(LEAST, CELLS // max(q.shape[0], 1))
            for start in range(0, n, step):
                size = own + square[start : start + step]
                D = size - 2 * (q @ X[start : start + step].T).toarray()
                found.see(D, error * size, start, measure)
            return found.distance, found.number

        distance, number = deal(look, self._fill, queries.shape[0], n, most)
        return without(distance, number, skip, k)


def _matrix(X: Any) -> sparse.csr_array:
    """In double precision, columns ascending, each once."""
    if not isinstance(X, SparseRows):
        return sparse.csr_array(X, dtype=np.float64)
    return X.canonical().scipy(copy=False).astype(np.float64)


def _squares(X: sparse.csr_array) -> Floats:
    """|x|² of each row."""
    row = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    return np.bincount(row, X.data**2, X.shape[0]).astype(np.float64)
