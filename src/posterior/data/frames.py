"""Frames of pandas, polars, pyarrow and others, through narwhals: columns by name and kind."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, Literal

import narwhals as nw
import numpy as np

from posterior.data import arrow
from posterior.data.names import plain, quoted
from posterior.data.typing import Array, Codes, Floats

Kind = Literal["number", "category", "text"]

TIMES = (date, time, timedelta)
TEXTS, WORDS = 20, 5  # texts are more than so many, and have so many words on average,
FEW_WORDS, LETTERS = 3, 40  # or so many that are long
SOME = 1000  # different values that stand for all
EPOCH = np.datetime64("1970-01-01", "us")


def as_frame(X: Any) -> nw.DataFrame[Any] | None:
    """The frame behind any library's object, or None if it is no frame."""
    if isinstance(X, np.ndarray | list | tuple):
        return None
    if hasattr(X, "collect"):
        raise TypeError(
            f"Expected a frame that has its rows, got {type(X).__name__}: collect() it."
        )
    frame = nw.from_native(X, pass_through=True, eager_only=True)
    return frame if isinstance(frame, nw.DataFrame) else None


def split_target(X: Any, name: str) -> tuple[Any, Array]:
    """A frame without its target column, and the column."""
    frame = as_frame(X)
    if frame is None:
        raise TypeError(
            f"Expected a frame in memory, to find the target column {name!r} in, got "
            f"{type(X).__name__}."
        )
    if name not in frame.columns:
        raise ValueError(f"Expected a target column {name!r}, got columns {frame.columns}.")
    cells = frame.get_column(name).to_list()
    target = np.array(cells, dtype=object if any(map(missing, cells)) else None)
    return frame.drop(name).to_native(), target


def take(rows: Any, index: Any) -> Any:
    """Some rows of an array, a list, or a frame of any library."""
    if isinstance(rows, np.ndarray):
        return rows[index]
    if isinstance(rows, list):
        return [rows[i] for i in index]
    table = as_frame(rows)
    assert table is not None
    return table[np.asarray(index, np.int64), :].to_native()


def first_row(X: Any) -> tuple[Any, ...]:
    """The cells of the first row, as they stand in the table."""
    frame = as_frame(X)
    if frame is not None:
        return tuple(frame.row(0))
    if hasattr(X, "toarray"):
        return tuple(X[:1].toarray()[0])
    return tuple(np.asarray(X)[0])


def kind(column: nw.Series[Any]) -> Kind:
    """Whether a column is a number or a category; an error if it is neither."""
    dtype = column.dtype
    if dtype == nw.Boolean:
        return "category"
    if dtype.is_numeric() or dtype.is_temporal():
        return "number"
    if dtype in (nw.String, nw.Categorical, nw.Enum):
        return "category"
    kinds = {type(v) for v in column.to_list() if not missing(v)}
    if kinds <= {str, bool, np.bool_}:
        return "category"
    if all(issubclass(k, (int, float, Decimal, np.number, *TIMES)) for k in kinds):
        return "number"
    names = sorted(k.__name__ for k in kinds)
    raise TypeError(
        f"Expected numbers or categories in column {column.name!r}, got values of type "
        f"{', '.join(names)}. Convert the column, or leave it out."
    )


def kind_or_text(column: nw.Series[Any]) -> Kind:
    """The same, where strings that hardly repeat and have many words are text."""
    found = kind(column)
    if found != "category" or column.dtype == nw.Boolean:
        return found
    known = strings(column)
    if known is None:
        texts = are_texts([cell for cell in column.to_list() if not missing(cell)])
    else:
        values, codes = known
        texts = are_sentences(values[:SOME], len(values), int((codes >= 0).sum()))
    return "text" if texts else found


def are_texts(cells: Sequence[Any]) -> bool:
    """Whether strings are sentences rather than names of kinds."""
    values = list({cell: None for cell in cells if isinstance(cell, str)})
    return are_sentences(values[:SOME], len(values), len(cells))


def are_sentences(some: Sequence[str], n_values: int, n_cells: int) -> bool:
    """The same, from some of the different values."""
    if n_values <= TEXTS or n_values <= 0.3 * n_cells:
        return False
    words = sum(len(value.split()) for value in some) / len(some)
    letters = sum(map(len, some)) / len(some)
    return words >= WORDS or (words >= FEW_WORDS and letters >= LETTERS)


def missing(value: Any) -> bool:
    """Whether a cell holds nothing: None, NaN, or a library's own mark."""
    if value is None:
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError):  # pandas.NA refuses to say
        return True


def numbers(column: nw.Series[Any]) -> Floats:
    """A column as doubles, NaN where a cell is missing; times count in days."""
    if column.dtype.is_numeric():
        cells = column.to_numpy()
        if cells.dtype.kind in "fiu" or not column.is_null().any():
            return np.asarray(cells, np.float64)
    values = column.to_list()
    try:
        return np.array([np.nan if missing(v) else _number(v) for v in values])
    except (TypeError, ValueError):
        row, bad = next((i, v) for i, v in enumerate(values) if not (missing(v) or _is_number(v)))
        raise ValueError(
            f"Expected numbers in column {column.name!r}, got {bad!r} in row {row}. Make it a "
            'category, families={...: "categorical"}, or mark the cell as missing.'
        ) from None


def _number(value: Any) -> float:
    if isinstance(value, timedelta):
        return value / timedelta(days=1)
    if isinstance(value, time):
        return (value.hour * 60 + value.minute + value.second / 60) / 1440
    if isinstance(value, datetime) and value.tzinfo is not None:
        value = value.astimezone(UTC).replace(tzinfo=None)
    if isinstance(value, date):
        return float((np.datetime64(value, "us") - EPOCH) / np.timedelta64(1, "D"))
    return float(value)


def _is_number(value: Any) -> bool:
    try:
        _number(value)
    except (TypeError, ValueError):
        return False
    return True


def items(column: Sequence[Any], name: Any) -> list[str | None]:
    """Cells as text, None where missing: 1, 1.0 and "1" are one category in every chunk."""
    return [
        v if type(v) is str else None if missing(v) else _item(v, row, name)
        for row, v in enumerate(column)
    ]


def _item(value: Any, row: int, name: Any) -> str:
    value = plain(value)
    if isinstance(value, float):
        if value in (np.inf, -np.inf):
            raise ValueError(
                f"Input X contains infinity, first in row {row}, column {quoted(name)}. Replace it "
                "by a value, or by NaN if the cell is not known."
            )
        return str(int(value)) if value.is_integer() else repr(value)
    if isinstance(value, list | tuple | dict | set | np.ndarray):
        raise TypeError(
            f"Expected one value a cell, got {type(value).__name__} in row {row}, column "
            f"{quoted(name)}: a cell must be a string or a number."
        )
    return str(value)


def distinct(cells: Sequence[str | None]) -> Array:
    """The sorted values of some cells."""
    texts = sorted(text for text in set(cells) if text is not None)
    # NumPy's strings lose zeros at their end
    plain_text = not any(text.endswith("\0") for text in texts)
    return np.array(texts, dtype="<U1" if not texts else None if plain_text else object)


def encode(cells: Sequence[str | None], values: Array) -> Array:
    """Codes of cells among sorted values: -1 if missing, beyond the last if not among them."""
    code = {v: i for i, v in enumerate(values.tolist())}
    unseen = len(values)
    codes = (-1 if v is None else code.get(v, unseen) for v in cells)
    return np.fromiter(codes, np.int32, len(cells))


def strings(column: nw.Series[Any]) -> tuple[list[str], Codes] | None:
    """Different strings of a column, and their codes, -1 if missing, if Arrow can tell them."""
    if column.dtype not in (nw.String, nw.Categorical, nw.Enum):
        return None
    try:
        return arrow.strings(column.to_native()) or arrow.strings(column.to_arrow())
    except (ImportError, TypeError, ValueError):  # no Arrow here, or cells that it does not hold
        return None


def coded(column: nw.Series[Any], name: Any) -> tuple[Array, Array]:
    """Codes of the cells, -1 where missing, and the sorted values, as text."""
    known = strings(column)
    if known is None:
        return coded_cells(column.to_list(), name)
    texts, codes = known
    values = distinct(texts)
    return np.append(encode(texts, values), np.int32(-1))[codes], values


def coded_cells(column: Sequence[Any], name: Any) -> tuple[Array, Array]:
    """The same of a list of cells."""
    cells = items(column, name)
    values = distinct(cells)
    return encode(cells, values), values


def from_columns(columns: dict[str, Any], backend: Any = None) -> nw.DataFrame[Any]:
    """A frame of the library asked for, or of whichever is installed."""
    for library in (backend,) if backend is not None else ("pandas", "polars", "pyarrow"):
        try:
            return nw.from_dict(columns, backend=library)
        except ModuleNotFoundError:
            continue
    raise ModuleNotFoundError(
        "A table of words needs a frame library: pip install pandas, polars or pyarrow."
    )
