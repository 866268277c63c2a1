"""Cells of a question, column by column: JSON or Arrow becomes what the model reads.

Each column also tells which rows have no value in it, and which have a category that no training
row had.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from msgspec import Struct

from posterior.app.server.questions import decoder_of
from posterior.app.server.served_columns import Column
from posterior.data.typing import Array
from posterior.preprocessing.text_cells import MARKS
from posterior.sources.files import MISSING, column_named

if TYPE_CHECKING:
    import pyarrow as pa

Cell: TypeAlias = bool | int | float | str | None
Row: TypeAlias = Mapping[str, Cell]
NOWHERE = np.zeros(0, np.intp)


@dataclass(frozen=True, slots=True)
class Noted:
    """Rows with a missing value, and rows with an unseen category, by column."""

    missing: dict[str, Array] = field(default_factory=dict)
    unseen: dict[str, Array] = field(default_factory=dict)

    def add(self, name: str, missing: Array, unseen: Array) -> None:
        """Note the rows of a column, if there are any."""
        if len(missing):
            self.missing[name] = missing
        if len(unseen):
            self.unseen[name] = unseen


@dataclass(frozen=True, slots=True)
class Question:
    """The rows of a question as a table, and what is noted of them."""

    table: pa.Table
    noted: Noted


class ColumnCells:
    """How the cells of one column are read."""

    def __init__(self, column: Column) -> None:
        self.column, self.name = column, column.name
        self._values = frozenset(column.values)
        self._spelled = {value.casefold(): value for value in column.values}
        self._marks = MISSING if column.written is None else MARKS

    def one(self, cell: Cell) -> Cell:
        """A cell as the model reads it; None if it is missing."""
        if self.column.kind == "number":
            if type(cell) is float and math.isfinite(cell):
                return cell
            return self._number(cell)
        text = cell if type(cell) is str and cell not in MISSING else _text(cell)
        if text is None or text in self._values or self.column.kind != "category":
            return text
        return self._spelled.get(text.casefold(), text)

    def is_unseen(self, cell: Cell) -> bool:
        """Whether a cell, as the model reads it, is a category that no training row had."""
        return cell is not None and self.column.complete and cell not in self._values

    def many(self, cells: Any) -> tuple[pa.Array, Array, Array]:
        """Cells as an array, the rows where they are missing, and those where they are unseen."""
        if self.column.kind == "number":
            read = self._numbers(cells)
            unseen = NOWHERE
        else:
            read, unseen = self._words(cells)
        missing = np.flatnonzero(read.is_null()) if read.null_count else NOWHERE
        return read, missing, unseen

    def _numbers(self, cells: Any) -> pa.Array:
        import pyarrow as pa
        from pyarrow import compute

        try:  # a list of numbers and nulls, or an array of numbers
            read = cells.cast(pa.float64()) if _is_arrow(cells) else pa.array(cells, pa.float64())
            plain = not _is_arrow(cells) or not pa.types.is_string(cells.type)
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            plain = False
        if plain and compute.all(compute.is_finite(read)).as_py() in (True, None):
            return read
        listed = cells.to_pylist() if _is_arrow(cells) else cells
        return pa.array([self._number(cell) for cell in listed], pa.float64())

    def _words(self, cells: Any) -> tuple[pa.Array, Array]:
        import pyarrow as pa

        if not _is_arrow(cells):
            try:
                cells = pa.array(cells, pa.string())
            except (pa.ArrowException, TypeError):
                cells = pa.array([_text(cell) for cell in cells], pa.string())
        elif not pa.types.is_string(cells.type):
            cells = pa.array([_text(cell) for cell in cells.to_pylist()], pa.string())
        coded = cells.dictionary_encode()
        words = [self.one(word) for word in coded.dictionary.to_pylist()]
        read = pa.array(words, pa.string()).take(coded.indices)
        new = np.array([self.is_unseen(word) for word in words], np.bool_)
        if not new.any():
            return read, NOWHERE
        codes = coded.indices.fill_null(0).to_numpy(zero_copy_only=False)
        return read, np.flatnonzero(new[codes] & ~np.asarray(coded.indices.is_null()))

    def _number(self, cell: Cell) -> float | None:
        name, written = self.name, self.column.written
        if cell is None or (isinstance(cell, str) and cell.strip() in self._marks):
            return None
        if isinstance(cell, str) and written is not None:
            (value,) = written.values([cell])
            if not math.isnan(value):
                return float(value)
        try:
            value = float(cell)
        except (ValueError, OverflowError, TypeError):
            raise ValueError(
                f"Expected a number in column {name!r}, got {cell!r:.100}. Leave it empty if it is "
                "not known."
            ) from None
        if math.isinf(value):
            raise ValueError(f"Expected a finite number in column {name!r}, got {cell!r:.100}.")
        return None if math.isnan(value) else value


def _is_arrow(cells: Any) -> bool:
    return not isinstance(cells, list | tuple)


def _text(cell: Any) -> str | None:
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return None
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    if isinstance(cell, list | dict | bytes):
        raise ValueError(f"Expected a number, a word or a date in a cell, got {cell!r:.100}.")
    text = str(cell)
    return None if text in MISSING else text


class Reading:
    """How questions to a model are read; cells that a row does not name are missing.

    Columns that the model has seen and does not read are left out; any other name is an error.
    """

    def __init__(self, columns: Sequence[Column], ignored: Collection[str]) -> None:
        self.columns = {column.name: ColumnCells(column) for column in columns}
        self._known = frozenset({*self.columns, *ignored})
        self._cells: Callable[[Any], Any] = attrgetter(
            "c0", *(f"c{j}" for j in range(1, len(columns)))
        )
        names = (*self.columns, *sorted(self._known - self.columns.keys()))
        self.decoder = decoder_of(names) if columns else None

    def record(self, row: Row | Struct) -> dict[str, Cell]:
        """One row as the model reads it, all its columns in their order."""
        given = self._by_column([row])
        return {name: cells.one(given[name][0]) for name, cells in self.columns.items()}

    def rows(self, rows: Sequence[Row | Struct]) -> Question:
        """Rows of JSON, as `decode` makes them."""
        return self._question(self._by_column(rows))

    def _by_column(self, rows: Sequence[Any]) -> dict[str, Sequence[Cell]]:
        """The cells of rows, which are all of one type."""
        if isinstance(rows[0], Struct):
            if len(self.columns) == 1:
                return {name: [self._cells(row) for row in rows] for name in self.columns}
            return dict(zip(self.columns, zip(*map(self._cells, rows), strict=True), strict=True))
        self.check(set().union(*rows))
        return {name: [row.get(name) for row in rows] for name in self.columns}

    def arrays(self, given: Mapping[str, Any], n_rows: int) -> Question:
        """Columns of cells, as lists or Arrow arrays of one length."""
        import pyarrow as pa

        self.check(given.keys())
        empty = pa.nulls(n_rows)
        return self._question({name: given.get(name, empty) for name in self.columns})

    def noted(self, table: pa.Table) -> Noted:
        """What is missing or unseen in a table that was read from a file."""
        noted = Noted()
        for name in self.columns.keys() & {*table.column_names}:
            _, missing, unseen = self.columns[name].many(table.column(name).combine_chunks())
            noted.add(name, missing, unseen)
        return noted

    def check(self, names: Collection[str]) -> None:
        """Raise at a name that the model does not know, with the nearest that it does."""
        for name in names:
            if name not in self._known:
                column_named([*self.columns], name)

    def _question(self, given: Mapping[str, Any]) -> Question:
        import pyarrow as pa

        read, noted = {}, Noted()
        for name, cells in given.items():
            read[name], missing, unseen = self.columns[name].many(cells)
            noted.add(name, missing, unseen)
        return Question(pa.table(read), noted)
