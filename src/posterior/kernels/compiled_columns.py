"""The compiled columns; their twins are in `posterior.kernels.columns`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse

import posterior.kernels._compiled as _compiled
from posterior.data.rows import SparseRows
from posterior.data.typing import Array, Integers

WORDS = {4: np.uint32, 8: np.uint64}  # cells are moved as they are, whatever they mean


def stack_columns(columns: Sequence[Array]) -> Array:
    """Columns (n,) of one type side by side, as the rows of a table (n, d)."""
    out = np.empty((len(columns[0]), len(columns)), columns[0].dtype)
    word = WORDS[out.dtype.itemsize]
    words = [np.require(column, None, ["C", "A"]).view(word) for column in columns]
    _compiled.stack_columns(words, out.view(word))
    return out


def take_columns(X: SparseRows, columns: Integers) -> sparse.csc_array:
    """Some columns of sparse rows, as float64, column by column."""
    place = np.full(X.n_columns, -1, np.int32)
    place[columns] = np.arange(len(columns))
    rows, start = (X.data, X.column, X.start, place), np.empty(len(columns) + 1, X.start.dtype)
    _compiled.take_columns(*rows, start, None, None)
    data, row = np.empty(start[-1]), np.empty(start[-1], start.dtype)
    _compiled.take_columns(*rows, start, data, row)
    taken = sparse.csc_array((data, row, start), shape=(X.shape[0], len(columns)))
    taken.sum_duplicates()
    return taken
