"""Weights, sums and sums of squares of columns of numbers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np

from posterior import kernels
from posterior.data.rows import Groups, Hard, Soft, SparseRows, slabs
from posterior.data.typing import Array, Floats
from posterior.kernels import pairs
from posterior.kernels.pairs import Pair
from posterior.statistics.algebra import SumOfFields
from posterior.statistics.exact import Exact


@dataclass(frozen=True, slots=True, eq=False)
class Totals(SumOfFields):
    """Weight and sum of the observed cells that each of k groups received.

    w_k = Σᵢ r_ik      s_k = Σᵢ r_ik xᵢ
    """

    weight: Exact  # (k, d), or (k, 1) where no cell can be missing
    total: Exact  # (k, d)

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
            total = Exact.of(np.ascontiguousarray((matrix.T @ groups.R).T))
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

    weight: Exact  # (k, d)
    total: Exact  # (k, d)
    squares: Exact  # (k, d)

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
    """Moments around an origin by matrix products, moved to zero without loss.

    Σ r x = Σ r (x - o) + o Σ r      Σ r x² = Σ r (x - o)² + 2 o Σ r (x - o) + o² Σ r
    """
    x = X.astype(np.float64)
    observed = ~np.isnan(x)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(observed, x, 0.0).sum(axis=0) / observed.sum(axis=0)
    # few bits, so that products with the origin are exact in a pair
    fraction, exponent = np.frexp(np.nan_to_num(mean))
    origin = np.ldexp(np.round(np.ldexp(fraction, 20)), exponent - 20)
    from_origin = np.where(observed, x - origin, 0.0)
    o = Pair.of(np.broadcast_to(origin, (R.shape[1], x.shape[1])))
    w = Pair.of(R.T @ observed.astype(np.float64))
    s, q = Pair.of(R.T @ from_origin), Pair.of(R.T @ (from_origin * from_origin))
    o_s = o * s
    parts = (w, s + o * w, q + o_s + o_s + o * o * w)
    return Moments(*(Exact.of(p.high) + Exact.of(p.low) for p in parts))


def group_weight(groups: Groups) -> Exact:
    """The weight that each group received, (k,)."""
    if not isinstance(groups, Hard):
        return Exact.of(groups.R.sum(axis=0))
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
