"""Reads tables as cells: bins of numbers, values of categories, a cell for what is missing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Self

import numpy as np

from posterior.data.names import plain
from posterior.data.rows import Blocks, CodedRows, Hard, Rows
from posterior.data.typing import Array, Codes, Floats
from posterior.readers.cell_codes import MISSING as MISSING
from posterior.readers.cell_codes import CellCodes
from posterior.readers.reader import Reader
from posterior.readers.two_kinds import NumbersAndCategories
from posterior.statistics.counts import Counts
from posterior.statistics.histograms import Histograms

MOST_VALUES = 10_000  # of a column of numbers that are looked at one by one before it is cut
MOST_KINDS = 250  # categories with a cell of their own
FEW_NAMES = 3  # categories of a group that are named one by one
LEAST_ROWS = 2.0  # that a category must have for a cell of its own: a row's name has none


@dataclass(frozen=True, slots=True, eq=False)
class CellColumns(NumbersAndCategories):
    """The cell of each value: 0 if it is missing, then bins or categories in order.

    A category that is rare shares the last cell with others such; if there are none, a category
    never seen has a code of its own, behind all cells.
    """

    cuts: tuple[Floats, ...] = ()  # of each column of numbers, ascending
    values: tuple[Array, ...] = ()  # of each column of categories, those with a cell
    shared: tuple[bool, ...] = ()  # and whether others share one more
    centers: tuple[Floats, ...] = ()  # the mean of the numbers in each bin

    def looked(self, seen: CellSums, most: int) -> Self:
        """A reader that knows the cells, by a look at all rows."""
        points = seen.points()
        cuts = [cell_cuts(*column, most) for column in points]
        centers = [_centers(*column, c) for column, c in zip(points, cuts, strict=True)]
        kept = [_kept(*column) for column in seen.kinds()]
        return replace(
            self,
            cuts=tuple(cuts),
            values=tuple(values for values, _ in kept),
            shared=tuple(others for _, others in kept),
            centers=tuple(centers),
        )

    def sharing(self, codes: Array) -> Self:
        """A reader whose categories never seen share a cell, where rows (d, n) to learn have some.

        It is the one behind all others, whose code they have already.
        """
        _, categories = self.places()
        pairs = zip(categories, self.values, strict=True)
        return replace(self, shared=tuple(bool((codes[j] > len(v)).any()) for j, v in pairs))

    def check_same(self, other: Reader) -> None:
        """Refuse to merge rows of other cells."""
        self.columns.check_same(other.columns)
        assert isinstance(other, CellColumns)
        for j, name in enumerate(self.names):
            same = np.array_equal(self._cells_of(j), other._cells_of(j))
            if self.kinds[j] != other.kinds[j] or not same:
                raise ValueError(
                    f"Expected a model of the same cells to merge, but column {plain(name)!r} has "
                    "others in each: every fit chooses them by its rows. Fit all rows together "
                    "(fit reads files and clusters part by part), or give them to partial_fit."
                )

    def _cells_of(self, j: int) -> Array:
        """Where a column of numbers is cut, or the categories with a cell."""
        numbers, categories = self.places()
        if j in categories:
            return self.values[categories.index(j)]
        return self.cuts[numbers.index(j)]

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
        return self.coder()(X)

    def coder(self) -> CellCodes:
        """`codes`, prepared for chunk after chunk."""
        beyond = [1 + len(values) for values in self.values]  # shared by rare ones, or behind all
        return CellCodes(self.places(), self.cuts, self.values, beyond)

    def names_of(self, j: int) -> list[str]:
        """What the cells of a column are called, without the one of missing values."""
        numbers, categories = self.places()
        if j in categories:
            i = categories.index(j)
            return [str(plain(v)) for v in self.values[i]] + ["others"] * self.shared[i]
        cuts = [f"{cut:.6g}" for cut in self.cuts[numbers.index(j)]]
        if not cuts:
            return ["any"]
        between = [f"{low} to {high}" for low, high in pairwise(cuts)]
        return [f"< {cuts[0]}", *between, f"≥ {cuts[-1]}"]

    def group_names(self, j: int, group: Array, gaps: bool = True) -> list[str]:
        """What groups of a column's cells (cells,) are called.

        Without gaps, a group is not said to be of missing values too.
        """
        found, number = [], self.kinds[j] == "number"
        cuts = distinct_digits(self.cuts[self.places()[0].index(j)]) if number else []
        for g in range(int(group.max()) + 1):
            cells = np.flatnonzero(group == g)
            there = cells[cells != MISSING] - 1
            names = _ranges(cuts, there) if number else self._some(j, there)
            missing = ["missing"] * (MISSING in cells and (gaps or not names))
            found.append(" or ".join([*names, *missing]))
        return found

    def _some(self, j: int, places: Array) -> list[str]:
        """Categories by name, where they are not many."""
        names = self.names_of(j)
        if len(places) <= FEW_NAMES:
            return [names[i] for i in places]
        return [*(names[i] for i in places[: FEW_NAMES - 1]), f"{len(places) - 2} others"]


def _ranges(cuts: list[str], bins: Array) -> list[str]:
    """Bins side by side as one range."""
    names = []
    for run in np.split(bins, np.flatnonzero(np.diff(bins) > 1) + 1) if len(bins) else ():
        low = cuts[run[0] - 1] if run[0] > 0 else ""
        high = cuts[run[-1]] if run[-1] < len(cuts) else ""
        ends = {"": f"≥ {low}" if low else "any"}
        names.append(ends.get(high) or (f"{low} to {high}" if low else f"< {high}"))
    return names


def distinct_digits(numbers: Floats) -> list[str]:
    """Numbers with three digits, or as many as they need to be different."""
    found: list[str] = []
    for digits in range(3, 18):
        found = [_short(float(f"{value:.{digits}g}")) for value in numbers.tolist()]
        if len(set(found)) == len(found):
            break
    return found


def _short(value: float) -> str:
    """All digits, and an exponent only far from one: 12300, 1.23e9."""
    plainly = value == 0 or 1e-4 <= abs(value) < 1e7
    if plainly:
        return np.format_float_positional(value, trim="-")
    digits, _, exponent = np.format_float_scientific(value, trim="-").partition("e")
    return f"{digits}e{int(exponent)}"


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
        assert isinstance(numbers, np.ndarray) and isinstance(categories, CodedRows)
        together = Hard(np.minimum(rows.hard.codes, 0), 1, rows.hard.weight)
        return CellSums(
            Histograms.of(numbers, together, MOST_VALUES) if numbers.shape[1] else None,
            Counts.of(categories, together) if categories.shape[1] else None,
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
    order = np.sort(order[weight[order] >= LEAST_ROWS * min(1.0, weight.min())])
    return values[order], len(order) < len(values)
