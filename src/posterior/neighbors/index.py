"""Indexes: rows that can be asked which of them are nearest, whatever the distance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np

from posterior.data.typing import Array, Floats, Integers

# A method of an engine: function(chunk, its rows, its part of out) for all chunks.
Fill: TypeAlias = Callable[[Callable[[Any, slice, Any], None], Any, Any], None]
Look: TypeAlias = Callable[[slice], tuple[Floats, Integers]]  # at a chunk of the queries


class Engine(Protocol):
    """Threads that share the work on queries."""

    def fill(self, function: Callable[[Any, slice, Any], None], X: Any, out: Any) -> None: ...


class Index(Protocol):
    """Rows that can be asked which of them are nearest to a query."""

    def nearest(self, Q: Any, k: int, skip: Array | None = None) -> tuple[Floats, Integers]:
        """Distances (m, k), ascending, and numbers (m, k) of the k rows nearest to each query.

        Equal distances are in the order of the rows' numbers. `skip` (m,) is for each query a row
        that may not be among its neighbors, or -1.
        """
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Among:
    """Some of the rows, under the numbers that they have among all."""

    index: Index
    numbers: Integers  # ascending

    def nearest(self, Q: Any, k: int, skip: Array | None = None) -> tuple[Floats, Integers]:
        if skip is not None:
            place = np.searchsorted(self.numbers, skip)
            place[place == len(self.numbers)] = 0
            skip = np.where(self.numbers[place] == skip, place, -1)
        distances, rows = self.index.nearest(Q, k, skip)
        return distances, self.numbers[rows]


def wanted(k: int, skip: Array | None, n_rows: int) -> int:
    """The number of neighbors to look for: one more where queries may have a row to skip."""
    skipping = skip is not None and bool((np.asarray(skip) >= 0).any())
    if not 1 <= k <= n_rows - skipping:
        raise ValueError(
            f"Expected 1 to {n_rows - skipping} neighbors of {n_rows} rows, got {k}. Ask for fewer."
        )
    return k + skipping


def deal(look: Look, fill: Fill, n_queries: int, n_rows: int, k: int) -> tuple[Floats, Integers]:
    """Distances and numbers of k neighbors, by chunks of queries."""
    distance, number = np.empty((n_queries, k)), np.empty((n_queries, k), np.int64)

    def chunk(_: Array, queries: slice, out: Floats) -> None:
        out[...], number[queries] = look(queries)

    if n_queries:  # a query is as wide as the rows it is held against: chunks are sized by that
        fill(chunk, np.broadcast_to(np.arange(n_queries)[:, None], (n_queries, n_rows)), distance)
    return distance, number


def without(
    distance: Floats, number: Integers, skip: Array | None, k: int
) -> tuple[Floats, Integers]:
    """k neighbors: where one more was found, less the row to skip, or else less the last."""
    if skip is None or number.shape[1] == k:
        return distance, number
    left_out = number == np.asarray(skip)[:, None]
    left_out[:, -1] |= ~left_out.any(axis=1)
    shape = len(number), k
    return distance[~left_out].reshape(shape), number[~left_out].reshape(shape)


def ranked(
    query: Integers, distance: Floats, number: Integers, n_queries: int, k: int
) -> tuple[Floats, Integers]:
    """The first k candidates of each query, which has as many or more."""
    order = np.lexsort((number, distance, query))
    start = np.searchsorted(query[order], np.arange(n_queries))
    first = order[start[:, None] + np.arange(k)]
    return distance[first], number[first]


class Best:
    """The k nearest of the rows seen so far, for each of m queries; blocks come in row order."""

    def __init__(self, n_queries: int, k: int) -> None:
        self._k, self._seen = k, 0
        self.distance = np.empty((n_queries, 0))
        self.number = np.empty((n_queries, 0), np.int64)

    @property
    def full(self) -> bool:
        """Whether every query has its k rows: from then on, an equal one comes too late."""
        return self._seen >= self._k

    def limit(self, D: Floats) -> Floats:
        """The k-th distance (m, 1): so far, or else of the next rows, none of which is beyond D."""
        if self.full:
            return self.distance[:, -1:]
        if D.shape[1] <= self._k:
            return np.full((len(D), 1), np.inf)
        return np.partition(D, self._k - 1, axis=1)[:, self._k - 1, None]

    def see(self, D: Floats) -> None:
        """Distances (m, b) of the next b rows."""
        limit = self.limit(D)
        query, column = np.nonzero(D < limit if self.full else limit >= D)
        self.add(query, column, D[query, column], D.shape[1])

    def add(self, query: Integers, column: Integers, distance: Floats, n_rows: int) -> None:
        """Those of the next rows that may be among the first k; only the far ones are left out."""
        m, known = self.distance.shape
        self.distance, self.number = ranked(
            np.concatenate([np.repeat(np.arange(m), known), query]),
            np.concatenate([self.distance.ravel(), distance]),
            np.concatenate([self.number.ravel(), column + self._seen]),
            m,
            min(self._k, self._seen + n_rows),
        )
        self._seen += n_rows
