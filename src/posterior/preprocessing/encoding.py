"""A mixed table as numbers: categories by a reference level, missing cells by an indicator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from posterior.data import frames
from posterior.data.cells import Column
from posterior.data.typing import Array, Floats


@dataclass(frozen=True, slots=True)
class NumberColumn:
    """The number itself; where it is missing, a usual value, and one in a column of its own."""

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
        cells = frames.numbers(column)
        gaps = np.isnan(cells)
        if gaps.any() and not self.gaps:
            raise ValueError(
                f"Input X contains NaN, first in row {int(gaps.argmax())}, column {self.name!r}, "
                "which had no missing cells when the model was fitted. Fill it in."
            )
        filled = np.where(gaps, self.fill, cells)
        return np.column_stack([filled, gaps]) if self.gaps else filled[:, None]


@dataclass(frozen=True, slots=True)
class CategoryColumn:
    """One for the level that a cell has; none for the first level, the reference.

    A missing cell, and a level never seen, has a column of its own if cells were missing before,
    and else counts as the reference.
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
        codes = np.append(frames.encode(texts, np.array(self.levels, dtype=object)), -1)[place]
        known = (codes >= 0) & (codes < len(self.levels))
        places = np.where(known, codes - 1, len(self.levels) - 1 if self.gaps else -1)
        out = np.zeros((len(codes), len(self.names)))
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

    def __call__(self, table: Sequence[Column]) -> Floats:
        parts = zip(self.columns, table, strict=True)
        return np.ascontiguousarray(np.column_stack([c.encode(cells) for c, cells in parts]))


def empty(name: str) -> ValueError:
    return ValueError(
        f"Expected cells in column {name!r}, but all its cells are missing. Leave the column out."
    )
