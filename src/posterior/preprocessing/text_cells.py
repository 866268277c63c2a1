"""The different cells of a column of text: a list, or an array of Arrow where almost all differ."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from posterior.data import arrow, frames
from posterior.data.cells import ArrayColumn, Column
from posterior.data.typing import Codes, Floats
from posterior.sources.csv_files import MISSING

Truths: TypeAlias = "NDArray[np.bool_]"
Texts: TypeAlias = Any  # list[str], or pyarrow.StringArray without gaps

FIRST = 10_000  # cells that show whether they repeat
MANY = 5_000  # different cells that Arrow reads sooner than Python
_SIGNS = {"", "?", "-", "--", "—", ".", "NaN", "NaT", "<NA>", "#N/A", "-nan"}
_SAID = {
    *("na", "n/a", "n.a.", "nan", "null", "none", "nil", "missing", "unknown", "not available"),
    *("not known", "undefined"),
}
MARKS = frozenset(  # of a cell that is not known, among numbers or dates
    _SIGNS | {spelled for w in _SAID for spelled in (w, w.upper(), w.capitalize(), w.title())}
)
WORDS = frozenset(
    {*MISSING, "n/a", "<NA>", "#N/A", "NaT"}
)  # the same, among words: Nan is a first name


@dataclass(frozen=True, slots=True, eq=False)
class TextCells:
    """The different cells of a column, how often each occurs, and which of them each row has."""

    name: str
    values: Texts
    counts: Floats
    codes: Codes  # -1 is none

    @classmethod
    def of(cls, column: Column, repeated: bool = False) -> TextCells:
        """Of a column; where almost all cells differ, each stands for itself, unless it matters."""
        name = str(column.name)
        if not repeated and (found := _unique(column)) is not None:
            values, codes = found
            return cls(name, values, np.ones(len(values)), codes)
        cells, codes = frames.different(column, column.name)
        counts = np.bincount(codes[codes >= 0], minlength=len(cells)).astype(np.float64)
        if None in cells:
            gap = cells.index(None)
            codes = np.where(codes == gap, -1, codes - (codes > gap)).astype(np.int32)
            counts = np.delete(counts, gap)
        return cls(name, [cell for cell in cells if cell is not None], counts, codes)

    def without(self, marks: Collection[str]) -> tuple[TextCells, dict[str, int]]:
        """Cells that say something, and how often each of the others occurs."""
        gaps = are_among(self.values, marks)
        if not gaps.any():
            return self, {}
        place = np.append(np.where(gaps, -1, np.cumsum(~gaps) - 1), -1).astype(np.int32)
        found = TextCells(
            self.name, chosen(self.values, ~gaps), self.counts[~gaps], place[self.codes]
        )
        told: dict[str, int] = {}
        for mark, count in zip(chosen(self.values, gaps), self.counts[gaps], strict=True):
            told[str(mark)] = told.get(str(mark), 0) + int(count)
        return found, told

    def in_rows(self, values: Any) -> Any:
        """Numbers or moments of the different cells, row by row."""
        none = np.datetime64("NaT") if values.dtype.kind == "M" else np.nan
        if len(values) == len(self.codes) and (self.codes >= 0).all() and not _is_list(self.values):
            return values
        return np.append(values, none)[self.codes]


def _unique(column: Column) -> tuple[Texts, Codes] | None:
    """The cells of a long column of Arrow whose first ones differ, and where the rows have them."""
    if isinstance(column, ArrayColumn) or len(column) < FIRST:
        return None
    cells = column.to_native()
    if not arrow.is_array(cells) or str(cells.type) not in ("string", "large_string"):
        return None
    first = cells[:FIRST].drop_null()
    if len(first.unique()) < len(first) / 2:
        return None
    codes, known = np.arange(len(cells), dtype=np.int32), cells
    if cells.null_count:
        gaps = cells.is_null().to_numpy(zero_copy_only=False)
        codes = np.where(gaps, -1, np.cumsum(~gaps) - 1).astype(np.int32)
        known = cells.drop_null()
    return getattr(known, "combine_chunks", lambda: known)(), codes


def _is_list(values: Texts) -> bool:
    return isinstance(values, list)


def listed(values: Texts, most: int | None = None) -> list[str]:
    """Some cells as strings of Python."""
    found = values[:most] if most is not None else values
    return found if _is_list(found) else found.to_pylist()


def chosen(values: Texts, which: Truths) -> Texts:
    """The cells that are wanted."""
    if _is_list(values):
        return [values[i] for i in np.flatnonzero(which).tolist()]
    import pyarrow as pa

    return values.filter(pa.array(which))


def are_among(values: Texts, marks: Collection[str]) -> Truths:
    """Which cells are marks of what is missing, with spaces around them or not."""
    if _is_list(values):
        return np.array([v in marks or v.strip() in marks for v in values], np.bool_)
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.is_in(values, pa.array(sorted(marks))).to_numpy(zero_copy_only=False)


def as_arrow(values: Texts) -> Any:
    """Many cells as Arrow reads them; an error where that is not installed."""
    import pyarrow as pa

    return pa.array(values, pa.string()) if _is_list(values) else values
