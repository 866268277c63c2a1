"""Weights of categories, keyed by their values: counts of different vocabularies add."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import add
from typing import Any

import numpy as np

from posterior import kernels
from posterior.data.rows import CodedRows, Groups, Hard, slabs
from posterior.data.typing import Array, Floats, Integers
from posterior.statistics.exact import Exact
from posterior.statistics.extent import CODE_TYPES, as_codes
from posterior.statistics.moments import sum_of_products

Values = tuple[Array, ...]


@dataclass(frozen=True, eq=False)
class Counts:
    """n_kv = Σᵢ r_ik [x_i = v]: the weight of each value of each column, in each of k groups."""

    values: Values  # sorted, one array a column
    table: Exact  # (k, Σ sizes), the values of a column side by side

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

    @cached_property
    def sizes(self) -> Integers:
        return np.array([len(v) for v in self.values], np.int64)

    @cached_property
    def offset(self) -> Integers:
        return np.concatenate([[0], np.cumsum(self.sizes)])

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

    def __add__(self, other: Counts, /) -> Counts:
        if self.values is other.values or _same(self.values, other.values):
            return Counts(self.values, self.table + other.table)
        values = tuple(_union(a, b) for a, b in zip(self.values, other.values, strict=True))
        return self.widened(values) + other.widened(values)

    def widened(self, values: Values) -> Counts:
        """The same counts over more values."""
        sizes = [len(v) for v in values]
        offset = np.concatenate([[0], np.cumsum(sizes)])
        index = np.concatenate(
            [offset[j] + places(values[j], v) for j, v in enumerate(self.values)]
        ).astype(np.int64)
        limbs = np.zeros(
            (self.table.shape[0], int(offset[-1]), self.table.limbs.shape[-1]), np.int64
        )
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

    def __neg__(self) -> Counts:
        return Counts(self.values, -self.table)

    def __sub__(self, other: Counts, /) -> Counts:
        return self + -other

    def __mul__(self, factor: float, /) -> Counts:
        return Counts(self.values, self.table * factor)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Counts):
            return NotImplemented
        a, b = self.seen(), other.seen()
        return _same(a.values, b.values) and a.table == b.table

    __hash__ = None  # type: ignore[assignment]

    def take(self, groups: Any) -> Counts:
        return Counts(self.values, self.table[groups])

    def placed(self, index: Array, n_groups: int) -> Counts:
        return Counts(self.values, self.table.placed(index, n_groups))

    def pooled(self) -> Counts:
        return Counts(self.values, self.table.sum(axis=0).reshape(1, -1))

    def compact(self) -> Counts:
        return Counts(self.values, self.table.compact())

    def keeps_rows(self) -> bool:
        return False

    def numbers(self) -> Floats:
        return self.table.rounded()

    def arrays(self) -> dict[str, Array]:
        parts = {f"values.{j}": v for j, v in enumerate(self.values)}
        return parts | self.table.arrays("table")

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array]) -> Counts:
        n = sum(name.startswith("values.") for name in arrays)
        values = tuple(np.asarray(arrays[f"values.{j}"]) for j in range(n))
        return cls(values, Exact.from_arrays(arrays, "table"))


def _same(a: Values, b: Values) -> bool:
    return len(a) == len(b) and all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))


def _union(a: Array, b: Array) -> Array:
    if np.array_equal(a, b) or len(b) == 0:
        return a
    if len(a) == 0:
        return b
    if _is_text(a) != _is_text(b):
        a, b = (np.array([str(v) for v in x.tolist()]) for x in (a, b))
    return np.union1d(a, b)


def places(values: Array, wanted: Array) -> Integers:
    """Where some values stand among others; beyond the last if they do not."""
    if _is_text(values) != _is_text(wanted):
        place = {str(v): i for i, v in enumerate(values.tolist())}
        return np.array([place.get(str(v), len(values)) for v in wanted.tolist()], np.int64)
    place_of = np.searchsorted(values, wanted)
    known = place_of < len(values)
    known[known] = values[place_of[known]] == wanted[known]
    return np.where(known, place_of, len(values))


def _is_text(values: Array) -> bool:
    return values.dtype.kind in "OU"
