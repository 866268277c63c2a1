"""Threads of this process. Those that compute live here; `readers` has those that read as well."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import reduce
from numbers import Integral
from operator import add
from typing import TypeVar

from posterior.data.blas_threads import one_blas_thread as one_blas_thread
from posterior.data.rows import Features, Hard, Rows, SparseRows, chunk_starts
from posterior.data.typing import Floats
from posterior.sources.remote_rows import RemoteRows
from posterior.statistics.algebra import Addable, Exactly

S = TypeVar("S", bound=Addable)
T = TypeVar("T")

SUM_CELLS = 300_000, 9_000_000  # cells of a chunk to sum: worth a thread's while, and a queue's
ROUNDED_CHUNKS = 16  # of sums that round: enough for the threads of most machines
FILL_CELLS = 800_000  # cells of a chunk to score: in and out stay in cache

_chosen: int | None = None
_thread = threading.local()
_pools: dict[int, ThreadPoolExecutor] = {}
os.register_at_fork(after_in_child=_pools.clear)


def n_threads() -> int:
    """`threads(n)` if set, or OMP_NUM_THREADS, or the CPUs that this process may use.

    One of several threads that share the work has itself alone: none waits for another.
    """
    if getattr(_thread, "beside_others", False):
        return 1
    if _chosen is not None:
        return _chosen
    try:
        return max(1, int(os.environ["OMP_NUM_THREADS"]))
    except (KeyError, ValueError):
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1


def work_beside_others() -> None:
    """This thread is one of several that share the work."""
    _thread.beside_others = True


class threads:  # noqa: N801 - reads as a setting
    """Use n threads from here on, or, in a with statement, inside it. Results never change.

    >>> import posterior
    >>> with posterior.threads(1):
    ...     pass
    """

    def __init__(self, n: int | None) -> None:
        global _chosen
        if n is not None and (not isinstance(n, Integral) or n < 1):
            raise ValueError(f"Expected a number of threads, at least one, got {n!r}.")
        self._before, _chosen = _chosen, None if n is None else int(n)

    def __enter__(self) -> None:
        return None

    def __exit__(self, *_: object) -> None:
        global _chosen
        _chosen = self._before


@dataclass(frozen=True, slots=True)
class Local:
    """Threads of this process; the same bits on 1 thread or on 64."""

    threads: int | None = None
    chunk_rows: int | None = None  # None: as many as keep a chunk busy for some milliseconds

    def sum(self, function: Callable[[Rows], S], rows: Rows | RemoteRows) -> S:
        """function(chunk) added up over all chunks, in order.

        Sums depend on the chunks, which then depend on the rows alone, unless the function says
        that it counts `Exactly`: only then may every thread have a chunk of its own.
        """
        if isinstance(rows, RemoteRows):  # each batch in chunks, wherever it is
            return rows.sum(lambda batch: self.sum(function, batch))
        # parts of rows do not add exactly
        exact = isinstance(function, Exactly) and isinstance(rows.groups, Hard)
        function = function.function if isinstance(function, Exactly) else function
        size = self.chunk_rows or (
            self._even(len(rows), *_rows_to_sum(rows)) if exact else _rows_to_round(rows)
        )
        starts = chunk_starts(len(rows), size)
        if len(starts) == 1:
            return function(rows)
        with one_blas_thread():
            return reduce(add, self.map(lambda i: function(rows[i : i + size]), starts))

    def fill(
        self, function: Callable[[Features, slice, Floats], None], X: Features, out: Floats
    ) -> None:
        """function(chunk, its rows, its part of out) for all chunks."""
        n, width = X.shape[0], _cells_a_row(X) + out.shape[1]
        size = self.chunk_rows or max(256, FILL_CELLS // max(width, 1))
        if n <= size:
            return function(X, slice(0, n), out)

        def part(i: int) -> None:
            rows = slice(i, min(i + size, n))
            function(X[rows], rows, out[rows])

        with one_blas_thread():
            for _ in self.map(part, chunk_starts(n, size)):
                pass
        return None

    def _even(self, n_rows: int, least: int, most: int) -> int:
        """Rows of a chunk, so that every thread gets as many chunks as the others."""
        n = self.threads or n_threads()
        rounds = -(-n_rows // (most * n))
        return max(least, -(-n_rows // max(rounds * n, 1)))

    def map(self, function: Callable[[int], T], starts: Iterable[int]) -> Iterable[T]:
        """function(i) of all i, in order."""
        n = self.threads or n_threads()
        if n == 1:
            return map(function, starts)
        if n not in _pools:
            _pools[n] = ThreadPoolExecutor(n, "posterior", work_beside_others)
        return _pools[n].map(function, starts)


def _cells_a_row(X: Features) -> int:
    """How much there is to read in a row."""
    if isinstance(X, SparseRows):
        return int(X.start[-1] - X.start[0]) // max(X.shape[0], 1) + 1
    return X.shape[1]


def _rows_to_sum(rows: Rows) -> tuple[int, int]:
    """The least and the most rows of a chunk: adding its statistics must cost less than them."""
    X, groups = rows.X, rows.groups
    width = max(_cells_a_row(X), 1)
    statistics = 2 * groups.n_groups * X.shape[1] // width
    least, most = (max(1024, cells // width, statistics) for cells in SUM_CELLS)
    return least, most


def _rows_to_round(rows: Rows) -> int:
    """Rows of a chunk, all chunks of about the same size."""
    least, most = _rows_to_sum(rows)
    wanted = max(least, min(most, -(-len(rows) // ROUNDED_CHUNKS)))
    return -(-len(rows) // max(1, len(rows) // wanted)) if len(rows) else wanted
