"""Reads each row of a table as one value."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from posterior.data import containers, frames
from posterior.data.cells import Column
from posterior.data.rows import CodedRows
from posterior.data.table_columns import Columns
from posterior.data.typing import Array
from posterior.readers.table import TableReader, learned_columns


@dataclass(frozen=True, slots=True)
class WholeRows(TableReader):
    """The cells of a row as text, together one category; a missing cell is a value of its own."""

    columns: Columns
    by_column: ClassVar[bool] = False

    def learn(self, X: Any) -> tuple[Self, CodedRows]:
        table = self.table(X, known=False)
        known = replace(self, columns=learned_columns(self.columns, X, table))
        return known, known._rows(table)

    def read(self, X: Any, fitting: bool = False) -> CodedRows:
        return self._rows(self.table(X))

    def _rows(self, table: Array | list[Column]) -> CodedRows:
        columns = containers.columns(table) if isinstance(table, np.ndarray) else table
        named = zip(columns, self.columns.array(), strict=True)
        cells = [frames.texts(column, name) for column, name in named]
        rows = [json.dumps(row) for row in zip(*cells, strict=True)]
        values = frames.distinct(rows)
        return CodedRows(frames.encode(rows, values)[:, None], (values,))

    @property
    def names(self) -> Array:
        """The row is one feature here."""
        return np.array(["row"])

    def widths(self) -> tuple[int, ...]:
        return (1,)

    def cells(self, X: Any) -> tuple[Any, ...]:
        return (", ".join(str(v) for v in frames.first_row(X)),)

    def to_input(self, features: Any) -> Array:
        rows = [json.loads(features.values[0][c]) for c in features.codes[:, 0]]
        return np.array(rows, dtype=object)
