"""Frames of pandas, polars, pyarrow and others, through narwhals: columns by name and kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import narwhals as nw
import numpy as np
from scipy import sparse

from posterior.data import arrow
from posterior.data.cells import TIMES as TIMES
from posterior.data.cells import ArrayColumn, Column
from posterior.data.cells import Kind as Kind
from posterior.data.cells import kind as kind
from posterior.data.cells import missing as missing
from posterior.data.cells import numbers as numbers
from posterior.data.names import plain, quoted
from posterior.data.typing import Array, Codes

TEXTS, WORDS = 20, 5  # texts are more than so many, and have so many words on average,
FEW_WORDS, LETTERS = 3, 40  # or so many that are long
SOME = 1000  # different values that stand for all


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


def split_target(X: Any, name: str, what: str = "target") -> tuple[Any, Array]:
    """A frame without its target column, and the column."""
    frame = as_frame(X)
    if frame is None:
        raise TypeError(
            f"Expected a frame in memory, to find the {what} column {name!r} in, got "
            f"{type(X).__name__}."
        )
    if name not in frame.columns:
        raise ValueError(f"Expected a {what} column {name!r}, got columns {frame.columns}.")
    cells = frame.get_column(name).to_list()
    target = np.array(cells, dtype=object if any(map(missing, cells)) else None)
    return frame.drop(name).to_native(), target


def take(rows: Any, index: Any) -> Any:
    """Some rows of an array, a list, a sparse matrix, or a frame of any library."""
    if isinstance(rows, np.ndarray):
        return rows[index]
    if sparse.issparse(rows):
        return rows.tocsr()[index]
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


def kind_or_text(column: Column) -> Kind:
    """The kind, where strings that hardly repeat and have many words are text."""
    found = kind(column)
    if found != "category" or are_truths(column):
        return found
    known = strings(column)
    if known is None:
        sentences = are_texts([cell for cell in column.to_list() if not missing(cell)])
    else:
        values, codes = known
        sentences = are_sentences(values[:SOME], len(values), int((codes >= 0).sum()))
    return "text" if sentences else found


def are_truths(column: Column) -> bool:
    """Whether the type of a column says that its cells are true or false."""
    if isinstance(column, ArrayColumn):
        return column.cells.dtype == bool
    return column.dtype == nw.Boolean


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


def strings(column: Column) -> tuple[list[str], Codes] | None:
    """Different strings of a column, and their codes, -1 if missing; None if there are others."""
    if isinstance(column, ArrayColumn):
        return column.words
    if column.dtype not in (nw.String, nw.Categorical, nw.Enum):
        return None
    try:
        return arrow.strings(column.to_native()) or arrow.strings(column.to_arrow())
    except (ImportError, TypeError, ValueError):  # no Arrow here, or cells that it does not hold
        return None


def coded(column: Column, name: Any) -> tuple[Array, Array]:
    """Codes of the cells, -1 where missing, and the sorted values, as text."""
    cells, codes = different(column, name)
    values = distinct(cells)
    return np.append(encode(cells, values), np.int32(-1))[codes], values


def different(column: Column, name: Any) -> tuple[list[str | None], Codes]:
    """The different cells of a column as text, and which of them each row has; -1 is none."""
    if are_truths(column):
        return _truths(column)
    if (words := strings(column)) is not None:
        return [*words[0]], words[1]
    if (measured := _numbers(column, name)) is not None:
        return measured
    cells = items(column.to_list(), name)
    place = {text: code for code, text in enumerate(dict.fromkeys(cells))}
    return [*place], np.fromiter(map(place.__getitem__, cells), np.int32, len(cells))


def texts(column: Column, name: Any) -> Array:
    """Cells as text, None where missing, as an array of objects."""
    kind(column)  # refuses cells that are no values
    values, codes = different(column, name)
    return np.array([*values, None], dtype=object)[codes]


def _truths(column: Column) -> tuple[list[str | None], Codes]:
    if isinstance(column, ArrayColumn):
        true, gap = column.cells, None
    else:
        true, gap = column.fill_null(value=False).to_numpy(), column.is_null().to_numpy()
    n_true, n_gaps = int(np.count_nonzero(true)), 0 if gap is None else int(np.count_nonzero(gap))
    seen = [str(v) for v, n in ((False, len(true) - n_true - n_gaps), (True, n_true)) if n]
    codes = true.astype(np.int32) if len(seen) == 2 else np.zeros(len(true), np.int32)
    if n_gaps:
        codes[gap] = -1
    return [*seen], codes


def _numbers(column: Column, name: Any) -> tuple[list[str | None], Codes] | None:
    """The same of numbers that NumPy holds; few different ones stand in many cells."""
    if isinstance(column, ArrayColumn):
        cells, known = column.cells, np.ones(len(column), bool)
    elif column.dtype.is_numeric():  # whole numbers stay whole beside missing cells
        cells, known = column.drop_nulls().to_numpy(), ~column.is_null().to_numpy()
    else:
        return None
    if cells.dtype.kind not in "fiu":
        return None
    if cells.dtype.kind == "f" and np.isinf(cells).any():
        items(column.to_list(), name)  # says in which row
    codes = np.full(len(column), -1, np.int32)
    values, codes[known] = np.unique(cells, return_inverse=True)
    return items(values.tolist(), name), codes


def of_record(record: Mapping[str, Any], known: Sequence[str] = ()) -> Any:
    """A frame of one row, {column: cell}; columns that are known in the order of those."""
    names = known if {*known} == {*record} else record
    return from_columns({name: [record[name]] for name in names}).to_native()


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
