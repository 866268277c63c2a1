"""Columns of tables: side by side as rows, or some of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from posterior.data.rows import SparseRows
from posterior.data.typing import Array, Integers


def stack_columns(columns: Sequence[Array]) -> Array:
    """Columns (n,) of one type side by side, as the rows of a table (n, d)."""
    return np.stack(columns, axis=1)


def take_columns(X: SparseRows, columns: Integers) -> sparse.csc_array:
    """Some columns of sparse rows, as float64, column by column."""
    taken = X.scipy()[:, columns].tocsc().astype(np.float64)
    taken.sum_duplicates()
    return taken
