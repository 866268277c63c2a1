"""Sums and products of columns with each other, of k groups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from posterior import kernels
from posterior.data.errors import NotFiniteError
from posterior.data.rows import Groups, Hard, slabs
from posterior.data.typing import Array, Floats
from posterior.statistics.algebra import SumOfFields
from posterior.statistics.exact import Exact
from posterior.statistics.incomplete_rows import IncompleteRows
from posterior.statistics.moments import (
    SAMPLE,
    Moments,
    few_bits,
    group_weight,
    soft_origins,
    sum_of_products,
)

CONSTANT = 2.0**-84  # of the squared mean: a variance that rounding alone can make


@dataclass(frozen=True, slots=True, eq=False)
class CrossProducts(SumOfFields):
    """Weight, sum and cross products of the complete rows that each of k groups received.

    w_k = Σᵢ r_ik      s_k = Σᵢ r_ik xᵢ      Q_k = Σᵢ r_ik xᵢ xᵢᵀ, its upper triangle

    Products of a chunk are matrix products around an origin near the group's mean, rounded once.
    Moving them to zero, adding and subtracting chunks is exact: no merge needs a common origin.
    """

    weight: Exact  # (k, 1)
    total: Exact  # (k, d)
    products: Exact  # (k, d (d + 1) / 2), row by row

    @classmethod
    def of(cls, X: Array, groups: Groups) -> CrossProducts:
        """Sums of rows without missing cells."""
        with np.errstate(invalid="ignore", over="ignore"):  # looked at below
            origin = _origins(X, groups)
            s, q = _around(origin, X, groups)
            both = origin[:, :, None] * origin[:, None, :]
        if not (np.isfinite(q).all() and np.isfinite(both).all()):
            raise NotFiniteError("Expected finite values whose products are finite too.")
        weight = group_weight(groups).reshape(-1, 1)
        w, (i, j) = weight.pair(), np.triu_indices(X.shape[1])
        o_i, o_j, o_ij = origin[:, i], origin[:, j], both[:, i, j]
        total = sum_of_products((s, 1.0), (origin, w.high), (origin, w.low))
        products = sum_of_products(
            (q[:, i, j], 1.0), (o_i, s[:, j]), (o_j, s[:, i]), (o_ij, w.high), (o_ij, w.low)
        )
        return cls(weight, total, products)

    @property
    def width(self) -> int:
        """How many columns there are."""
        return self.total.shape[1]

    def scatter(self) -> tuple[Floats, Floats, Floats]:
        """w (k,), the mean s / w (k, d) and the scatter Q - s sᵀ / w (k, d, d), in pairs."""
        d = self.width
        i, j = np.triu_indices(d)
        weight, total = self.weight.pair(), self.total.pair()
        scatter = np.zeros((total.shape[0], d, d))
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = total / weight
            upper = (self.products.pair() - total[:, i] * mean[:, j]).rounded()
        rows = weight.rounded()
        scatter[:, i, j] = np.where(rows > 0, upper, 0.0)
        center = np.where(rows > 0, mean.rounded(), 0.0)
        # products around an origin of few bits are rounded: less than this is no deviation
        flat = scatter[:, range(d), range(d)] <= CONSTANT * rows * center**2
        scatter[flat[:, :, None] | flat[:, None, :]] = 0.0
        scatter[:, j, i] = scatter[:, i, j]
        return rows[:, 0], center, scatter

    def moments(self) -> Moments:
        """What the columns say one by one."""
        d = self.width
        i, j = np.triu_indices(d)
        weight = Exact(np.repeat(self.weight.limbs, d, axis=1), self.weight.exponent)
        squares = Exact(
            np.ascontiguousarray(self.products.limbs[:, i == j]), self.products.exponent
        )
        return Moments(weight, self.total, squares)


def _origins(X: Array, groups: Groups) -> Floats:
    """About the mean of some rows of each group, (k, d)."""
    if not isinstance(groups, Hard):
        return soft_origins(X, groups.R)
    order = kernels.rows_by_group(groups.codes, groups.n_groups)
    ends = np.cumsum(kernels.group_counts(groups.codes, groups.n_groups)).tolist()
    mean = np.zeros((groups.n_groups, X.shape[1]))
    for k, (start, end) in enumerate(pairwise([0, *ends])):
        if start < end:
            some = order[start : end : max(1, (end - start) // SAMPLE)]
            mean[k] = X[some].mean(axis=0, dtype=np.float64)
    return few_bits(mean)


def _around(origin: Floats, X: Array, groups: Groups) -> tuple[Floats, Floats]:
    """Σ r (x - o) and Σ r (x - o)(x - o)ᵀ of each group, block by block while it is in cache.

    With a one behind each row, [x - o, 1], one product has them both.
    """
    if not isinstance(groups, Hard):
        return kernels.soft_products(X, groups.R, origin)
    n, d = X.shape
    memory = _lines(min(n, next(slabs(n, d)).stop), d + 1)
    moments = np.zeros((groups.n_groups, d + 1, memory.shape[1]))
    for rows in slabs(n, d):
        _add_hard(X[rows], groups[rows], origin, memory, moments)
    return moments[:, :d, d], moments[:, :d, :d]


def _add_hard(X: Array, groups: Hard, origin: Floats, memory: Floats, moments: Floats) -> None:
    """Rows side by side with others of their group, so that each takes part in one product."""
    ends = kernels.centered_by_group(X, groups.codes, origin, memory)
    x = memory[: ends[-1]]
    weighted = x
    if groups.weight is not None:
        order = kernels.rows_by_group(groups.codes, groups.n_groups)
        weighted = x * groups.weight[order, None]
    kernels.add_products(x, weighted, ends, moments)


def _lines(n_rows: int, width: int) -> Floats:
    """Memory for rows that begin where lines of the cache do."""
    line = 8
    width = -(-width // line) * line
    memory = np.zeros(n_rows * width + line)
    start = -(memory.ctypes.data // memory.itemsize) % line
    return memory[start : start + n_rows * width].reshape(n_rows, width)


@dataclass(frozen=True, slots=True)
class CrossSums:
    """Cross products of the complete rows, and the others."""

    complete: CrossProducts
    incomplete: IncompleteRows

    @classmethod
    def of(cls, X: Array, groups: Groups) -> CrossSums:
        none = IncompleteRows(np.empty((0, X.shape[1])), np.empty((0, groups.n_groups)))
        try:
            return cls(CrossProducts.of(X, groups), none)
        except NotFiniteError:
            gaps: Array = np.asarray(np.isnan(X).any(axis=1))
            if not gaps.any():
                raise
            return cls(
                CrossProducts.of(X[~gaps], take_groups(groups, ~gaps)),
                IncompleteRows.of(X[gaps], take_groups(groups, gaps)),
            )

    def __add__(self, other: CrossSums, /) -> CrossSums:
        return CrossSums(self.complete + other.complete, self.incomplete + other.incomplete)

    def __sub__(self, other: CrossSums, /) -> CrossSums:
        return CrossSums(self.complete - other.complete, self.incomplete - other.incomplete)

    def __mul__(self, factor: float, /) -> CrossSums:
        return CrossSums(self.complete * factor, self.incomplete * factor)

    def take(self, groups: Any) -> CrossSums:
        return CrossSums(self.complete.take(groups), self.incomplete.take(groups))

    def placed(self, index: Array, n_groups: int) -> CrossSums:
        return CrossSums(
            self.complete.placed(index, n_groups), self.incomplete.placed(index, n_groups)
        )

    def pooled(self) -> CrossSums:
        return CrossSums(self.complete.pooled(), self.incomplete.pooled())

    def compact(self) -> CrossSums:
        return CrossSums(self.complete.compact(), self.incomplete)

    def seen(self) -> CrossSums:
        return self

    def impossible(self) -> Array:
        """Beyond what rounding of the products of all rows, also of those taken back, explains."""
        moments = self.complete.moments()
        weight, squares = moments.weight.rounded(), moments.squares.rounded()
        scale = np.maximum(squares.max(axis=0), np.abs(squares).sum(axis=0))
        w, s, q = moments.weight.pair(), moments.total.pair(), moments.squares.pair()
        with np.errstate(invalid="ignore", divide="ignore"):
            scatter = np.where(weight > 0, (q - s * (s / w)).rounded(), squares)
        left_over = (weight == 0) & (squares > 1e-9 * scale)
        overdrawn = self.incomplete.overdrawn()[:, None]
        return np.asarray((weight < 0) | (scatter < -1e-9 * scale) | left_over | overdrawn)

    def keeps_rows(self) -> bool:
        return len(self.incomplete) > 0

    def numbers(self) -> Floats:
        """Of the complete rows; no numbers stand for the others."""
        return self.complete.numbers()

    def arrays(self) -> dict[str, Array]:
        rows = {"incomplete.X": self.incomplete.X, "incomplete.R": self.incomplete.R}
        return self.complete.arrays() | rows

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array]) -> CrossSums:
        rows = IncompleteRows(arrays["incomplete.X"], arrays["incomplete.R"])
        return cls(CrossProducts.from_arrays(arrays), rows)


def take_groups(groups: Groups, kept: Array) -> Groups:
    """The groups of some rows."""
    if not isinstance(groups, Hard):
        return type(groups)(groups.R[kept])
    weight = None if groups.weight is None else groups.weight[kept]
    return Hard(groups.codes[kept], groups.n_groups, weight)
