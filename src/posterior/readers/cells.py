"""Reads tables as cells: bins of numbers, values of categories, a cell for what is missing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from posterior import kernels
from posterior.data.names import plain
from posterior.data.rows import Blocks, Hard, Rows
from posterior.data.typing import Array, Codes, Floats
from posterior.readers.two_kinds import NumbersAndCategories
from posterior.statistics.counts import Counts
from posterior.statistics.histograms import Histograms
from posterior.statistics.keyed import places

MISSING = 0  # the cell of missing values
MOST_VALUES = 10_000  # of a column of numbers that are looked at one by one before it is cut
MOST_KINDS = 250  # categories with a cell of their own
LEAST_ROWS = 2.0  # that a category must have for a cell of its own


@dataclass(frozen=True, slots=True, eq=False)
class CellColumns(NumbersAndCategories):
    """The cell of each value: 0 if it is missing, then bins or categories in order.

    A category that is rare shares the last cell with others such; if there are none, a category
    never seen has a code of its own, behind all cells.
    """

    cuts: tuple[tuple[float, ...], ...] = ()  # of each column of numbers, ascending
    values: tuple[Array, ...] = ()  # of each column of categories, those with a cell
    shared: tuple[bool, ...] = ()  # and whether others share one more
    centers: tuple[tuple[float, ...], ...] = ()  # the mean of the numbers in each bin

    def looked(self, seen: CellSums, most: int) -> Self:
        """A reader that knows the cells, by a look at all rows."""
        points = seen.points()
        cuts = [cell_cuts(*column, most) for column in points]
        centers = [_centers(*column, c) for column, c in zip(points, cuts, strict=True)]
        kept = [_kept(*column) for column in seen.kinds()]
        return replace(
            self,
            cuts=tuple(tuple(c.tolist()) for c in cuts),
            values=tuple(values for values, _ in kept),
            shared=tuple(others for _, others in kept),
            centers=tuple(tuple(c.tolist()) for c in centers),
        )

    @property
    def sizes(self) -> Codes:
        """How many cells each column has, (d,)."""
        numbers, categories = self.places()
        sizes = np.empty(len(self.kinds), np.int32)
        sizes[numbers] = [len(cuts) + 2 for cuts in self.cuts]
        pairs = zip(self.values, self.shared, strict=True)
        sizes[categories] = [1 + len(values) + others for values, others in pairs]
        return sizes

    @property
    def ordered(self) -> Array:
        """Whether the cells of each column are bins of numbers, (d,)."""
        return np.array([kind == "number" for kind in self.kinds], np.uint8)

    def codes(self, X: Blocks) -> Array:
        """The cell of each value, column after column, (d, n); a value never seen is behind all."""
        (numbers, categories), sizes = self.places(), self.sizes
        measured, coded = X.parts
        out = np.empty((len(self.kinds), X.shape[0]), np.uint8)
        if numbers:
            cuts = [np.array(c, np.float64) for c in self.cuts]
            bins = kernels.digitize(np.ascontiguousarray(measured, np.float64), cuts)
            out[numbers] = np.nan_to_num(bins + 1, nan=MISSING).T
        for i, j in enumerate(categories):
            values = self.values[i]
            place = places(values, coded.values[i])  # type: ignore[union-attr]
            cell = np.where(place < len(values), place + 1, sizes[j] - self.shared[i])
            cell = np.append(cell, MISSING)  # a code of -1 is missing
            out[j] = cell[coded.codes[:, i]]  # type: ignore[union-attr]
        return out

    def names_of(self, j: int) -> list[str]:
        """What the cells of a column are called, without the one of missing values."""
        numbers, categories = self.places()
        if j in categories:
            i = categories.index(j)
            return [str(plain(v)) for v in self.values[i]] + ["others"] * self.shared[i]
        cuts = self.cuts[numbers.index(j)]
        return [_between(cuts, k, k + 1) for k in range(len(cuts) + 1)]

    def group_names(self, j: int, group: Array) -> list[str]:
        """What groups of the cells of a column are called, without the last, of values unseen."""
        numbers, _ = self.places()
        names = []
        for g in range(int(group.max())):
            cells = np.flatnonzero(group == g)
            if cells[0] == MISSING:
                names.append("missing")
            elif j in numbers:
                cuts = self.cuts[numbers.index(j)]
                names.append(_between(cuts, int(cells[0]) - 1, int(cells[-1])))
            else:
                names.append(", ".join(self.names_of(j)[c - 1] for c in cells))
        return names


def _between(cuts: tuple[float, ...], first: int, last: int) -> str:
    """What the bins first .. last - 1 are called together."""
    low = f"{cuts[first - 1]:.6g}" if first > 0 else ""
    high = f"{cuts[last - 1]:.6g}" if last <= len(cuts) else ""
    if low and high:
        return f"{low} to {high}"
    if low:
        return f"≥ {low}"
    return f"< {high}" if high else "any"


@dataclass(frozen=True, slots=True, eq=False)
class CellSums:
    """What all rows say of the values of columns: histograms of numbers, counts of categories."""

    numbers: Histograms | None
    categories: Counts | None

    def __add__(self, other: CellSums, /) -> CellSums:
        return CellSums(
            self.numbers + other.numbers if self.numbers and other.numbers else None,
            self.categories + other.categories if self.categories and other.categories else None,
        )

    def placed(self, index: Array, n_groups: int) -> CellSums:
        """The same: classes are not told apart."""
        return self

    def points(self) -> list[tuple[Floats, Floats, Floats]]:
        """Of each column of numbers the first and last of each value or range, and its weight."""
        if self.numbers is None:
            return []
        seen = self.numbers.seen()
        weights = seen.counts.columns(seen.counts.table.rounded())
        ends = zip(seen.counts.values, seen.last(), weights, strict=True)
        return [(first, last, weight[0]) for first, last, weight in ends]

    def kinds(self) -> list[tuple[Array, Floats]]:
        """Of each column of categories the values and their weights."""
        if self.categories is None:
            return []
        seen = self.categories.seen()
        weights = seen.columns(seen.table.rounded())
        return [(v, w[0]) for v, w in zip(seen.values, weights, strict=True)]


@dataclass(frozen=True, slots=True, eq=False)
class LookAtCells:
    """Rows of numbers and categories to what they say of their values."""

    reader: CellColumns

    def __call__(self, rows: Rows) -> CellSums:
        assert isinstance(rows.X, Blocks)
        self.reader.check(rows.X, fitting=True)
        numbers, categories = rows.X.parts
        together = Hard(np.minimum(rows.hard.codes, 0), 1, rows.hard.weight)
        return CellSums(
            Histograms.of(numbers, together, MOST_VALUES) if numbers.shape[1] else None,  # type: ignore[arg-type]
            Counts.of(categories, together) if categories.shape[1] else None,  # type: ignore[arg-type]
        )


def cell_cuts(first: Floats, last: Floats, weight: Floats, most: int) -> Floats:
    """Where a column is cut into about `most` cells of equal weight.

    A value that alone holds the weight of a cell or more has a cell of its own, and the others
    share what is left: quantiles alone would spend their cuts on it.
    """
    if len(first) <= 1:
        return np.empty(0)
    middle = last[:-1] + (first[1:] - last[:-1]) / 2  # halfway, and no sum that overflows
    if len(first) <= most:
        return middle
    heavy = weight >= weight.sum() / most
    light = np.where(heavy, 0.0, weight)
    size = light.sum() / max(most - np.count_nonzero(heavy), 1)
    cell = np.floor((np.cumsum(light) - light / 2) / size) if size else np.zeros(len(light))
    return middle[heavy[1:] | heavy[:-1] | (cell[1:] != cell[:-1])]


def _centers(first: Floats, last: Floats, weight: Floats, cuts: Floats) -> Floats:
    """The mean of the numbers in each cell, of values or the middles of ranges."""
    middle = first + (last / 2 - first / 2)
    cell, n = np.searchsorted(cuts, middle, "right"), len(cuts) + 1
    total = np.bincount(cell, weight, n)
    share = weight / np.where(total > 0, total, 1.0)[cell]  # no sum overflows
    return np.bincount(cell, share * middle, n).astype(np.float64)


def _kept(values: Array, weight: Floats) -> tuple[Array, bool]:
    """The categories with a cell of their own, sorted, and whether there are others."""
    if len(values) == 0:
        return values, False
    order = np.argsort(-weight, kind="stable")[:MOST_KINDS]
    order = np.sort(order[weight[order] >= min(LEAST_ROWS, weight.max())])
    return values[order], len(order) < len(values)
