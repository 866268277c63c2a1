"""Columns of any container, and what their cells mean: one rule for arrays, lists and frames.

Numbers and times are numbers; strings and truths (bool) are categories. What the cells are
decides, never what holds them: a column of strings "0" and "1" has categories in a NumPy array of
strings or of objects, in a list of lists, and in a frame of pandas, polars or Arrow.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, Literal, TypeAlias

import narwhals as nw
import numpy as np

from posterior.data.names import quoted
from posterior.data.typing import Array, Codes, Floats

Kind = Literal["number", "category", "text"]

TIMES = (date, time, timedelta)
NUMBERS = (int, float, Decimal, np.number, np.datetime64, np.timedelta64, *TIMES)
PLAIN = {int, float, bool, np.bool_, np.int64, np.float64, type(None)}  # cells NumPy reads alike
DAY, EPOCH = np.timedelta64(1, "D"), np.datetime64("1970-01-01", "us")


@dataclass(frozen=True, slots=True, eq=False)
class ArrayColumn:
    """A column of an array, with a name like that of a frame's."""

    name: Any
    cells: Array  # (n,)
    words: tuple[list[str], Codes] | None = None  # different cells and codes, -1 if missing

    @classmethod
    def of(cls, name: Any, cells: list[Any]) -> ArrayColumn:
        """A column of Python's objects, in the one type that they have, if it is one."""
        kinds = set(map(type, cells)) - {type(None)}
        if float in kinds and kinds <= {int, float}:
            return cls(name, np.array(cells, np.float64))
        if kinds == {int} and None not in cells:
            return cls(name, np.array(cells))
        if kinds not in ({str}, {bool}):
            return cls(name, _objects(cells))
        values = dict.fromkeys(cells)
        values.pop(None, None)
        code = {value: i for i, value in enumerate(values)} | {None: -1}
        codes = np.fromiter(map(code.__getitem__, cells), np.int32, len(cells))
        return cls(name, _objects(cells), ([*map(str, values)], codes))

    def __len__(self) -> int:
        return len(self.cells)

    def to_list(self) -> list[Any]:
        return self.cells.tolist()


def _objects(cells: list[Any]) -> Array:
    column = np.empty(len(cells), object)
    column[:] = cells
    return column


Column: TypeAlias = "nw.Series[Any] | ArrayColumn"


def missing(value: Any) -> bool:
    """Whether a cell holds nothing: None, NaN, or a library's own mark."""
    if value is None:
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError):  # pandas.NA refuses to say
        return True


def kind(column: Column) -> Kind:
    """Whether a column is a number or a category; an error if it is neither."""
    if isinstance(column, ArrayColumn):
        if column.words is not None or column.cells.dtype == bool:
            return "category"
        if column.cells.dtype != object:
            return "number"
    else:
        dtype = column.dtype
        if dtype in (nw.Boolean, nw.String, nw.Categorical, nw.Enum):
            return "category"
        if dtype.is_numeric() or dtype.is_temporal():
            return "number"
    return _kind_of(column.to_list(), column.name)


def _kind_of(cells: list[Any], name: Any) -> Kind:
    """What objects are, by their types."""
    kinds = set(map(type, cells)) - {type(None)}
    if _are_categories(kinds):
        return "category"
    if not _are_numbers(kinds):  # unless what remains without the missing cells is of one kind
        kinds = {type(cell) for cell in cells if not missing(cell)}
    if _are_categories(kinds):
        return "category"
    if _are_numbers(kinds):
        return "number"
    raise TypeError(
        f"Expected numbers or categories in column {quoted(name)}, got values of type "
        f"{', '.join(sorted(k.__name__ for k in kinds))}; an argument must be a string or a "
        "number. Convert the column, or leave it out."
    )


def _are_categories(kinds: Iterable[type]) -> bool:
    return all(issubclass(k, str | bool | np.bool_) for k in kinds)


def _are_numbers(kinds: Iterable[type]) -> bool:
    return all(issubclass(k, (*NUMBERS, np.bool_)) for k in kinds)


def numbers(column: Column, remedy: str = "Correct the cell") -> Floats:
    """A column as doubles, NaN where a cell is missing; times count in days.

    `remedy` is what a model advises where a cell is no number, besides marking it as missing.
    """
    cells = _array(column)
    if cells is not None and cells.dtype.kind == "M":
        return np.asarray((cells.astype("datetime64[us]", copy=False) - EPOCH) / DAY, np.float64)
    if cells is not None and cells.dtype.kind == "m":
        return np.asarray(cells.astype("timedelta64[us]") / DAY, np.float64)
    if cells is not None and cells.dtype.kind in "fiub":
        return np.asarray(cells, np.float64)
    values = column.to_list()
    if set(map(type, values)) <= PLAIN:
        return np.array(values, np.float64)
    try:
        return np.array([np.nan if missing(v) else _number(v) for v in values], np.float64)
    except (TypeError, ValueError):
        row, bad = next((i, v) for i, v in enumerate(values) if not (missing(v) or _is_number(v)))
        raise ValueError(
            f"Expected numbers in column {quoted(column.name)}, got {bad!r} in row {row}. "
            f"{remedy}, or mark it as missing."
        ) from None


def _array(column: Column) -> Array | None:
    """The cells as NumPy holds them, where it does without a look at each."""
    if isinstance(column, ArrayColumn):
        return column.cells
    dtype = column.dtype
    if dtype.is_numeric() or dtype in (nw.Datetime, nw.Date, nw.Duration):
        return column.to_numpy()
    if dtype == nw.Boolean and not column.is_null().any():
        return column.to_numpy()
    return None


def _number(value: Any) -> float:
    if isinstance(value, timedelta):
        return value / timedelta(days=1)
    if isinstance(value, time):
        return (value.hour * 60 + value.minute + value.second / 60) / 1440
    if isinstance(value, datetime) and value.tzinfo is not None:
        value = value.astimezone(UTC).replace(tzinfo=None)
    if isinstance(value, date):
        value = np.datetime64(value, "us")
    if isinstance(value, np.datetime64):
        return float((value.astype("datetime64[us]") - EPOCH) / DAY)
    if isinstance(value, np.timedelta64):
        return float(value / DAY)
    return float(value)


def _is_number(value: Any) -> bool:
    try:
        _number(value)
    except (TypeError, ValueError):
        return False
    return True
