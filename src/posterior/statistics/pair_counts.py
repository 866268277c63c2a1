"""Weights of pairs of values, keyed by the values: counts of different vocabularies add."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np

from posterior import kernels
from posterior.data.rows import CodedRows, Groups, Hard
from posterior.data.typing import Array, Floats
from posterior.statistics.counts import Counts
from posterior.statistics.exact import Exact
from posterior.statistics.extent import as_codes
from posterior.statistics.keyed import Keyed, Values

MOST = 1 << 25  # counts: a quarter of a gigabyte, and some times that on the way to probabilities


@dataclass(frozen=True, eq=False)
class PairCounts(Keyed):
    """n_kab = Σᵢ r_ik [row i has the values a and b]: the weight of each pair, in each of k groups.

    Values of all columns stand side by side, S in all; n_kaa is the weight of a value alone.
    """

    # table: (k, S, S), symmetric

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

    def single(self) -> Counts:
        """The weights of values alone."""
        place = np.arange(int(self.offset[-1]))
        limbs = np.ascontiguousarray(self.table.limbs[:, place, place])
        return Counts(self.values, Exact(limbs, self.table.exponent))

    def impossible(self) -> Array:
        """Columns with a count below zero, (k, d)."""
        below = np.asarray((self.table.sign() < 0).any(axis=2))
        parts = np.split(below, self.offset[1:-1], axis=1)
        return np.stack([part.any(axis=1) for part in parts], axis=1)

    def widened(self, values: Values) -> PairCounts:
        """The same counts over more values."""
        k = self.table.shape[0]
        check_size(np.array([len(v) for v in values], np.int64), k)
        index, width = self._index(values)
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

    def numbers(self) -> Floats:
        counts = self.table.rounded()
        return counts.reshape(len(counts), -1)


def check_size(sizes: Array, n_groups: int) -> None:
    """Refuse a table that no memory would hold."""
    width = int(sizes.sum())
    if n_groups * width * width > MOST or sizes.max(initial=0) >= 1 << 16:
        raise ValueError(
            f"Expected at most {int(np.sqrt(MOST / n_groups)):,} values of all columns together, "
            f"of which all pairs are counted, got {width:,}, {sizes.max():,} of them in column "
            f"number {int(sizes.argmax())}. Leave columns of many values out, or join rare values."
        )
