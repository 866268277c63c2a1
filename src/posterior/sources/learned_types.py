"""Cells of text as the types that a model has learned.

A CSV file has no types. Training decides them by looking at all cells of a column; later files are
read by what training decided, so that a piece of few rows cannot be misread.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

Types = dict[str, str]  # column -> name of its type in Arrow


def types_of(table: pa.Table) -> Types:
    """What the cells of each column are."""
    return {field.name: str(field.type) for field in table.schema}


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
