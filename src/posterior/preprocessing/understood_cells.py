"""Cells of text as the numbers, dates and gaps that they mean, in a column of any library."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, TypeAlias

import narwhals as nw
import numpy as np

from posterior.data import frames
from posterior.data.cells import ArrayColumn, Column
from posterior.data.names import quoted
from posterior.preprocessing.dates import WrittenDates
from posterior.preprocessing.text_cells import (
    MARKS,
    WORDS,
    TextCells,
    Texts,
    Truths,
    are_among,
    listed,
)
from posterior.preprocessing.written_numbers import WrittenNumbers

Written: TypeAlias = WrittenNumbers | WrittenDates


def understood(column: Column, written: Written | None, missing: Collection[str]) -> Any:
    """What the cells mean; those that have a type of their own stay as they are.

    `missing` are cells that stand for a gap, besides marks such as "?".
    """
    if _has_type(column):
        if isinstance(written, WrittenDates) and written.is_count and not _is_temporal(column):
            return _like(column, written.counted(frames.numbers(column)))
        return column
    cells = TextCells.of(column, repeated=written is None)
    if written is None:
        gaps = _gaps(cells.values, WORDS, missing)
        words = [None if gap else cell for cell, gap in zip(cells.values, gaps, strict=True)]
        return _like(column, np.array([*words, None], object)[cells.codes])
    values = written.values(cells.values)
    if missing:
        gap = np.datetime64("NaT") if values.dtype.kind == "M" else np.nan
        values[are_among(cells.values, missing)] = gap
    if (none := np.isnan(values)).any():
        bad = none & ~_gaps(cells.values, MARKS, missing)
        if bad.any():
            row = int(np.flatnonzero(np.append(bad, False)[cells.codes])[0])
            (cell,) = listed(cells.values[cells.codes[row] :], 1)
            raise ValueError(
                f"Expected {written.what} in column {quoted(column.name)}, got {cell!r} in row "
                f"{row}. Correct the cell, or leave it empty if it is not known."
            )
    return _like(column, cells.in_rows(values))


def _gaps(cells: Texts, marks: Collection[str], missing: Collection[str]) -> Truths:
    """Which cells stand for one that is not known."""
    found = are_among(cells, marks)
    return found | are_among(cells, missing) if missing else found


def is_gap(cell: str, missing: Collection[str]) -> bool:
    """Whether a cell of words stands for a missing one."""
    bare = cell.strip()
    return cell in WORDS or bare in WORDS or cell in missing or bare in missing


def _has_type(column: Column) -> bool:
    """Whether cells are numbers, times or truths, rather than text, or of several types."""
    if isinstance(column, ArrayColumn):
        if column.words is not None or column.cells.dtype.kind == "U":
            return frames.are_truths(column)
        cells = column.cells
        return cells.dtype != object or not any(isinstance(cell, str) for cell in cells)
    dtype = column.dtype
    return bool(dtype.is_numeric() or dtype.is_temporal() or dtype == nw.Boolean)


def _is_temporal(column: Column) -> bool:
    if isinstance(column, ArrayColumn):
        cells = column.cells
        return cells.dtype.kind == "M" or any(isinstance(cell, frames.TIMES) for cell in cells)
    return bool(column.dtype.is_temporal())


def _like(column: Column, values: Any) -> Column:
    """Other cells in a column of the same library."""
    if isinstance(column, ArrayColumn):
        words = values.dtype == object
        return (
            ArrayColumn.of(column.name, values.tolist())
            if words
            else ArrayColumn(column.name, values)
        )
    if column.implementation.is_pyarrow():
        import pyarrow as pa

        cells = pa.chunked_array([pa.array(values, from_pandas=True)])
        return nw.from_native(cells, series_only=True).alias(str(column.name))
    return nw.new_series(str(column.name), values, backend=column.implementation)
