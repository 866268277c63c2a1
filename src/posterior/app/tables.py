"""Tables that a model reads: in pieces to answer, and one row to explain."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from posterior.sources.learned_types import Types, as_learned

if TYPE_CHECKING:
    import pyarrow as pa


def name_of(path: str, otherwise: str) -> str:
    """What a file is called, without its folder and its ending."""
    name = Path(path).name.split(".")[0].removeprefix("-")
    return otherwise if not name or set(name) & set("*?[") else name


def pieces(
    path: str, types: Types | None, part: str | None = None
) -> Iterator[tuple[pa.Table, pa.Table]]:
    """A table some rows at a time: as the file has it, and as a model reads it.

    Without types, each piece is read by what it holds itself.
    """
    from posterior.sources import files

    first_row = 1
    for piece in files.batches(path, part=part):
        read = files.typed(piece) if types is None else as_learned(piece, types, first_row)
        yield piece, read
        first_row += piece.num_rows
    if first_row == 1:
        raise ValueError(f"Expected rows in {path}, got an empty table.")


def row_of(path: str, number: int, part: str | None = None) -> pa.Table:
    """One row of a table, its cells as the file has them; 1 is the first below the header."""
    from posterior.sources import files

    n_rows = 0
    for piece in files.batches(path, part=part):
        if n_rows + piece.num_rows >= number:
            return piece.slice(number - 1 - n_rows, 1)
        n_rows += piece.num_rows
    if n_rows == 0:
        raise ValueError(f"Expected rows in {path}, got an empty table.")
    raise ValueError(f"Expected a row of {path} from 1 to {n_rows:,}, got {number:,}.")


def with_cells(
    row: pa.Table | None, columns: list[str], cells: list[str], types: Types | None
) -> pa.Table:
    """A row, or an empty one of some columns, with cells as COLUMN=VALUE says."""
    import pyarrow as pa

    from posterior.sources.files import MISSING, column_named, typed

    if row is None:
        row = pa.table({name: pa.array([None], pa.string()) for name in columns})
    for cell in cells:
        name, sign, value = cell.partition("=")
        if not sign:
            raise ValueError(f"Expected COLUMN=VALUE, got {cell!r}.")
        place = row.column_names.index(column_named(row.column_names, name))
        text = pa.array([None if value in MISSING else value], pa.string())
        row = row.set_column(place, row.column_names[place], text)
    return as_learned(row, types) if types else typed(row)
