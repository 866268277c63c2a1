"""A mixed table as numbers: categories by a reference level, missing cells by an indicator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from posterior.data import frames
from posterior.data.cells import Column
from posterior.data.one_row import OneRow, number, word
from posterior.data.typing import Array, Floats


@dataclass(frozen=True, slots=True)
class NumberColumn:
    """The number itself; where it is missing, a usual value, and one in a column of its own.

    Where none was missing before, there is no such column: a missing cell stays NaN.
    """

    name: str
    fill: float
    gaps: bool

    @classmethod
    def learn(cls, column: Column) -> NumberColumn:
        cells = frames.numbers(column)
        gaps = np.isnan(cells)
        if gaps.all():
            raise empty(column.name)
        return cls(column.name, float(cells[~gaps].mean()), bool(gaps.any()))

    @property
    def names(self) -> list[str]:
        return [self.name, f"{self.name} is missing"] if self.gaps else [self.name]

    def encode(self, column: Column) -> Floats:
        return self.filled(frames.numbers(column))

    def encode_cell(self, cell: Any) -> list[float]:
        """`encode` of one cell."""
        x = number(cell, self.name)
        if not self.gaps:
            return [x]
        return [self.fill, 1.0] if x != x else [x, 0.0]

    def filled(self, cells: Floats) -> Floats:
        if not self.gaps:
            return cells[:, None]
        gaps = np.isnan(cells)
        return np.column_stack([np.where(gaps, self.fill, cells), gaps])


@dataclass(frozen=True, slots=True)
class CategoryColumn:
    """One for the level that a cell has; none for the first level, the reference.

    A missing cell, and a level never seen, has a column of its own if cells were missing before;
    else it is NaN in all columns.
    """

    name: str
    levels: tuple[str, ...]
    gaps: bool

    @classmethod
    def learn(cls, column: Column) -> CategoryColumn:
        found = cls.seen(column)
        if not found.levels:
            raise empty(column.name)
        return found

    @classmethod
    def seen(cls, column: Column) -> CategoryColumn:
        """Of a part of a column, which may have no level at all."""
        texts, codes = frames.different(column, column.name)
        gaps = None in texts or bool((codes < 0).any())
        return cls(column.name, tuple(frames.distinct(texts).tolist()), gaps)

    def __add__(self, other: CategoryColumn, /) -> CategoryColumn:
        levels = tuple(sorted({*self.levels, *other.levels}))
        return CategoryColumn(self.name, levels, self.gaps or other.gaps)

    @property
    def names(self) -> list[str]:
        levels = [f"{self.name}={level}" for level in self.levels[1:]]
        return [*levels, f"{self.name} is missing"] if self.gaps else levels

    def encode(self, column: Column) -> Floats:
        texts, place = frames.different(column, self.name)
        levels = np.array(self.levels, dtype=object)
        return self.indicators(np.append(frames.encode(texts, levels), -1)[place])

    def encode_cell(self, cell: Any) -> list[float]:
        """`encode` of one cell."""
        text, width = word(cell, self.name), len(self.levels) - 1 + self.gaps
        known = text is not None and text in self.levels
        if not known and not self.gaps:
            return [np.nan] * width
        place = self.levels.index(text) - 1 if text is not None and known else width - 1
        return [float(i == place) for i in range(width)]

    def indicators(self, codes: Array) -> Floats:
        """Of places among the levels; another number is none of them."""
        known = (codes >= 0) & (codes < len(self.levels))
        places = np.where(known, codes - 1, len(self.levels) - 1 if self.gaps else -1)
        out = np.zeros((len(codes), len(self.names)))
        if not self.gaps:
            out[~known] = np.nan
        rows = np.flatnonzero(places >= 0)
        out[rows, places[rows]] = 1.0
        return out


@dataclass(frozen=True, slots=True)
class Encoding:
    """Every column of a table, in order."""

    columns: tuple[NumberColumn | CategoryColumn, ...]

    @classmethod
    def learn(cls, table: Sequence[Column]) -> Encoding | None:
        """None where the columns hold nothing but numbers."""
        columns = tuple(
            NumberColumn.learn(c) if frames.kind(c) == "number" else CategoryColumn.learn(c)
            for c in table
        )
        plain = all(isinstance(c, NumberColumn) and not c.gaps for c in columns)
        return None if plain else cls(columns)

    def names(self) -> Array:
        return np.array([name for column in self.columns for name in column.names])

    def sources(self) -> list[int]:
        """Which column of the table each column of numbers comes from."""
        return [i for i, column in enumerate(self.columns) for _ in column.names]

    def indicators(self) -> dict[int, tuple[int, ...]]:
        """Columns of zeros and ones, each with all those of which one at most is one."""
        found: dict[int, tuple[int, ...]] = {}
        end = 0
        for column in self.columns:
            start, end = end, end + len(column.names)
            ones = range(start + isinstance(column, NumberColumn), end)
            found |= dict.fromkeys(ones, tuple(ones))
        return found

    def __call__(self, table: Sequence[Column]) -> Floats:
        parts = zip(self.columns, table, strict=True)
        return np.ascontiguousarray(np.column_stack([c.encode(cells) for c, cells in parts]))

    def row(self, row: OneRow) -> Floats:
        """The same of one row, cell by cell."""
        cells = zip(self.columns, row.cells.values(), strict=True)
        return np.array([[x for column, cell in cells for x in column.encode_cell(cell)]])


def empty(name: str) -> ValueError:
    return ValueError(
        f"Expected cells in column {name!r}, but all its cells are missing. Leave the column out."
    )
