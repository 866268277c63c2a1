"""Which way to search: by the rows, the metric, what was asked, and, where unclear, by trial."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
from scipy import sparse

from posterior.data.rows import SparseRows, take
from posterior.data.typing import Array, Floats, Integers
from posterior.estimators.neighbors.metric_names import Metric
from posterior.neighbors.edit_distance import EditIndex
from posterior.neighbors.examples import Examples
from posterior.neighbors.gower import MixedIndex
from posterior.neighbors.index import Among, Fill, Index
from posterior.neighbors.metrics import search
from posterior.neighbors.nan_euclidean import GapsIndex
from posterior.neighbors.precomputed import GivenDistances
from posterior.neighbors.strangeness import Reach
from posterior.neighbors.tree_search import KDTree

FEW_COLUMNS, MANY_COLUMNS = 4, 24  # a tree is faster up to, and slower beyond
FEW_ROWS = 1_000  # not worth a trial
ASK_TREE, ASK_ALL = 32, 256  # queries of a trial: brute force is faster with many at once
SOON = 20_000  # cells of queries that brute force has answered before a tree is grown


@dataclass(frozen=True, slots=True)
class Way:
    """The search that was chosen, and why."""

    name: str
    reason: str

    def __str__(self) -> str:
        return f"{self.name}: {self.reason}"


class Search:
    """An index of the examples, built when it is first needed; a pickle has only the rows."""

    _trial = False  # whether the way is still to be tried out
    _asked = 0  # queries until then
    _force: Index | None = None  # which answers them

    def __init__(
        self, examples: Examples, metric: Metric, algorithm: str, k: int, fill: Fill
    ) -> None:
        self._examples, self._metric = examples, metric
        self._algorithm, self._k, self._fill = algorithm, k, fill
        self._index: Index | None = None
        self._way: Way | None = None
        self._gaps: Index | None = None  # for queries with missing cells
        self._reach: dict[int, Reach] = {}

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_index": None, "_gaps": None, "_force": None}

    @property
    def way(self) -> Way:
        self.ready()
        assert self._way is not None
        return self._way

    def ready(self) -> Index:
        """The index of the rows that have a weight."""
        if self._index is None:
            algorithm = self._algorithm if self._way is None else self._way.name
            index, way = built(self._counted(), self._metric, algorithm, self._k, self._fill)
            self._index, self._way = self._numbered(index), self._way or way
        return self._index

    def prepare(self) -> None:
        """What can be built without a trial, which waits until there are queries worth it."""
        self._trial = needs_trial(self._counted(), self._metric, self._algorithm, self._k)
        if not self._trial:
            self.ready()

    def _ready_for(self, n_queries: int) -> Index:
        """Brute force while a tree would not pay."""
        if self._index is None and self._trial:
            X = self._counted()
            self._asked += n_queries
            if self._asked * X.shape[1] <= SOON:
                if self._force is None:
                    force = search(X, self._metric.name, self._fill, **self._metric.settings)
                    self._force = self._numbered(force)
                return self._force
        return self.ready()

    def reach(self, k: int) -> Reach:
        """How far the rows are from their neighbors."""
        if k not in self._reach:
            self._reach[k] = Reach.of(self, self._examples.X, k, self._examples.weight)
        return self._reach[k]

    def nearest(self, Q: Any, k: int, skip: Array | None = None) -> tuple[Floats, Integers]:
        Q = self._alike(Q)
        if self._metric.euclidean and isinstance(Q, np.ndarray) and np.isnan(Q).any():
            self._gaps = self._gaps or self._numbered(GapsIndex(self._counted(), self._fill))
            return self._gaps.nearest(Q, k, skip)
        return self._ready_for(Q.shape[0]).nearest(Q, k, skip)

    def _counted(self) -> Any:
        X, examples = self._examples.X, self._examples
        return X if examples.weight is None else take(X, examples.counted)

    def _numbered(self, index: Index) -> Index:
        """An index of the counted rows, which says their numbers among all."""
        return index if self._examples.weight is None else Among(index, self._examples.counted)

    def _alike(self, Q: Any) -> Any:
        """Queries sparse or dense, as the rows are."""
        X, weight = self._examples.X, self._examples.weight
        if self._metric.name == "precomputed":
            if weight is None:
                return Q
            if isinstance(Q, SparseRows):
                return SparseRows.of(Q.scipy()[:, self._examples.counted])
            return Q[:, self._examples.counted]
        if isinstance(X, SparseRows) and isinstance(Q, np.ndarray):
            return SparseRows.of(sparse.csr_array(Q))
        if isinstance(Q, SparseRows) and isinstance(X, np.ndarray):
            if self._algorithm in ("kd_tree", "ball_tree"):
                raise ValueError(
                    f"{self._algorithm} does not work with sparse matrices. Densify the data, or "
                    "set algorithm='brute'"
                )
            return Q.scipy().toarray()
        return Q


def built(X: Any, metric: Metric, algorithm: str, k: int, fill: Fill) -> tuple[Index, Way]:
    """An index, and why this one."""
    name, settings = metric.name, metric.settings
    if name == "precomputed":
        return GivenDistances(), Way("brute", "the distances are given")
    if name == "edit":
        index = EditIndex(X, fill=fill, **{"kind": "levenshtein", **settings})
        return index, Way("edit", "strings by length, letters and edits")
    if name == "mixed":
        return MixedIndex(X, fill, **settings), Way("brute", "columns of several kinds, by blocks")
    if isinstance(X, SparseRows):
        return search(X, name, fill, **settings), Way("brute", "sparse rows have no tree")
    if metric.euclidean and np.isnan(X).any():
        return GapsIndex(X, fill), Way("brute", "cells are missing")
    if metric.power is None or metric.power < 1:
        return search(X, name, fill, **settings), Way("brute", "this metric has no tree")
    if algorithm == "brute":
        return search(X, name, fill, **settings), Way("brute", "as asked")
    if algorithm in ("kd_tree", "ball_tree"):
        reason = "as asked" if algorithm == "kd_tree" else "in place of a ball tree"
        return KDTree(X, metric.power, fill), Way("kd_tree", reason)
    return measured(X, metric, k, fill)


def needs_trial(X: Any, metric: Metric, algorithm: str, k: int) -> bool:
    """Whether only a trial tells a tree from brute force."""
    if algorithm != "auto" or metric.power is None or metric.power < 1:
        return False
    if not isinstance(X, np.ndarray) or (metric.euclidean and np.isnan(X).any()):
        return False
    n, d = X.shape
    return 2 * k <= n and FEW_COLUMNS < d <= MANY_COLUMNS and n >= FEW_ROWS


def measured(X: Array, metric: Metric, k: int, fill: Fill) -> tuple[Index, Way]:
    """Brute force or a tree, whichever answers first."""
    (n, d), p = X.shape, metric.power
    assert p is not None
    shape = f"{n:,} rows of {d} columns"
    plain = partial(search, X, metric.name, fill, **metric.settings)
    if 2 * k > n:
        return plain(), Way("brute", f"{shape}, {k} neighbors: a tree rules nothing out")
    if d <= FEW_COLUMNS:
        return KDTree(X, p, fill), Way("kd_tree", f"{shape}: few enough for a tree")
    if d > MANY_COLUMNS:
        return plain(), Way("brute", f"{shape}: too many for a tree")
    if n < FEW_ROWS:
        return plain(), Way("brute", f"{shape}: done before a tree is tried")
    tree, brute = KDTree(X, p, fill), plain()
    in_tree, by_force = _seconds(tree, X, k, ASK_TREE), _seconds(brute, X, k, ASK_ALL)
    said = [f"{1e6 * seconds:.3g} µs" for seconds in (in_tree, by_force)]
    if in_tree < by_force:
        return tree, Way("kd_tree", f"{shape}: {said[0]} a query, {said[1]} by brute force")
    return brute, Way("brute", f"{shape}: {said[1]} a query, {said[0]} in a tree")


def _seconds(index: Index, X: Array, k: int, n_queries: int) -> float:
    """Of a query, asked together with some others; the better of two times."""
    Q, seconds = X[:: -(-len(X) // n_queries)], []
    for _ in range(2):
        start = perf_counter()
        index.nearest(Q, k)
        seconds.append(perf_counter() - start)
    return min(seconds) / len(Q)
