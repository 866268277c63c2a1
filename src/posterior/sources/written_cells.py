"""Cells of Python as a CSV file would have them, where a column has no type: text, or missing."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from posterior.sources.csv_files import MISSING

if TYPE_CHECKING:
    import pyarrow as pa

LARGEST = 2**53  # up to here, a double that is whole is one whole number


def table(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> pa.Table:
    """Rows of cells as columns of text."""
    import pyarrow as pa

    columns = zip(*rows, strict=True) if rows else [()] * len(names)
    cells = [pa.array(map(written, column), pa.string()) for column in columns]
    return pa.table(cells, names=list(names))


def written(cell: Any) -> str | None:
    """One cell as text that reads back as the same number, date or truth value."""
    if isinstance(cell, str):
        return None if cell.strip() in MISSING else cell
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float):
        if cell != cell:
            return None
        return str(int(cell)) if cell.is_integer() and abs(cell) <= LARGEST else repr(cell)
    if isinstance(cell, datetime):
        return cell.isoformat(" ") if cell.time() != cell.time().min else str(cell.date())
    if cell is None or isinstance(cell, bytes):  # pictures and other things without words
        return None
    return cell.isoformat() if isinstance(cell, date) else str(cell)
