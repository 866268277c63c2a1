"""Tables from any container: an array of numbers, or columns that know what their cells are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import narwhals as nw
import numpy as np
from scipy import sparse

from posterior import kernels
from posterior.data import arrow, frames
from posterior.data.cells import ArrayColumn, Column, kind, numbers
from posterior.data.typing import Array

TEXTS = "TextClassifier reads documents; a column of texts is a frame, or [[text], [text], ...]"
CONVERT = "Convert the column to numbers, or leave it out"
REMEDIES = {
    "pandas": ("frame.iloc[[0]]", 'frame[["name"]]'),
    "polars": ("frame[[0]]", 'frame.select("name")'),
    "pyarrow": ("table.slice(0, 1)", 'table.select(["name"])'),
}


def read(X: Any) -> Array | list[Column]:
    """An array of numbers, or the columns of a table that holds others as well."""
    frame = frames.as_frame(X)
    if frame is not None:
        _check_size(*frame.shape)
        rows = number_rows(frame)
        return _columns(frame) if rows is None else rows
    refuse_flat(X)
    table = array(X)
    if table.dtype.kind not in "bOUmM" or table.ndim != 2:
        return table
    _check_size(*table.shape)
    found = columns(table)
    if table.dtype == bool or any(kind(column) != "number" for column in found):
        return found
    if any(isinstance(c, ArrayColumn) and c.cells.dtype.kind in "iuO" for c in found):
        return found  # doubles might round whole numbers, which may be asked to be categories
    return kernels.stack_columns([numbers(column) for column in found])


def split(X: Any) -> list[Column]:
    """The columns of a table, be they numbers or not."""
    frame = frames.as_frame(X)
    if frame is not None:
        return _columns(frame)
    refuse_flat(X)
    return columns(array(X))


def _columns(frame: nw.DataFrame[Any]) -> list[Column]:
    """The columns of a frame; objects in the type that they have."""
    return [
        ArrayColumn.of(column.name, column.to_list()) if column.dtype == nw.Object else column
        for column in frame.iter_columns()
    ]


def array(X: Any) -> Array:
    """An array of what is no frame; objects where lists hold words, or truths beside numbers."""
    return np.asarray(X, dtype=object if isinstance(X, list | tuple) and _mixes(X) else None)


def _mixes(X: Sequence[Any]) -> bool:
    """Whether rows hold cells of which NumPy would make others."""
    if not all(isinstance(row, list | tuple) for row in X):
        return False
    kinds = set(map(type, chain.from_iterable(X)))
    return str in kinds or (len(kinds) > 1 and bool in kinds)


def columns(table: Array) -> list[Column]:
    """The columns of an array, by their places."""
    if table.dtype.kind in "OU":
        return [ArrayColumn.of(str(j), cells.tolist()) for j, cells in enumerate(table.T)]
    return [ArrayColumn(str(j), cells) for j, cells in enumerate(np.ascontiguousarray(table.T))]


def number_rows(frame: nw.DataFrame[Any], doubles: bool = False) -> Array | None:
    """The rows of a frame of numbers, each as it is; None of others.

    If asked for doubles, whole numbers may be rounded to them, and truths are 0 and 1.
    """
    native, library = frame.to_native(), frame.implementation
    rows: Array | None = None
    whole = False  # whether there are columns of whole numbers
    if library.is_pyarrow():
        rows = arrow.numbers(native)
        whole = any(str(k).startswith(("int", "uint")) for k in set(native.schema.types))
    elif library.is_pandas() and all(isinstance(k, np.dtype) for k in set(native.dtypes)):
        kinds = {k.kind for k in set(native.dtypes)}
        rows = native.to_numpy() if kinds <= {*"fiu"} or kinds == {"b"} else None
        whole = not kinds.isdisjoint("iu")
    elif library.is_polars() and all(k.is_integer() or k.is_float() for k in set(native.dtypes)):
        rows = native.to_numpy()
        whole = any(k.is_integer() for k in set(native.dtypes))
    if rows is not None and rows.dtype.kind in ("fiub" if doubles else "f" if not whole else "iu"):
        return rows
    dtypes = set(frame.schema.dtypes())
    read = all(k.is_float() or (doubles and (k.is_numeric() or k == nw.Boolean)) for k in dtypes)
    if not dtypes or not read:
        return None
    return kernels.stack_columns([numbers(column) for column in frame.iter_columns()])


def _check_size(n_rows: int, n_columns: int) -> None:
    if n_rows == 0 or n_columns == 0:
        raise ValueError(
            f"Found array with {n_rows} sample(s) and {n_columns} feature(s) while a minimum of 1 "
            "is required."
        )


def refuse_flat(X: Any) -> None:
    """Say what to pass instead of a single row or column of a frame."""
    if isinstance(X, np.ndarray | list | tuple):
        if len(X) and all(isinstance(cell, str) for cell in X):
            raise ValueError(
                f"Expected a table of rows and columns, got {len(X)} strings. {TEXTS}."
            )
        return
    if isinstance(X, Mapping) and not sparse.issparse(X):  # some of which are dictionaries
        raise TypeError(
            f"Expected a table of rows and columns, got a {type(X).__name__}. Pass one row as "
            "pandas.DataFrame([row]), and columns as pandas.DataFrame(columns)."
        )
    series = nw.from_native(X, allow_series=True, eager_only=True, pass_through=True)
    if not (isinstance(series, nw.Series) or arrow.is_array(X)):
        return
    library = type(X).__module__.partition(".")[0]
    row, column = REMEDIES.get(library, REMEDIES["pandas"])
    raise ValueError(
        f"Expected a table of rows and columns, got one {type(X).__name__} of {len(X)} cells. Pass "
        f"one row as {row}, and one column as {column}."
    )


def plain_numbers(X: Any, remedy: str) -> Any:
    """Numbers and truths of any container as an array of numbers; others as they are."""
    refuse_words(X, remedy)
    frame = frames.as_frame(X)
    if frame is not None:
        rows = number_rows(frame, doubles=True)
        rows = frame.to_numpy() if rows is None else rows
    else:
        rows = X if sparse.issparse(X) else np.asarray(X)
    return rows.astype(np.float64) if rows.dtype.kind in "bO" else rows


def refuse_words(X: Any, remedy: str) -> None:
    """Refuse what is no table of numbers: digits in quotes are words, whatever holds them."""
    frame = frames.as_frame(X)
    found: list[Column] = []
    if frame is not None:
        found = [c for c in frame.iter_columns() if c.dtype in (nw.String, nw.Object, nw.Unknown)]
    else:
        refuse_flat(X)
        if isinstance(X, np.ndarray) and X.dtype == object and X.ndim == 2:
            found = columns(X)
    for column in found:
        cells = column.to_list()
        if any(issubclass(k, str) for k in set(map(type, cells))):
            row = next(i for i, cell in enumerate(cells) if isinstance(cell, str))
            raise ValueError(
                f"Expected numbers in column {column.name!r}, got {cells[row]!r} in row {row}. "
                f"{remedy}."
            )
