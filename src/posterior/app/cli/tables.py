"""Tables that a model reads: whole to learn from, in pieces to answer, cells as they were learned.

A CSV file has no types. Training decides them by looking at all cells of a column; later files are
read by what training decided, so that a piece of few rows cannot be misread.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

Types = dict[str, str]  # column -> name of its type in Arrow


def name_of(path: str, otherwise: str) -> str:
    """What a file is called, without its folder and its ending."""
    return Path(path).name.split(".")[0].removeprefix("-") or otherwise


def types_of(table: pa.Table) -> Types:
    """What the cells of each column are."""
    return {field.name: str(field.type) for field in table.schema}


def pieces(path: str, types: Types | None) -> Iterator[tuple[pa.Table, pa.Table]]:
    """A table some rows at a time: as the file has it, and as a model reads it.

    Without types, each piece is read by what it holds itself.
    """
    from posterior.data import files

    first_row = 1
    for piece in files.batches(path):
        read = files.typed(piece) if types is None else as_learned(piece, types, first_row)
        yield piece, read
        first_row += piece.num_rows
    if first_row == 1:
        raise ValueError(f"Expected rows in {path}, got an empty table.")


def as_learned(table: pa.Table, types: Types, first_row: int = 1) -> pa.Table:
    """Cells of text as the types say; columns that were not learned stay as they are."""
    for place, name in enumerate(table.column_names):
        if _is_text(str(table.schema.field(name).type)) and not _is_text(types.get(name, "string")):
            cells = _converted(table.column(name), types[name], name, first_row)
            table = table.set_column(place, name, cells)
    return table


def _is_text(kind: str) -> bool:
    return kind in ("string", "large_string", "string_view") or kind.startswith("dictionary")


def _converted(cells: Any, kind: str, name: str, first_row: int) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    if kind == "bool":
        small = pc.utf8_lower(cells)
        cells = pc.if_else(pc.is_in(small, pa.array(["true", "false"])), small, cells)
    else:
        cells = pc.utf8_trim_whitespace(cells)
    goal = pa.timestamp("us") if kind.startswith(("timestamp", "date")) else pa.type_for_alias(kind)
    try:
        return pc.cast(cells, goal)
    except pa.ArrowInvalid:
        pass
    if kind.startswith("int"):  # whole numbers so far, and now others
        return _converted(cells, "double", name, first_row)
    words = {"double": "numbers", "bool": "true or false"}.get(kind, "dates")
    row, bad = next(
        (i, c) for i, c in enumerate(cells.to_pylist(), first_row) if not _fits(c, goal)
    )
    raise ValueError(
        f"Expected {words} in column {name!r}, got {bad!r} in row {row}. Correct the cell, or "
        "leave it empty if it is not known."
    )


def _fits(cell: str | None, goal: Any) -> bool:
    import pyarrow as pa

    try:
        pa.scalar(cell).cast(goal)
    except pa.ArrowInvalid:
        return False
    return True


def row_of(path: str, number: int) -> pa.Table:
    """One row of a table, its cells as the file has them; 1 is the first below the header."""
    from posterior.data import files

    n_rows = 0
    for piece in files.batches(path):
        if n_rows + piece.num_rows >= number:
            return piece.slice(number - 1 - n_rows, 1)
        n_rows += piece.num_rows
    raise ValueError(f"Expected a row of {path} from 1 to {n_rows:,}, got {number:,}.")


def with_cells(
    row: pa.Table | None, columns: list[str], cells: list[str], types: Types | None
) -> pa.Table:
    """A row, or an empty one of some columns, with cells as COLUMN=VALUE says."""
    import pyarrow as pa

    from posterior.data.files import MISSING, column_named, typed

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
