"""Distances and sums of rows that are dense, sparse, or have missing cells."""

from __future__ import annotations

import numpy as np

from posterior import kernels
from posterior.data.rows import Rows, SparseRows
from posterior.data.typing import Array, Floats
from posterior.statistics.exact import Exact
from posterior.statistics.moments import Moments, Totals, group_weight


class Dense:
    """|x - c|² = |x|² - 2 x · c + |c|², around the mean of the centers."""

    def products(self, X: Array, centers: Floats) -> tuple[Floats, Floats]:
        origin = centers.mean(axis=0)
        x, c = X - origin, centers - origin
        size = squares(x)[:, None] + squares(c)
        return x @ (-2.0 * c.T) + size, size

    def apart(self, X: Array, centers: Floats) -> Floats:
        return squares(X - centers)

    def totals(self, rows: Rows) -> Totals:
        totals = Totals.of(dense_cells(rows), rows.hard)
        return Totals(totals.weight[:, :1], totals.total)

    def moments(self, rows: Rows) -> Moments:
        return Moments.of(dense_cells(rows), rows.hard)

    def dense(self, X: Array) -> Floats:
        return X.astype(np.float64)


class Sparse:
    """The same around zero, where sparse rows are sparse."""

    def products(self, X: SparseRows, centers: Floats) -> tuple[Floats, Floats]:
        x = X.scipy(copy=False).astype(np.float64)
        norms = np.asarray(x.multiply(x).sum(axis=1)).ravel()
        size = norms[:, None] + squares(centers)
        return x @ (-2.0 * centers.T) + size, size

    def apart(self, X: SparseRows, centers: Floats) -> Floats:
        return squares(self.dense(X) - centers)

    def totals(self, rows: Rows) -> Totals:
        X, groups = sparse_cells(rows), rows.hard
        total = kernels.sparse_sums(X, groups.codes, groups.weight, groups.n_groups)
        return Totals(group_weight(groups).reshape(-1, 1), Exact(*total))

    def moments(self, rows: Rows) -> Moments:
        X, totals = sparse_cells(rows), self.totals(rows)
        data = X.data.astype(np.float64)
        squares = SparseRows(data * data, X.column, X.start, X.n_columns)
        squared = self.totals(Rows(squares, rows.hard))
        all_columns = totals.weight.limbs.repeat(X.n_columns, axis=1)
        weight = Exact(all_columns, totals.weight.exponent)
        return Moments(weight, totals.total, squared.total)

    def dense(self, X: SparseRows) -> Floats:
        return np.asarray(X.scipy(copy=False).toarray(), np.float64)


class Gaps:
    """Rows with missing cells: |x - c|² over the observed cells, means of the observed cells.

    Both steps lower Σᵢ wᵢ Σ_{j observed} (x_ij - c_j)², so the inertia never rises (k-POD of Chi,
    Chi & Baraniuk 2016). It is also what the mixture of equal variances says once missing cells
    are integrated out. A factor d / observed of each row would change no label; in the means it
    would count the cells of rows with many gaps more than once, so there is none.
    """

    def products(self, X: Array, centers: Floats) -> tuple[Floats, Floats]:
        origin = centers.mean(axis=0)
        observed = ~np.isnan(X)
        x, c = np.where(observed, X - origin, 0.0), centers - origin
        size = squares(x)[:, None] + observed @ (c * c).T
        return x @ (-2.0 * c.T) + size, size

    def apart(self, X: Array, centers: Floats) -> Floats:
        return squares(np.nan_to_num(X - centers))

    def totals(self, rows: Rows) -> Totals:
        return Totals.of(dense_cells(rows), rows.hard)

    def moments(self, rows: Rows) -> Moments:
        return Moments.of(dense_cells(rows), rows.hard)

    def dense(self, X: Array) -> Floats:
        return X.astype(np.float64)


def dense_cells(rows: Rows) -> Array:
    assert isinstance(rows.X, np.ndarray)
    return rows.X


def sparse_cells(rows: Rows) -> SparseRows:
    assert isinstance(rows.X, SparseRows)
    return rows.X


def squares(x: Floats) -> Floats:
    """Σⱼ x_j² of each row, in an order that no other row changes; infinite if too large."""
    with np.errstate(over="ignore"):
        return (x * x).sum(axis=1)
