"""Whitened rows: distances in units of the spread within classes.

    d(a, b)² = (a - b)ᵀ Σ⁻¹ (a - b),   Σ = (1 - s) W + s diag W

W is the covariance within classes. Columns that say the same count once, and columns that vary
little within classes count more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from posterior import kernels
from posterior.data.fingerprints import of_ranks
from posterior.data.rows import Hard
from posterior.data.typing import Array, Floats, Integers
from posterior.families.covariance import whitenings
from posterior.families.incomplete import whole
from posterior.neighbors.brute_force import BruteForce
from posterior.neighbors.index import Fill
from posterior.neighbors.metrics import Metric
from posterior.neighbors.nan_euclidean import NanEuclideanIndex
from posterior.neighbors.training_rows import TrainingRows
from posterior.statistics.cross_products import CrossSums
from posterior.statistics.incomplete_rows import patterns
from posterior.statistics.moments import floats


@dataclass(frozen=True, slots=True, eq=False)
class Whitened:
    """A map of rows after which Euclidean distances are those of a covariance within classes."""

    center: Floats  # (d,)
    covariance: Floats  # (d, d)
    axes: Floats  # (d, d); or (d,) where columns are taken to be independent

    @classmethod
    def within(cls, rows: TrainingRows, shrinkage: float) -> Whitened:
        """By the classes of the rows; what they have in common does not hang on their order."""
        X, independent = floats(np.asarray(rows.X)), shrinkage == 1
        if not independent and np.isnan(X).any():
            raise ValueError(
                f"Expected complete rows for whiten={shrinkage:g}, but cells are missing. Use "
                "whiten=1, which takes columns to be independent, or fill the cells in."
            )
        order = by_content(rows)
        _, codes = np.unique(rows.codes, axis=0, return_inverse=True)
        weight = None if rows.weight is None else rows.weight[order]
        own = codes.ravel()[order].astype(np.int32)
        groups = Hard(own, int(codes.max()) + 1, weight)
        scatter = whole(CrossSums.of(np.ascontiguousarray(X[order]), groups))
        everyone = scatter.pooled()
        covariance = (1 - shrinkage) * scatter.covariance("shared")[0]
        # a column that no class varies in has the spread of all rows, or is the same in all
        inside = scatter.covariance("shared")[0].diagonal()
        overall = everyone.covariance("own")[0].diagonal()
        variance = np.select([inside > 0, overall > 0], [inside, overall], 1.0)
        np.fill_diagonal(covariance, variance)
        axes = 1 / np.sqrt(variance) if independent else _axes(covariance)
        return cls(everyone.mean[0], covariance, axes)

    def __call__(self, X: Array) -> Floats:
        """Rows (n, d) where distances are Euclidean, each the same bits alone and among others.

        Equally far rows are often told apart by their last digit alone, which may not change.
        """
        apart = np.asarray(X, np.float64) - self.center
        if self.axes.ndim == 1:
            return apart * self.axes
        return kernels.ordered_products(np.ascontiguousarray(apart), self.axes)

    def of_columns(self, columns: Integers) -> Whitened:
        """The same of rows that have some of the columns."""
        covariance = self.covariance[np.ix_(columns, columns)]
        return Whitened(self.center[columns], covariance, _axes(covariance))


@dataclass(frozen=True, slots=True, eq=False)
class Incomplete:
    """Complete rows, asked by queries with missing cells. With S the columns that a query has,

    d(a, b)² = D / |S| (a - b)_Sᵀ (Σ_SS)⁻¹ (a - b)_S
    """

    whitened: Whitened
    X: Array
    fill: Fill

    def nearest(self, Q: Array, k: int, skip: Array | None = None) -> tuple[Floats, Integers]:
        distances, numbers = np.empty((len(Q), k)), np.empty((len(Q), k), np.int64)
        for observed, rows in patterns(np.asarray(Q, np.float64)):
            own, columns = None if skip is None else skip[rows], np.flatnonzero(observed)
            if len(columns) == 0:  # nothing is known of how near they are
                index = NanEuclideanIndex(self.X, self.fill)
                distances[rows], numbers[rows] = index.nearest(Q[rows], k, own)
                continue
            part = self.whitened.of_columns(columns)
            near = BruteForce(part(self.X[:, columns]), self.fill)
            found, numbers[rows] = near.nearest(part(Q[np.ix_(rows, columns)]), k, own)
            distances[rows] = np.sqrt(Q.shape[1] / len(columns)) * found
        return distances, numbers


def check_whitening(metric: Metric, X: Any) -> None:
    """Refuse what has no covariance, or distances that are not measured by one."""
    if metric.power != 2 or not isinstance(X, np.ndarray):
        name = "a function" if callable(metric.name) else repr(metric.name)
        kind = "dense" if isinstance(X, np.ndarray) else "sparse"
        raise ValueError(
            f"Expected Euclidean distances of dense rows of numbers to whiten, got metric {name} "
            f"of {kind} rows. Leave whiten out."
        )


def _axes(covariance: Floats) -> Floats:
    """A with Aᵀ Σ A = I, by the same sums in the same order as in runtime/whitening.js."""
    known = whitenings(covariance[None], 0.0)[0].matrix
    if known.shape[1] < len(covariance):  # of lower rank: by eigenvectors, there too
        return known
    deviation = np.sqrt(covariance.diagonal())
    L, inverse = covariance / np.outer(deviation, deviation), np.eye(len(covariance))
    for j in range(len(L)):
        L[j, j] = np.sqrt(L[j, j])
        below = L[j + 1 :, j] / L[j, j]
        L[j + 1 :, j + 1 :] -= np.outer(below, below)
        inverse[j] /= L[j, j]
        inverse[j + 1 :] -= np.outer(below, inverse[j])
    return np.ascontiguousarray((inverse / deviation).T)


def by_content(rows: TrainingRows) -> Integers:
    """The rows that have a weight, in an order that does not hang on how they came."""
    keys = [*rows.codes.T, of_ranks(rows.X, rows.weight)]
    order = np.lexsort(keys if rows.weight is None else [rows.weight, *keys])
    return order if rows.weight is None else order[rows.weight[order] > 0]
