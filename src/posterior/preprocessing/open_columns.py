"""Columns of a frame that comes in parts: kinds and levels are learned as rows come."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np

from posterior.data import frames
from posterior.data.typing import Array, Floats
from posterior.preprocessing.encoding import CategoryColumn, Encoding, NumberColumn


@dataclass(frozen=True, slots=True)
class OpenColumn:
    """A column of numbers, or of categories that are numbered in the order of their arrival."""

    name: str
    kind: frames.Kind | None = None  # until the first cell that is not missing
    levels: tuple[str, ...] = ()

    def read(self, column: nw.Series[Any]) -> tuple[OpenColumn, Floats]:
        """The column with what it has learned, and its cells as numbers; NaN is missing."""
        kind = frames.kind(column)
        if kind == "number":
            cells, levels = frames.numbers(column), self.levels
        else:
            words, place = frames.different(column, self.name)
            new = {w: None for w in words if w is not None and w not in self.levels}
            levels = (*self.levels, *new)
            number: dict[str | None, float] = {w: float(i) for i, w in enumerate(levels)}
            cells = np.array([*(number.get(w, np.nan) for w in words), np.nan])[place]
        if np.isnan(cells).all():
            return self, cells
        if self.kind is not None and kind != self.kind:
            raise ValueError(
                f"Expected a {self.kind} in column {self.name!r}, as in the rows before, got a "
                f"{kind}. Convert the column."
            )
        return OpenColumn(self.name, kind, levels), cells

    def closed(self, cells: Floats, weight: Floats) -> NumberColumn | CategoryColumn:
        """The coding that these cells are enough for."""
        gaps = np.isnan(cells)
        if self.kind != "category":
            known = ~gaps & (weight > 0)
            fill = float(np.average(cells[known], weights=weight[known])) if known.any() else 0.0
            return NumberColumn(self.name, fill, bool(gaps.any()))
        seen = np.unique(cells[~gaps]).astype(np.intp)
        return CategoryColumn(
            self.name, tuple(sorted(self.levels[i] for i in seen)), bool(gaps.any())
        )

    def encode(self, cells: Floats, coding: NumberColumn | CategoryColumn) -> Floats:
        if isinstance(coding, NumberColumn):
            return coding.filled(cells)
        place = {level: i for i, level in enumerate(coding.levels)}
        codes = np.array([*(place.get(level, -1) for level in self.levels), -1])
        return coding.indicators(codes[np.where(np.isnan(cells), -1, cells).astype(np.intp)])


@dataclass(frozen=True, slots=True)
class OpenColumns:
    """Every column of such a frame, in order."""

    columns: tuple[OpenColumn, ...]

    @classmethod
    def of(cls, table: nw.DataFrame[Any]) -> OpenColumns:
        return cls(tuple(OpenColumn(name) for name in table.columns))

    def read(self, table: nw.DataFrame[Any]) -> tuple[OpenColumns, Floats]:
        """The columns with what they have learned, and a table of numbers."""
        pairs = zip(self.columns, table.iter_columns(), strict=True)
        read = [column.read(cells) for column, cells in pairs]
        return OpenColumns(tuple(c for c, _ in read)), np.column_stack([c for _, c in read])

    def encoding(self, cells: Floats, weight: Floats) -> Encoding | None:
        """None where the table holds nothing but numbers."""
        closed = [c.closed(cells[:, j], weight) for j, c in enumerate(self.columns)]
        plain = all(isinstance(c, NumberColumn) and not c.gaps for c in closed)
        return None if plain else Encoding(tuple(closed))

    def encode(self, cells: Floats, encoding: Encoding | None) -> Floats:
        if encoding is None:
            return cells
        each = zip(self.columns, encoding.columns, strict=True)
        parts = [c.encode(cells[:, j], coding) for j, (c, coding) in enumerate(each)]
        return np.ascontiguousarray(np.column_stack(parts))

    @classmethod
    def reopened(cls, encoding: Encoding, X: Array) -> tuple[OpenColumns, Floats]:
        """The columns of rows that are encoded already, and their cells."""
        columns, cells, at = [], np.empty((len(X), len(encoding.columns))), 0
        for j, coding in enumerate(encoding.columns):
            part = X[:, at : at + len(coding.names)]
            at += len(coding.names)
            if isinstance(coding, NumberColumn):
                columns.append(OpenColumn(coding.name, "number"))
                cells[:, j] = part[:, 0]
            else:
                columns.append(OpenColumn(coding.name, "category", coding.levels))
                cells[:, j] = part[:, : len(coding.levels) - 1] @ np.arange(1, len(coding.levels))
            if coding.gaps:
                cells[part[:, -1] == 1, j] = np.nan
        return cls(tuple(columns)), cells
