"""Histograms of a column by class, which merge in bounded memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from posterior import kernels
from posterior.data.typing import Array, Codes, Floats
from posterior.kernels.keys import cells, unpack

MOST_BITS = 12  # of a number that may stand for its class
TOGETHER = 8  # columns that share a line of the cache

Each = Callable[[Callable[[int], Any], Iterable[int]], Iterable[Any]]  # map, or threads


@dataclass(frozen=True, slots=True, eq=False)
class ClassHistogram:
    """The weight of each class at each value of a column, or, beyond `limit` values, in cells.

    There are at most `limit` cells, of about equal weight; what is in a cell counts at its largest
    value. So the weight up to any value, of any class, is exact or too small by at most `error`:
    each time that cells are made adds the largest weight that one of them moved, n / limit or less.
    """

    values: Floats  # (m,) ascending
    counts: Floats  # (m, k)
    limit: int
    lowest: float = np.nan  # of all values
    error: float = 0.0

    @classmethod
    def of(
        cls, column: Floats, codes: Codes, weight: Floats | None, n_classes: int, limit: int
    ) -> ClassHistogram:
        """Of the known cells of a column, whose rows have classes and positive weights."""
        value, row = kernels.sort_column(column)
        code, w = codes[row], None if weight is None else weight[row]
        ends, error = cells(value, w, limit)
        cell = np.repeat(np.arange(len(ends)), np.diff(ends, prepend=0))
        counts = np.bincount(cell * n_classes + code, w, len(ends) * n_classes)
        table = counts.reshape(len(ends), n_classes).astype(np.float64)
        return cls(value[ends - 1], table, limit, _first(value), error)

    def __add__(self, other: ClassHistogram, /) -> ClassHistogram:
        both = np.concatenate([self.values, other.values])
        values, place = np.unique(both, return_inverse=True)
        counts = np.zeros((len(values), self.counts.shape[1]))
        counts[place[: len(self.values)]] += self.counts
        counts[place[len(self.values) :]] += other.counts
        limit = min(self.limit, other.limit)
        ends, error = cells(values, counts.sum(axis=1), limit)
        if len(ends) < len(values):
            counts = np.add.reduceat(counts, np.append(0, ends[:-1]), axis=0)
            values = values[ends - 1]
        lowest = float(np.fmin(self.lowest, other.lowest))
        return ClassHistogram(values, counts, limit, lowest, self.error + other.error + error)

    def __sub__(self, other: ClassHistogram, /) -> ClassHistogram:
        """Without rows of which all values were counted one by one, as those here were."""
        values = np.union1d(self.values, other.values)
        counts = np.zeros((len(values), self.counts.shape[1]))
        counts[np.searchsorted(values, self.values)] += self.counts
        counts[np.searchsorted(values, other.values)] -= other.counts
        counts[np.abs(counts) < 1e-9 * max(self.weight, 1.0)] = 0.0  # weights that are no integers
        kept = counts.any(axis=1)
        values, counts = values[kept], counts[kept]
        return ClassHistogram(values, counts, self.limit, _first(values), 0.0)

    def placed(self, index: Array, n_classes: int) -> ClassHistogram:
        """The classes at new positions among n_classes, the others empty."""
        counts = np.zeros((len(self.values), n_classes))
        counts[:, index] = self.counts
        return ClassHistogram(self.values, counts, self.limit, self.lowest, self.error)

    def of_classes(self, kept: Array) -> ClassHistogram:
        """Without classes that have no rows."""
        return ClassHistogram(
            self.values, self.counts[:, kept], self.limit, self.lowest, self.error
        )

    def entries(self) -> tuple[Floats, Codes, Floats]:
        """Value, class and weight of whatever was counted, in the order of the values."""
        cell, code = np.nonzero(self.counts)
        return self.values[cell], code.astype(np.int32), self.counts[cell, code]

    @property
    def weight(self) -> float:
        return float(self.counts.sum())

    @property
    def highest(self) -> float:
        return float(self.values[-1]) if len(self.values) else np.nan


def class_histograms(
    X: Array, codes: Codes, weight: Floats | None, n_classes: int, limit: int, each: Each = map
) -> list[ClassHistogram]:
    """Of every column; `each` may look at some columns at once."""
    if weight is not None:
        counted = weight > 0
        X, codes, weight = X[counted], codes[counted], weight[counted]
    bits = (n_classes - 1).bit_length()
    if weight is None and len(X) > limit and bits <= MOST_BITS:
        blocks = 2 * -(-X.shape[1] // (2 * TOGETHER))  # as many for each of two threads
        width = -(-X.shape[1] // blocks)
        parts = each(
            lambda j: list(_by_keys(X[:, j : j + width], codes, n_classes, limit, bits)),
            range(0, X.shape[1], width),
        )
        return [part for block in parts for part in block]

    def one(j: int) -> ClassHistogram:
        column = np.ascontiguousarray(X[:, j], np.float64)
        return ClassHistogram.of(column, codes, weight, n_classes, limit)

    return list(each(one, range(X.shape[1])))


def _by_keys(
    X: Array, codes: Codes, n_classes: int, limit: int, bits: int
) -> Iterator[ClassHistogram]:
    """The same for many rows, by sorting numbers that hold their classes in their last bits.

    Where there are more than `limit` values and cells do not end with repeated ones, what ends a
    cell is known to one part in 10¹², and one row more may be lost.
    """
    keys = kernels.pack_columns(X, codes, bits, np.empty((X.shape[1], len(X)), np.uint64))
    for column, key in zip(X.T, keys, strict=True):
        key.sort()
        ends, counts, error = kernels.class_cells(key, bits, n_classes, limit)
        last, before = key[ends - 1], key[np.maximum(ends - 2, 0)]
        if error > 0 and ((last ^ before) >> np.uint64(bits)).all():
            lowest = _first(unpack(key[:1], bits))
            yield ClassHistogram(unpack(last, bits), counts, limit, lowest, error + 1)
            continue
        exact = np.sort(column).astype(np.float64)
        values = exact[ends - 1] + 0.0
        if error == 0 and (exact[np.append(0, ends)[:-1]] != values).any():  # share a key
            exact = np.ascontiguousarray(column, np.float64)
            yield ClassHistogram.of(exact, codes, None, n_classes, limit)
        else:
            yield ClassHistogram(values, counts, limit, _first(exact), error)


def _first(value: Floats) -> float:
    return float(value[0]) if len(value) else np.nan
