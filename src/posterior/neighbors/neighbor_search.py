"""Search: which index answers, decided by rows, columns and metric, and by trial where unclear."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
from scipy import sparse

from posterior.data.rows import SparseRows, take
from posterior.data.typing import Array, Floats, Integers
from posterior.neighbors.edit_distance import EditIndex
from posterior.neighbors.gower import MixedIndex
from posterior.neighbors.index import Among, Engine, Fill, Index
from posterior.neighbors.metrics import Metric
from posterior.neighbors.nan_euclidean import NanEuclideanIndex
from posterior.neighbors.nearest_rows import Reach
from posterior.neighbors.precomputed import PrecomputedDistances
from posterior.neighbors.training_rows import TrainingRows
from posterior.neighbors.tree_search import KDTree
from posterior.neighbors.whitening import Incomplete, Whitened, check_whitening

FEW_COLUMNS, MANY_COLUMNS = 4, 24  # a tree is faster up to, and slower beyond
FEW_ROWS = 1_000  # not worth a trial
ASK_TREE, ASK_ALL = 32, 256  # queries of a trial: brute force is faster with many at once
SOON = 20_000  # cells of queries that brute force has answered before a tree is grown


@dataclass(frozen=True, slots=True)
class SearchMethod:
    """The search that was chosen, and why."""

    name: str
    reason: str

    def __str__(self) -> str:
        return f"{self.name}: {self.reason}"


@dataclass(eq=False)
class Search:
    """Rows to search. The index is built when it is first needed, and never stored."""

    rows: TrainingRows
    metric: Metric
    algorithm: str
    n_neighbors: int  # that are asked for, mostly
    engine: Engine
    method: SearchMethod | None = None  # known as soon as there is an index
    whiten: float | None = None  # shrinkage of the covariance within classes, if rows are whitened

    def __post_init__(self) -> None:
        self._index: Index | None = None
        self._gaps: Index | None = None  # for queries with missing cells
        self._force: Index | None = None  # for queries before a trial
        self._trial: bool | None = None  # whether one must decide, if that is known
        self._asked = 0  # queries until then
        self._reach: dict[int, Reach] = {}
        self._searched: Any = None  # the rows that the index is of
        self._whitened: Whitened | None = None

    def __reduce__(self) -> tuple[type[Search], tuple[Any, ...]]:
        given = self.rows, self.metric, self.algorithm, self.n_neighbors, self.engine, self.method
        return Search, given if self.whiten is None else (*given, self.whiten)

    def chosen(self) -> SearchMethod:
        """The method of search, and why it was chosen."""
        self.ready()
        assert self.method is not None
        return self.method

    def ready(self) -> Index:
        """The index of the rows that have a weight."""
        if self._index is None:
            algorithm = self.algorithm if self.method is None else self.method.name
            fill, k = self.engine.fill, self.n_neighbors
            index, method = built(self._counted(), self.metric, algorithm, k, fill)
            self._index, self.method = self._numbered(index), self.method or method
        return self._index

    def prepare(self) -> None:
        """Build what needs no trial, which waits until there are queries worth it."""
        if not self._needs_trial():
            self.ready()

    def _needs_trial(self) -> bool:
        if self._trial is None:
            given = self._counted(), self.metric, self.algorithm, self.n_neighbors
            self._trial = self.method is None and needs_trial(*given)
        return self._trial

    def _ready_for(self, n_queries: int) -> Index:
        """Brute force while a tree would not pay."""
        if self._index is None and self._needs_trial():
            X = self._counted()
            self._asked += n_queries
            if self._asked * X.shape[1] <= SOON:
                if self._force is None:
                    self._force = self._numbered(self.metric.brute_force(X, self.engine.fill))
                return self._force
        return self.ready()

    def reach(self, k: int) -> Reach:
        """Distances of the rows from their neighbors."""
        if k not in self._reach:
            self._reach[k] = Reach.of(self, self.rows.X, k, self.rows.weight)
        return self._reach[k]

    def nearest(self, Q: Any, k: int, skip: Array | None = None) -> tuple[Floats, Integers]:
        Q = self._alike(Q)
        whitened = self.whitened()
        incomplete = self.metric.euclidean and isinstance(Q, np.ndarray) and bool(np.isnan(Q).any())
        if whitened is not None and incomplete and whitened.axes.ndim > 1:
            return self._nearest_to_incomplete(whitened, Q, k, skip)
        Q = Q if whitened is None else whitened(Q)
        if incomplete:
            if self._gaps is None:
                gaps = NanEuclideanIndex(self._counted(), self.engine.fill)
                self._gaps = self._numbered(gaps)
            return self._gaps.nearest(Q, k, skip)
        return self._ready_for(Q.shape[0]).nearest(Q, k, skip)

    def whitened(self) -> Whitened | None:
        """The map to where rows are searched, if they are not searched as they are."""
        if self.whiten is not None and self._whitened is None:
            check_whitening(self.metric, self.rows.X)
            self._whitened = Whitened.within(self.rows, self.whiten)
        return self._whitened

    def _nearest_to_incomplete(
        self, whitened: Whitened, Q: Array, k: int, skip: Array | None
    ) -> tuple[Floats, Integers]:
        """Queries with missing cells by the columns they have, the others as all rows."""
        X: Any = take(self.rows.X, self.rows.counted)
        whole = ~np.isnan(Q).any(axis=1)
        distances, numbers = np.empty((len(Q), k)), np.empty((len(Q), k), np.int64)
        for some, index in (
            (whole, self),
            (~whole, self._numbered(Incomplete(whitened, X, self.engine.fill))),
        ):
            if some.any():
                own = None if skip is None else skip[some]
                distances[some], numbers[some] = index.nearest(Q[some], k, own)
        return distances, numbers

    def _counted(self) -> Any:
        if self._searched is None:
            rows, whitened = self.rows, self.whitened()
            X: Any = rows.X if rows.weight is None else take(rows.X, rows.counted)
            self._searched = X if whitened is None else whitened(X)
        return self._searched

    def _numbered(self, index: Index) -> Index:
        """An index of the counted rows, under their numbers among all."""
        return index if self.rows.weight is None else Among(index, self.rows.counted)

    def _alike(self, Q: Any) -> Any:
        """Queries sparse or dense, as the rows are."""
        X, weight = self.rows.X, self.rows.weight
        if self.metric.name == "precomputed":
            if weight is None:
                return Q
            if isinstance(Q, SparseRows):
                return SparseRows.of(Q.scipy()[:, self.rows.counted])
            return Q[:, self.rows.counted]
        if isinstance(X, SparseRows) and isinstance(Q, np.ndarray):
            return SparseRows.of(sparse.csr_array(Q))
        if isinstance(Q, SparseRows) and isinstance(X, np.ndarray):
            if self.algorithm in ("kd_tree", "ball_tree"):
                raise ValueError(
                    f"{self.algorithm} does not work with sparse matrices. Densify the data, or "
                    "set algorithm='brute'"
                )
            return Q.scipy().toarray()
        return Q


def built(X: Any, metric: Metric, algorithm: str, k: int, fill: Fill) -> tuple[Index, SearchMethod]:
    """An index, and why this one."""
    name, settings = metric.name, metric.settings
    if name == "precomputed":
        return PrecomputedDistances(), SearchMethod("brute", "the distances are given")
    if name == "edit":
        index = EditIndex(X, fill=fill, **{"kind": "levenshtein", **settings})
        return index, SearchMethod("edit", "strings by length, letters and edits")
    if name == "mixed":
        method = SearchMethod("brute", "columns of several kinds, by blocks")
        return MixedIndex(X, fill, **settings), method
    dense = not isinstance(X, SparseRows)
    if dense and metric.euclidean and np.isnan(X).any():
        return NanEuclideanIndex(X, fill), SearchMethod("brute", "cells are missing")
    why = _why_brute(dense, metric, algorithm)
    if why is not None:
        return metric.brute_force(X, fill), SearchMethod("brute", why)
    if algorithm in ("kd_tree", "ball_tree"):
        reason = "as asked" if algorithm == "kd_tree" else "in place of a ball tree"
        assert metric.power is not None
        return KDTree(X, metric.power, fill), SearchMethod("kd_tree", reason)
    return measured(X, metric, k, fill)


def _why_brute(dense: bool, metric: Metric, algorithm: str) -> str | None:
    if not dense:
        return "sparse rows have no tree"
    if metric.power is None or metric.power < 1:
        return "this metric has no tree"
    return "as asked" if algorithm == "brute" else None


def needs_trial(X: Any, metric: Metric, algorithm: str, k: int) -> bool:
    """Whether only a trial tells a tree from brute force."""
    if algorithm != "auto" or metric.power is None or metric.power < 1:
        return False
    if not isinstance(X, np.ndarray) or (metric.euclidean and np.isnan(X).any()):
        return False
    n, d = X.shape
    return 2 * k <= n and FEW_COLUMNS < d <= MANY_COLUMNS and n >= FEW_ROWS


def measured(X: Array, metric: Metric, k: int, fill: Fill) -> tuple[Index, SearchMethod]:
    """Brute force or a tree, whichever answers first."""
    (n, d), p = X.shape, metric.power
    assert p is not None
    shape = f"{n:,} rows of {d} columns"
    plain = partial(metric.brute_force, X, fill)
    if 2 * k > n:
        return plain(), SearchMethod("brute", f"{shape}, {k} neighbors: a tree rules nothing out")
    if d <= FEW_COLUMNS:
        return KDTree(X, p, fill), SearchMethod("kd_tree", f"{shape}: few enough for a tree")
    if d > MANY_COLUMNS:
        return plain(), SearchMethod("brute", f"{shape}: too many for a tree")
    if n < FEW_ROWS:
        return plain(), SearchMethod("brute", f"{shape}: done before a tree is tried")
    tree, brute = KDTree(X, p, fill), plain()
    in_tree, by_force = _seconds(tree, X, k, ASK_TREE), _seconds(brute, X, k, ASK_ALL)
    times = [f"{1e6 * seconds:.3g} µs" for seconds in (in_tree, by_force)]
    if in_tree < by_force:
        return tree, SearchMethod(
            "kd_tree", f"{shape}: {times[0]} a query, {times[1]} by brute force"
        )
    return brute, SearchMethod("brute", f"{shape}: {times[1]} a query, {times[0]} in a tree")


def _seconds(index: Index, X: Array, k: int, n_queries: int) -> float:
    """Of a query, asked together with some others; the better of two times."""
    Q, seconds = X[:: -(-len(X) // n_queries)], []
    for _ in range(2):
        start = perf_counter()
        index.nearest(Q, k)
        seconds.append(perf_counter() - start)
    return min(seconds) / len(Q)
