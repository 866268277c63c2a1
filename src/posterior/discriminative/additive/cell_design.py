"""Tables and lines over cells as the columns of a logistic regression."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from posterior.data.rows import SparseRows
from posterior.data.typing import Array, Floats, Integers
from posterior.discriminative.additive.terms import Term
from posterior.readers.cells import MISSING, CellColumns, cell_cuts

COARSE = 16  # groups of the cells of a column in a table of two
BENT = 3  # cells of numbers that a line can be told apart from


@dataclass(frozen=True, slots=True, eq=False)
class CellDesign:
    """A one for the cell of each table that a row is in, and its place on each line.

    A line goes along the cells of a column of numbers, by the mean of the numbers in each: what is
    learned is a sum of tables, and a missing number is at zero.
    """

    columns: tuple[tuple[int, ...], ...]  # of each table
    groups: tuple[tuple[Array, ...], ...]  # of the cells of each (cells + 1,); the last is unseen
    lines: dict[int, Floats]  # of some columns: the standardized number of each cell

    @classmethod
    def of(
        cls, reader: CellColumns, weight: Sequence[Floats], pairs: Sequence[tuple[int, int]]
    ) -> CellDesign:
        """Of all columns one by one, and of some pairs."""
        fine = [_own(w) for w in weight]
        groups_of_two = coarse(reader, weight)
        singles = [((j,), (group,)) for j, group in enumerate(fine) if group.max() > 0]
        twos = [((i, j), (groups_of_two[i], groups_of_two[j])) for i, j in pairs]
        columns, groups = zip(*singles, *twos, strict=True) if singles else ((), ())
        return cls(tuple(columns), tuple(groups), _lines(reader, weight))

    @property
    def shapes(self) -> list[tuple[int, ...]]:
        """How many groups each table has along its columns, without those never seen."""
        return [tuple(int(group.max()) for group in groups) for groups in self.groups]

    @property
    def start(self) -> Integers:
        """Where the cells of each table begin; the lines stand between single columns and pairs."""
        ends = np.cumsum([0, *(int(np.prod(shape)) for shape in self.shapes)])
        return np.asarray(ends[:-1] + np.where(self.is_pair, len(self.lines), 0), np.int64)

    @property
    def is_pair(self) -> Array:
        return np.array([len(columns) == 2 for columns in self.columns], bool)

    @property
    def n_single(self) -> int:
        """Coefficients of single columns, those of their lines last."""
        pairs = zip(self.shapes, self.is_pair, strict=True)
        return sum(shape[0] for shape, pair in pairs if not pair) + len(self.lines)

    @property
    def size(self) -> int:
        return self.n_single + sum(a * b for a, b in self.shapes[len(self.shapes) - self.n_pairs :])

    @property
    def n_pairs(self) -> int:
        return int(self.is_pair.sum())

    def rows(self, codes: Array) -> SparseRows:
        """Rows of cells (d, n) that were all seen, as sparse rows."""
        n, width = codes.shape[1], len(self.columns) + len(self.lines)
        kind = np.int32 if n * width < 2**31 else np.int64
        column = np.empty((n, width), kind)
        data = np.ones((n, width))
        first, start, shapes = len(self.columns) - self.n_pairs, self.start, self.shapes
        for t, (columns, groups) in enumerate(zip(self.columns, self.groups, strict=True)):
            place = groups[0].astype(kind)[codes[columns[0]]]
            for j, group, size in zip(columns[1:], groups[1:], shapes[t][1:], strict=True):
                place = place * kind(size) + group[codes[j]]
            column[:, t if t < first else t + len(self.lines)] = place + kind(start[t])
        for i, (j, line) in enumerate(self.lines.items()):
            column[:, first + i] = self.n_single - len(self.lines) + i
            data[:, first + i] = line[codes[j]]
        ends = np.arange(n + 1, dtype=kind) * kind(width)
        return SparseRows(data.ravel(), column.ravel(), ends, self.size)

    def tables(self, coef: Floats) -> list[Floats]:
        """The numbers of each table, (groups, ..., outputs), of slopes (outputs, size)."""
        parts = zip(self.start, self.shapes, strict=True)
        return [
            coef[:, a : a + int(np.prod(shape))].T.reshape(*shape, len(coef)) for a, shape in parts
        ]

    def slopes(self, coef: Floats) -> dict[int, Floats]:
        """The slope of each line, (outputs,)."""
        of_lines = coef[:, self.n_single - len(self.lines) : self.n_single]
        return dict(zip(self.lines, of_lines.T, strict=True))

    def terms(self, coef: Floats) -> list[Term]:
        """Tables of such slopes; a line is added to the table of its column."""
        terms, slopes = [], self.slopes(coef)
        parts = zip(self.columns, self.groups, self.tables(coef), strict=True)
        for columns, groups, part in parts:
            table = np.pad(part, [(0, 1)] * len(columns) + [(0, 0)])
            if len(columns) == 1 and columns[0] in slopes:
                table[:-1] += np.outer(self.at(columns[0]), slopes[columns[0]])
            terms.append(Term(columns, groups, table))
        return terms

    def at(self, j: int) -> Floats:
        """Where the groups of a column of its own are on its line."""
        seen = _own_cells(self.groups[self.columns.index((j,))][0])
        return self.lines[j][seen]


def _own(weight: Floats) -> Array:
    """Each cell that has rows is a group; the others are as good as never seen."""
    present = weight > 0
    group = np.where(present, np.cumsum(present) - 1, present.sum())
    return np.append(group, present.sum()).astype(np.uint8)


def _own_cells(group: Array) -> Integers:
    """The cell of each group that `_own` made."""
    return np.flatnonzero(group < group.max())


def coarse(reader: CellColumns, weight: Sequence[Floats]) -> list[Array]:
    """The groups of the cells of each column in tables of two."""
    kinds = zip(weight, reader.ordered, strict=True)
    return [coarse_groups(w, bool(ordered)) for w, ordered in kinds]


def coarse_groups(weight: Floats, ordered: bool, most: int = COARSE) -> Array:
    """Cells in at most so many groups, and one of missing values: bins joined with their neighbors
    to equal weight, categories with the rare ones together."""
    cells = np.flatnonzero(weight[MISSING + 1 :]) + MISSING + 1
    place = np.arange(len(cells))
    if ordered:
        at = place.astype(np.float64)
        place = np.searchsorted(cell_cuts(at, at, weight[cells], most), at)
    elif len(cells) > most:
        rank = np.argsort(np.argsort(-weight[cells], kind="stable"))
        place = np.minimum(rank, most - 1)
    place = np.unique(place, return_inverse=True)[1]
    some_missing = int(weight[MISSING] > 0)
    last = int(place.max(initial=-1)) + 1 + some_missing
    group = np.full(len(weight) + 1, last, np.uint8)
    group[cells] = place + some_missing
    if some_missing:
        group[MISSING] = 0
    return group


def _lines(reader: CellColumns, weight: Sequence[Floats]) -> dict[int, Floats]:
    """The standardized mean of the numbers in each cell of columns that have enough of them."""
    lines = {}
    for j, centers in zip(reader.places()[0], reader.centers, strict=True):
        w, x = weight[j][MISSING + 1 :], np.array(centers)
        if np.count_nonzero(w) < BENT:
            continue
        x = x / np.abs(x[w > 0]).max()  # squares of large numbers overflow
        mean = np.average(x, weights=w)
        deviation = np.sqrt(np.average((x - mean) ** 2, weights=w))
        if deviation > 0:
            lines[j] = np.concatenate([[0.0], (x - mean) / deviation])
    return lines
