"""A prepared table as standardized numbers, for models that read nothing else."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np

from posterior.data import frames
from posterior.data.cells import ArrayColumn, Column
from posterior.data.errors import NotFiniteError
from posterior.data.one_row import OneRow, number, word
from posterior.data.typing import Array, Floats

MOST_LEVELS = 50  # of a category; rarer ones share a column
LEAST_GAPS = 10  # missing cells that a column of their own is learned from


def words(column: Column) -> list[str | None]:
    """Cells as text, None where missing."""
    if isinstance(column, ArrayColumn):
        return frames.items(column.to_list(), column.name)
    if column.dtype == nw.String and column.implementation.is_pyarrow():
        return column.to_list()  # as they are
    return frames.items(column.to_list(), column.name)


@dataclass(frozen=True, slots=True)
class ScaledNumber:
    """(x - mean) / deviation, and zero where a cell is missing, or NaN if those are kept.

    Where enough cells are missing, a column of its own says which.
    """

    name: str
    mean: float
    deviation: float
    gaps: bool  # whether missing cells have a column of their own
    keep_missing: bool

    @classmethod
    def learn(cls, column: nw.Series[Any], keep_missing: bool) -> ScaledNumber:
        cells = frames.numbers(column)
        known = cells[~np.isnan(cells)]
        deviation = float(known.std()) if len(known) else 0.0
        mean = float(known.mean()) if len(known) else 0.0
        gaps = len(cells) - len(known) >= LEAST_GAPS and not keep_missing
        return cls(column.name, mean, deviation or 1.0, gaps, keep_missing)

    @property
    def names(self) -> list[str]:
        return [self.name, f"{self.name} is missing"] if self.gaps else [self.name]

    def encode_cell(self, cell: Any) -> list[float]:
        """`encode` of one cell."""
        x = number(cell, self.name)
        if x - x != 0.0 and x == x:  # infinite
            return self.encode(ArrayColumn.of(self.name, [cell]))[0].tolist()
        gap = x != x
        filled = 0.0 if gap and not self.keep_missing else (x - self.mean) / self.deviation
        return [filled, float(gap)] if self.gaps else [filled]

    def encode(self, column: Column) -> Floats:
        cells = frames.numbers(column)
        if np.isinf(cells).any():
            row = int(np.argmax(np.isinf(cells)))
            raise NotFiniteError(
                f"Input X contains infinity, first in row {row}, column {self.name!r}. Replace it "
                "by a number, or by NaN if the cell is not known."
            )
        cells = (cells - self.mean) / self.deviation
        gaps = np.isnan(cells)
        filled = cells if self.keep_missing else np.where(gaps, 0.0, cells)
        return np.column_stack([filled, gaps]) if self.gaps else filled[:, None]


@dataclass(frozen=True, slots=True)
class Levels:
    """One for the level that a cell has; the most frequent level is the reference, and has none.

    A level never seen counts as a rare one, or as the reference where none is rare.
    """

    name: str
    reference: str | None
    levels: tuple[str, ...]  # the others
    rare: bool  # whether levels beyond these share a column
    gaps: bool

    @classmethod
    def learn(cls, column: nw.Series[Any]) -> Levels:
        cells = words(column)
        counts = Counter(cell for cell in cells if cell is not None)
        ranked = sorted(counts, key=lambda level: (-counts[level], level))
        kept = tuple(sorted(ranked[1:MOST_LEVELS]))
        gaps = len(cells) - sum(counts.values()) >= LEAST_GAPS
        first = ranked[0] if ranked else None
        return cls(column.name, first, kept, len(ranked) > MOST_LEVELS, gaps)

    @property
    def names(self) -> list[str]:
        names = [f"{self.name} = {level}" for level in self.levels]
        names += [f"{self.name} is rare"] if self.rare else []
        return [*names, f"{self.name} is missing"] if self.gaps else names

    def encode_cell(self, cell: Any) -> list[float]:
        """`encode` of one cell."""
        place, other = self._place()
        code, width = place.get(word(cell, self.name), other), self.width
        return [float(i == code) for i in range(width)]

    @property
    def width(self) -> int:
        return len(self.levels) + int(self.rare) + int(self.gaps)

    def _place(self) -> tuple[dict[str | None, int], int]:
        """The number of each level's column, and that of a level never seen; -1 is none."""
        n = len(self.levels)
        place: dict[str | None, int] = {level: i for i, level in enumerate(self.levels)}
        place[self.reference] = -1
        place[None] = n + int(self.rare) if self.gaps else -1
        return place, n if self.rare else -1

    def encode(self, column: Column) -> Floats:
        place, other = self._place()
        codes = np.array([place.get(cell, other) for cell in words(column)], np.int64)
        out = np.zeros((len(codes), self.width))
        rows = np.flatnonzero(codes >= 0)
        out[rows, codes[rows]] = 1.0
        return out


@dataclass(frozen=True, slots=True)
class Numbers:
    """Every column of a table that `Roles.prepare` made, in order."""

    columns: tuple[ScaledNumber | Levels, ...]

    @classmethod
    def learn(cls, frame: Any, keep_missing: bool = False) -> Numbers:
        """Means, deviations and levels, from the cells alone.

        Missing numbers are kept as NaN if asked, for models that can do without them; otherwise
        they are set to the mean, and a column says where.
        """
        table = frames.as_frame(frame)
        assert table is not None
        return cls(
            tuple(
                ScaledNumber.learn(column, keep_missing)
                if frames.kind(column) == "number"
                else Levels.learn(column)
                for column in table.iter_columns()
            )
        )

    def names(self) -> Array:
        return np.array([name for column in self.columns for name in column.names])

    def sources(self) -> list[int]:
        """Which column of the table each column of numbers comes from."""
        return [i for i, column in enumerate(self.columns) for _ in column.names]

    def __call__(self, frame: Any) -> Floats:
        if isinstance(frame, OneRow):
            cells = frame.cells
            return np.array([[x for c in self.columns for x in c.encode_cell(cells[c.name])]])
        table = frames.as_frame(frame)
        assert table is not None
        parts = [c.encode(table.get_column(c.name)) for c in self.columns]
        return np.ascontiguousarray(np.column_stack(parts))
