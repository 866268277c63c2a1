"""Weights, sums and sums of squares of columns of numbers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Annotated

import numpy as np

from posterior import kernels
from posterior.data.errors import NotFiniteError
from posterior.data.rows import Groups, Hard, Soft, SparseRows, slabs
from posterior.data.typing import Array, Floats
from posterior.kernels import pairs
from posterior.statistics.algebra import SumOfFields
from posterior.statistics.exact import Exact

SAMPLE = 64  # rows that say where a group lies


@dataclass(frozen=True, slots=True, eq=False)
class Totals(SumOfFields):
    """Weight and sum of the observed cells that each of k groups received.

    w_k = Σᵢ r_ik      s_k = Σᵢ r_ik xᵢ
    """

    weight: Annotated[Exact, "k, d|1"]  # of one column where no cell can be missing
    total: Annotated[Exact, "k, d"]

    @classmethod
    def of(cls, X: Array | SparseRows, groups: Groups, above: float | None = None) -> Totals:
        """Sums of rows of counts; with `above`, of the indicators x > above."""
        if isinstance(groups, Hard) and isinstance(X, SparseRows):
            sums = kernels.sparse_sums(
                X, groups.codes, groups.weight, groups.n_groups, above, signed=False
            )
            return cls(group_weight(groups).reshape(-1, 1), Exact(*sums))
        if isinstance(X, SparseRows):
            assert isinstance(groups, Soft)
            matrix = X.scipy() if above is None else (X.scipy() > above).astype(np.float64)
            total = sum_of_products((np.ascontiguousarray((matrix.T @ groups.R).T), 1.0))
            return cls(group_weight(groups).reshape(-1, 1), total)
        if above is not None:
            parts = (cls.of(indicators(X[rows], above), groups[rows]) for rows in slabs(*X.shape))
            return reduce(add, parts)
        if isinstance(groups, Hard):
            w, s, _ = kernels.moments(
                floats(X), groups.codes, groups.weight, groups.n_groups, False
            )
            return cls(Exact(*w), Exact(*s))
        moments = Moments.of(X, groups)
        return cls(moments.weight, moments.total)

    def impossible(self) -> Array:
        """Cells that no rows of non-negative numbers can have, (k, d)."""
        weight, total = self.weight.sign(), self.total.sign()
        return (weight < 0) | (total < 0) | ((weight == 0) & (total != 0))

    def mean(self) -> Floats:
        return pairs.mean(self.weight.pair(), self.total.pair())


@dataclass(frozen=True, slots=True, eq=False)
class Moments(SumOfFields):
    """Weight, sum and sum of squares of the observed cells that each of k groups received.

    w_k = Σᵢ r_ik      s_k = Σᵢ r_ik xᵢ      q_k = Σᵢ r_ik xᵢ²
    """

    weight: Annotated[Exact, "k, d"]
    total: Annotated[Exact, "k, d"]
    squares: Annotated[Exact, "k, d"]

    @classmethod
    def of(cls, X: Array, groups: Groups) -> Moments:
        if not isinstance(groups, Hard):
            return _soft_moments(X, groups.R)
        sums = kernels.moments(floats(X), groups.codes, groups.weight, groups.n_groups)
        return cls(*(Exact(*s) for s in sums if s is not None))

    def impossible(self) -> Array:
        """Cells that no rows can have, (k, d): above all a negative scatter."""
        weight, total, squares = self.weight.sign(), self.total.sign(), self.squares.sign()
        empty = (weight == 0) & ((total != 0) | (squares != 0))
        w, s, q = self.weight.pair(), self.total.pair(), self.squares.pair()
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            scatter = (q - s * (s / w)).rounded()
            return (weight < 0) | (squares < 0) | empty | (scatter < -(2.0**-90) * q.rounded())

    def mean_and_scatter(self) -> tuple[Floats, Floats]:
        """s / w and q - s² / w, rounded once: no mean is too large to see a variance beside it."""
        parts = (self.weight, self.total, self.squares)
        return kernels.mean_and_scatter(*((p.limbs, p.exponent) for p in parts))


def _soft_moments(X: Array, R: Floats) -> Moments:
    """Moments around an origin near each group's mean, rounded once, moved to zero without loss.

    Σ r x = Σ r (x - o) + o Σ r      Σ r x² = Σ r (x - o)² + 2 o Σ r (x - o) + o² Σ r
    """
    with np.errstate(invalid="ignore", over="ignore"):  # looked at below
        o = soft_origins(X, R)
        w, s, q = kernels.soft_moments(floats(X), R, o)
        squared = o * o
    if not (np.isfinite(q).all() and np.isfinite(squared).all()):
        raise NotFiniteError("Expected finite values whose squares are finite too.")
    total = sum_of_products((s, 1.0), (o, w))
    squares = sum_of_products((q, 1.0), (2 * o, s), (squared, w))
    return Moments(sum_of_products((w, 1.0)), total, squares)


def soft_origins(X: Array, R: Floats) -> Floats:
    """About the mean of each group, (k, d); where it has no part of the rows looked at, of all."""
    some = slice(None, None, max(1, len(R) // (SAMPLE + 16 * R.shape[1])))
    x, r = np.asarray(X[some], np.float64), R[some]
    observed = ~np.isnan(x)
    x = np.where(observed, x, 0.0)
    weight, total = r.T @ observed.astype(np.float64), r.T @ x
    everyone = x.sum(axis=0) / np.maximum(observed.sum(axis=0), 1)
    return few_bits(np.where(weight > 0, total / np.where(weight > 0, weight, 1.0), everyone))


def few_bits(mean: Floats) -> Floats:
    """An origin of 26 bits: the product of two is a double."""
    fraction, exponent = np.frexp(mean)
    return np.asarray(np.ldexp(np.round(np.ldexp(fraction, 26)), exponent - 26))


def sum_of_products(*terms: tuple[Floats | float, Floats | float]) -> Exact:
    """Σₜ a_t b_t over terms that broadcast against the first, without rounding."""
    shape = np.shape(terms[0][0])
    a, b = (np.stack([np.broadcast_to(t[side], shape) for t in terms]) for side in (0, 1))
    return Exact(*kernels.sums_of_products(a, b))


def group_weight(groups: Groups) -> Exact:
    """The weight that each group received, (k,)."""
    if not isinstance(groups, Hard):
        return sum_of_products((np.ones(len(groups.R)) @ groups.R, 1.0))
    if groups.weight is None:
        return Exact.of(kernels.group_counts(groups.codes, groups.n_groups))
    column = np.zeros((len(groups.codes), 1))
    weight, _, _ = kernels.moments(column, groups.codes, groups.weight, groups.n_groups, False)
    return Exact(*weight).reshape(groups.n_groups)


def floats(X: Array) -> Array:
    """A chunk as the kernels read it: float32 and float64 as they are, the rest as float64."""
    return X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)


def indicators(X: Array, above: float) -> Array:
    """One where x > above, zero where not, and a missing cell still missing."""
    x = np.asarray(X)
    bits = (x > above).astype(np.float32)
    if x.dtype.kind == "f":
        bits[np.isnan(x)] = np.nan
    return bits
