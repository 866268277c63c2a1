"""Rows of JSON become the table or the texts that a model reads."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from posterior.app.server.served_columns import Column
from posterior.sources.files import MISSING, column_named

if TYPE_CHECKING:
    import pyarrow as pa

Cell: TypeAlias = bool | int | float | str | None
Row: TypeAlias = Mapping[str, Cell]


def table_of(rows: Sequence[Row], columns: Sequence[Column], ignored: Collection[str]) -> pa.Table:
    """A table of the columns; cells that a row does not name are missing.

    Columns that the model has seen and does not read are left out; any other name is an error.
    """
    import pyarrow as pa

    names = [column.name for column in columns]
    known = {*names, *ignored}
    for row in rows:
        for name in row.keys() - known:
            column_named(names, name)  # raises, with the nearest name
    return pa.table({c.name: _column(c, [row.get(c.name) for row in rows]) for c in columns})


def _column(column: Column, cells: Sequence[Cell]) -> Any:
    import pyarrow as pa

    if column.kind == "number":
        return pa.array([_number(column.name, cell) for cell in cells], pa.float64())
    if column.kind == "category":
        spelled = {value.casefold(): value for value in column.values}
        texts = (_text(cell) for cell in cells)
        words = [None if t is None else _spelled(t, column.values, spelled) for t in texts]
        return pa.array(words, pa.string())
    return pa.array([_text(cell) for cell in cells], pa.string())


def _spelled(text: str, values: Sequence[str], spelled: Mapping[str, str]) -> str:
    """A word as the model has it: true is True."""
    return text if text in values else spelled.get(text.casefold(), text)


def _number(name: str, cell: Cell) -> float | None:
    if cell is None or (isinstance(cell, str) and cell.strip() in MISSING):
        return None
    try:
        value = float(cell)
    except (ValueError, OverflowError):
        raise ValueError(
            f"Expected a number in column {name!r}, got {cell!r:.100}. Leave it empty if it is not "
            "known."
        ) from None
    if math.isinf(value):
        raise ValueError(f"Expected a finite number in column {name!r}, got {cell!r:.100}.")
    return None if math.isnan(value) else value


def _text(cell: Cell) -> str | None:
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return None
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    text = str(cell)
    return None if text in MISSING else text
