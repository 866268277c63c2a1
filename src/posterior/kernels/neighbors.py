"""The rows nearest to queries: products tell which they may be, differences which they are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from posterior.data.rows import slabs
from posterior.data.typing import Array, Floats, Integers

NOBODY = 2**31  # behind all numbers of rows


@dataclass(frozen=True, slots=True, eq=False)
class Searched:
    """Rows to search. Around the origin and scaled, the longest has a length of about one."""

    X: Array  # (n, d) float32 or float64, contiguous
    origin: Floats  # (d,)
    scale: float  # a power of two
    half: Floats  # (n,)  scale² |x - o|² / 2

    def around(self, X: Array) -> Floats:
        """Rows as they are multiplied."""
        return (X - self.origin) * self.scale


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


def rounding(n_columns: int) -> float:
    """What |q|² + |x|² - 2 q·x may be off by, of |q|² + |x|²; and measured distances too."""
    return 4 * (n_columns + 16) * float(np.finfo(np.float64).eps)


def squares(products: Floats, q: Floats, half: Floats) -> tuple[Floats, Floats]:
    """|q - x|² from q·x (m, b), and |q|² + |x|², of which it is what does not cancel."""
    size = np.einsum("ij,ij->i", q, q)[:, None] + 2 * half
    return size - 2 * products, size


class Shortlist:
    """The k nearest of the rows seen so far, for each of m queries, in order."""

    def __init__(self, m: int, k: int) -> None:
        self.distance = np.full((m, k), np.inf)
        self.number = np.full((m, k), NOBODY)

    def see(
        self,
        D: Floats,
        error: Floats,
        first: int,
        measure: Callable[[Integers, Integers], Floats],
        scale: float = 1.0,
    ) -> int:
        """Measure those of the next rows that may be near; how many they were.

        D (m, b) is scale² times the squared distance, give or take the error. Rows that are
        farther than the k-th least D + error, or than the k-th that was measured, are not near.
        """
        m, k = self.distance.shape
        limit = (self.distance[:, -1] * scale) ** 2
        if D.shape[1] >= k:
            limit = np.minimum(limit, np.partition(D + error, k - 1, axis=1)[:, k - 1])
        query, column = np.nonzero(D - error <= limit[:, None])
        query_of = np.concatenate([np.repeat(np.arange(m), k), query])
        distance = np.concatenate([self.distance.ravel(), measure(query, column + first)])
        number = np.concatenate([self.number.ravel(), column + first])
        order = np.lexsort((number, distance, query_of))
        start = np.searchsorted(query_of[order], np.arange(m))
        nearest = order[start[:, None] + np.arange(k)]
        self.distance, self.number = distance[nearest], number[nearest]
        return len(query)
