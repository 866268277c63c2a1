"""Fitted medoids: all that k-medoids has learned, as one value that is never changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from posterior.data.rows import SparseRows, take
from posterior.data.table import Table
from posterior.data.typing import Array, Codes, Floats, Integers
from posterior.neighbors.index import Fill
from posterior.neighbors.metrics import Metric
from posterior.neighbors.mixed_rows import MixedRows
from posterior.neighbors.pairwise import between, settled
from posterior.readers.reader import Reader

MOST_ROWS = 1 << 14  # whose distances, in double precision, take 2 GiB


@dataclass(frozen=True, slots=True, eq=False)
class FittedMedoids:
    """Medoids, the metric with all that it learned, and the clusters of the rows."""

    reader: Reader
    metric: Metric
    far: float  # of rows that have no distance, such as those that share no known cell
    rows: Any  # the medoids, as the reader has them; None: distances were given
    numbers: Integers  # (k,): of the medoids among all rows
    labels: Codes  # (n,)
    inertia: float
    n_iter: int
    converged: bool

    def distances(self, X: Any, fill: Fill) -> Floats:
        """Of the rows of a table from the medoids, (m, k)."""
        Q = self.reader.read(X)
        return from_medoids(self.metric, self.far, Q, self.rows, self.numbers, fill)

    def centers(self) -> Any:
        """The medoids for people: an array, a sparse matrix, or a table of several kinds."""
        rows = self.rows
        if isinstance(rows, MixedRows):
            return Table(dict(zip(map(str, rows.names), rows.parts, strict=True)))
        return rows.scipy() if isinstance(rows, SparseRows) else rows


def among(metric: Metric, rows: Any, counted: Integers, fill: Fill) -> tuple[Metric, float, Floats]:
    """The metric as it learned from the rows that count, and their distances from each other.

    Where there is no distance, it is that of the two rows that are farthest from each other.
    """
    if metric.name == "precomputed":
        D = _all(rows)[np.ix_(counted, counted)].astype(np.float64)
    elif len(counted) > MOST_ROWS:
        raise ValueError(
            f"Expected at most {MOST_ROWS:,} rows, since distances of all pairs are kept, got "
            f"{len(counted):,}. Fit a sample of them, and predict the others."
        )
    else:
        some = rows if len(counted) == rows.shape[0] else take(rows, counted)
        metric = settled(metric, some, fill)
        D = between(metric, some, some, fill)
    known = np.isfinite(D)
    far = float(D.max(where=known, initial=0.0))
    D[~known] = far
    return metric, far, D


def from_medoids(
    metric: Metric, far: float, Q: Any, medoids: Any, numbers: Integers, fill: Fill
) -> Floats:
    """Distances (m, k) of rows from the medoids."""
    if metric.name == "precomputed":
        return _all(Q)[:, numbers].astype(np.float64)
    if isinstance(medoids, SparseRows) and isinstance(Q, np.ndarray):
        Q = SparseRows.of(sparse.csr_array(Q))
    elif isinstance(Q, SparseRows) and isinstance(medoids, np.ndarray):
        Q = Q.scipy().toarray()
    D = between(metric, Q, medoids, fill)
    D[~np.isfinite(D)] = far
    return D


def _all(D: Array | SparseRows) -> Array:
    if isinstance(D, SparseRows):
        raise ValueError(
            "Expected the distances of all pairs of rows, got a sparse graph of some. Compute the "
            "others too, and pass an array."
        )
    return D
