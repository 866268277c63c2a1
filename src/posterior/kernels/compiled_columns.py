"""The compiled columns; their twins are in `posterior.kernels.columns`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import posterior.kernels._compiled as _compiled
from posterior.data.typing import Array

WORDS = {4: np.uint32, 8: np.uint64}  # cells are moved as they are, whatever they mean


def stack_columns(columns: Sequence[Array]) -> Array:
    """Columns (n,) of one type side by side, as the rows of a table (n, d)."""
    out = np.empty((len(columns[0]), len(columns)), columns[0].dtype)
    word = WORDS[out.dtype.itemsize]
    words = [np.ascontiguousarray(column).view(word) for column in columns]
    _compiled.stack_columns(words, out.view(word))
    return out
