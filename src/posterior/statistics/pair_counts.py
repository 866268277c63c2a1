"""Weights of pairs of values, keyed by the values: counts of different vocabularies add."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import add
from typing import Any

import numpy as np

from posterior import kernels
from posterior.data.rows import CodedRows, Groups, Hard
from posterior.data.typing import Array, Floats, Integers
from posterior.statistics.counts import Counts, Values, _same, _union, places
from posterior.statistics.exact import Exact
from posterior.statistics.extent import as_codes

MOST = 1 << 25  # counts: a quarter of a gigabyte, and some times that on the way to probabilities


@dataclass(frozen=True, eq=False)
class PairCounts:
    """n_kab = Σᵢ r_ik [row i has the values a and b]: the weight of each pair, in each of k groups.

    Values of all columns stand side by side, S in all; n_kaa is the weight of a value alone.
    """

    values: Values  # sorted, one array a column
    table: Exact  # (k, S, S), symmetric

    @classmethod
    def of(cls, X: CodedRows, groups: Groups) -> PairCounts:
        """Of rows that each belong to one group."""
        assert isinstance(groups, Hard)
        sizes, k = np.array([len(v) for v in X.values], np.int64), groups.n_groups
        check_size(sizes, k)
        codes = as_codes(X.codes)
        if groups.weight is None:
            return cls(X.values, Exact.of(kernels.pair_counts(codes, groups.codes, k, sizes)))
        # a value and its group are a group, of which the values of all columns are counted
        parts, start, width = [], 0, int(sizes.sum())
        for j, size in enumerate(sizes.tolist()):
            known = (codes[:, j] >= 0) & (codes[:, j] < size) & (groups.codes >= 0)
            own = np.where(known, codes[:, j] * k + groups.codes, -1).astype(np.int32)
            counted = kernels.category_counts(codes, own, groups.weight, size * k, sizes)
            index = np.arange(start, start + size)
            parts.append(Exact(*counted).reshape(size, k, width).placed(index, width))
            start += size
        total = reduce(add, parts)
        limbs = np.ascontiguousarray(total.limbs.swapaxes(0, 1))
        return cls(X.values, Exact(limbs, total.exponent))

    @cached_property
    def sizes(self) -> Integers:
        return np.array([len(v) for v in self.values], np.int64)

    @cached_property
    def offset(self) -> Integers:
        return np.concatenate([[0], np.cumsum(self.sizes)])

    def single(self) -> Counts:
        """The weights of values alone."""
        place = np.arange(int(self.offset[-1]))
        limbs = np.ascontiguousarray(self.table.limbs[:, place, place])
        return Counts(self.values, Exact(limbs, self.table.exponent))

    def negative(self) -> Array:
        """Whether any count of a column is below zero, (k, d)."""
        below = np.asarray((self.table.sign() < 0).any(axis=2))
        parts = np.split(below, self.offset[1:-1], axis=1)
        return np.stack([part.any(axis=1) for part in parts], axis=1)

    def __add__(self, other: PairCounts, /) -> PairCounts:
        if self.values is other.values or _same(self.values, other.values):
            return PairCounts(self.values, self.table + other.table)
        values = tuple(_union(a, b) for a, b in zip(self.values, other.values, strict=True))
        return self.widened(values) + other.widened(values)

    def widened(self, values: Values) -> PairCounts:
        """The same counts over more values."""
        sizes = np.array([len(v) for v in values], np.int64)
        check_size(sizes, self.table.shape[0])
        offset = np.concatenate([[0], np.cumsum(sizes)])
        index = np.concatenate(
            [offset[j] + places(values[j], v) for j, v in enumerate(self.values)]
        ).astype(np.int64)
        k, width = self.table.shape[0], int(offset[-1])
        limbs = np.zeros((k, width, width, self.table.limbs.shape[-1]), np.int64)
        limbs[:, index[:, None], index] = self.table.limbs
        return PairCounts(values, Exact(limbs, self.table.exponent))

    def seen(self) -> PairCounts:
        """Without the values that no group holds any more."""
        keep = np.asarray(self.single().table.limbs.any(axis=(0, 2)))
        if keep.all():
            return self
        masks = np.split(keep, self.offset[1:-1])
        values = tuple(v[m] for v, m in zip(self.values, masks, strict=True))
        limbs = np.ascontiguousarray(self.table.limbs[:, keep][:, :, keep])
        return PairCounts(values, Exact(limbs, self.table.exponent))

    def __neg__(self) -> PairCounts:
        return PairCounts(self.values, -self.table)

    def __sub__(self, other: PairCounts, /) -> PairCounts:
        return self + -other

    def __mul__(self, factor: float, /) -> PairCounts:
        return PairCounts(self.values, self.table * factor)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PairCounts):
            return NotImplemented
        a, b = self.seen(), other.seen()
        return _same(a.values, b.values) and a.table == b.table

    __hash__ = None  # type: ignore[assignment]

    def take(self, groups: Any) -> PairCounts:
        return PairCounts(self.values, self.table[groups])

    def placed(self, index: Array, n_groups: int) -> PairCounts:
        return PairCounts(self.values, self.table.placed(index, n_groups))

    def pooled(self) -> PairCounts:
        total = self.table.sum(axis=0)
        return PairCounts(self.values, total.reshape(1, *total.shape))

    def compact(self) -> PairCounts:
        return PairCounts(self.values, self.table.compact())

    def keeps_rows(self) -> bool:
        return False

    def numbers(self) -> Floats:
        counts = self.table.rounded()
        return counts.reshape(len(counts), -1)

    def arrays(self) -> dict[str, Array]:
        parts = {f"values.{j}": v for j, v in enumerate(self.values)}
        return parts | self.table.arrays("table")

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array]) -> PairCounts:
        n = sum(name.startswith("values.") for name in arrays)
        values = tuple(np.asarray(arrays[f"values.{j}"]) for j in range(n))
        return cls(values, Exact.from_arrays(arrays, "table"))


def check_size(sizes: Array, n_groups: int) -> None:
    """Refuse a table that no memory would hold."""
    width = int(sizes.sum())
    if n_groups * width * width > MOST or sizes.max(initial=0) >= 1 << 16:
        raise ValueError(
            f"Expected at most {int(np.sqrt(MOST / n_groups)):,} values of all columns together, "
            f"of which all pairs are counted, got {width:,}, {sizes.max():,} of them in column "
            f"number {int(sizes.argmax())}. Leave columns of many values out, or join rare values."
        )
