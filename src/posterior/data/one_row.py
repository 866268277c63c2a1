"""One row of a table as plain cells by name: read without what a frame costs for each column.

Cells are those that Python has, and those that frame libraries give; they mean what they mean in a
column of a frame (`posterior.data.cells`), and are refused in the same words.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from narwhals.dependencies import is_pandas_dataframe

from posterior.data import frames
from posterior.data.cells import ArrayColumn, numbers
from posterior.data.rows import CodedRows
from posterior.data.typing import Array, Floats

LARGEST = 2**63  # beyond, a column of whole numbers is no array of them
NOTHING: Array = np.empty(0, object)


@dataclass(frozen=True, slots=True, eq=False)
class OneRow:
    """Cells by the names of their columns, in order."""

    cells: Mapping[str, Any]

    @classmethod
    def of(cls, names: Iterable[str], cells: Iterable[Any]) -> OneRow:
        return cls(dict(zip(names, cells, strict=True)))

    @classmethod
    def of_frame(cls, X: Any) -> OneRow | None:
        """The row of a frame that has one, and names of columns that differ; None of others."""
        if is_pandas_dataframe(X):
            if len(X) != 1:
                return None
            names, cells = X.columns.tolist(), X.to_numpy(dtype=object)[0].tolist()
        else:
            frame = frames.as_frame(X)
            if frame is None or len(frame) != 1:
                return None
            names, cells = frame.columns, frame.row(0)
        row = cls.of(names, cells)
        named = len(row.cells) == len(names) and all(isinstance(name, str) for name in names)
        return row if named else None

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.cells)

    def numbers(self) -> Floats:
        """All cells as doubles, (1, d)."""
        return np.array([[number(cell, name) for name, cell in self.cells.items()]], np.float64)

    def column(self, name: str) -> ArrayColumn:
        """A cell as a column of its own."""
        return ArrayColumn.of(name, [self.cells[name]])


def number(cell: Any, name: Any, remedy: str = "Correct the cell") -> float:
    """A cell as a double, NaN if it is missing, as `posterior.data.cells.numbers` reads it."""
    kind = type(cell)
    if kind is float:
        return float(cell)
    if kind is int and -LARGEST < cell < LARGEST:
        return float(cell)
    if cell is None:
        return np.nan
    return float(numbers(ArrayColumn.of(name, [cell]), remedy)[0])


def word(cell: Any, name: Any) -> str | None:
    """A cell as text, None if it is missing, as `posterior.data.frames.items` reads it."""
    return cell if type(cell) is str else frames.items([cell], name)[0]


def coded(cells: Sequence[Any], names: Sequence[Any]) -> CodedRows:
    """Categories of one row, each the only value of its column."""
    words = [word(cell, name) for cell, name in zip(cells, names, strict=True)]
    codes = np.array([[-1 if w is None else 0 for w in words]], np.int32)
    return CodedRows(codes, tuple(NOTHING if w is None else np.array([w], object) for w in words))
