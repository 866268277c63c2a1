"""Rows as a search by matrix products reads them, and the nearest of those seen so far."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

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


def rounding(n_columns: int) -> float:
    """What |q|² + |x|² - 2 q·x may be off by, of |q|² + |x|²; and measured distances too."""
    return 4 * (n_columns + 16) * float(np.finfo(np.float64).eps)


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
