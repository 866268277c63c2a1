"""Weights of categories, keyed by their values: counts of different vocabularies add."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np

from posterior import kernels
from posterior.data.rows import CodedRows, Groups, Hard, slabs
from posterior.data.typing import Array, Floats
from posterior.statistics.exact import Exact
from posterior.statistics.extent import CODE_TYPES, as_codes
from posterior.statistics.keyed import Keyed, Values
from posterior.statistics.moments import sum_of_products


@dataclass(frozen=True, eq=False)
class Counts(Keyed):
    """n_kv = Σᵢ r_ik [x_i = v]: the weight of each value of each column, in each of k groups."""

    # table: (k, Σ sizes)

    @classmethod
    def of(cls, X: CodedRows, groups: Groups) -> Counts:
        if X.codes.dtype not in CODE_TYPES:
            parts = (
                cls.of(CodedRows(as_codes(X.codes[rows]), X.values), groups[rows])
                for rows in slabs(*X.shape)
            )
            return reduce(add, parts)
        sizes, codes = np.array([len(v) for v in X.values], np.int64), X.codes
        if isinstance(groups, Hard):
            weight, k = groups.weight, groups.n_groups
            counted = kernels.category_counts(codes, groups.codes, weight, k, sizes)
            return cls(X.values, Exact(*counted))
        offset = np.concatenate([[0], np.cumsum(sizes)])
        table = np.zeros((groups.n_groups, int(offset[-1])))
        for j in range(len(sizes)):
            seen = (codes[:, j] >= 0) & (codes[:, j] < sizes[j])
            for k in range(groups.n_groups):
                table[k, offset[j] : offset[j + 1]] = np.bincount(
                    codes[seen, j], groups.R[seen, k], minlength=int(sizes[j])
                )
        return cls(X.values, sum_of_products((table, 1.0)))

    def columns(self, table: Array) -> list[Array]:
        """A table (..., Σ sizes) cut into its columns."""
        return np.split(table, self.offset[1:-1], axis=-1)

    def totals(self) -> Exact:
        """The weight of all values of each column, (k, d)."""
        limbs = np.concatenate(
            [self.table.limbs, np.zeros((*self.table.shape, 1), np.int64)], axis=-1
        )
        kernels.carry(limbs)
        # reduceat would give an empty column its neighbor's first value
        some = np.flatnonzero(self.sizes)
        total = np.zeros((limbs.shape[0], len(self.sizes), limbs.shape[-1]), np.int64)
        if len(some):
            total[:, some] = np.add.reduceat(limbs, self.offset[some], axis=1)
        kernels.carry(total)
        return Exact(total, self.table.exponent)

    def widened(self, values: Values) -> Counts:
        """The same counts over more values."""
        index, width = self._index(values)
        limbs = np.zeros((self.table.shape[0], width, self.table.limbs.shape[-1]), np.int64)
        limbs[:, index] = self.table.limbs
        return Counts(values, Exact(limbs, self.table.exponent))

    def seen(self) -> Counts:
        """Without the values that no group holds any more."""
        keep = np.asarray(self.table.limbs.any(axis=(0, 2)))
        if keep.all():
            return self
        masks = self.columns(keep)
        values = tuple(v[m] for v, m in zip(self.values, masks, strict=True))
        limbs = np.ascontiguousarray(self.table.limbs[:, keep])
        return Counts(values, Exact(limbs, self.table.exponent))

    def impossible(self) -> Array:
        """Columns with a count below zero, (k, d)."""
        negative = self.columns(self.table.sign() < 0)
        return np.stack([column.any(axis=1) for column in negative], axis=1)

    def numbers(self) -> Floats:
        return self.table.rounded()
