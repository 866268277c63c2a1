"""Tables of Arrow as arrays, without the way over Python's numbers and strings."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from posterior.data.typing import Array, Codes

SLAB = 4096  # rows that are turned at a time, so that all their columns stay in cache


def is_table(X: Any) -> bool:
    """Whether X is a table of Arrow."""
    return _is(X, "Table")


def _is(X: Any, kind: str) -> bool:
    """Whether X is of a type of pyarrow; nothing is before that is imported."""
    arrow = sys.modules.get("pyarrow")
    return arrow is not None and isinstance(X, getattr(arrow, kind))


def numbers(table: Any) -> Array | None:
    """The rows of a table as an array, NaN where a cell is missing; None if some are no numbers."""
    columns = [column.to_numpy() for column in table.columns]
    if not columns or not all(c.dtype.kind in "fiu" and c.dtype.itemsize > 2 for c in columns):
        return None
    out = np.empty((table.num_rows, len(columns)), np.result_type(*columns))
    for i in range(0, len(out), SLAB):
        for j, column in enumerate(columns):
            out[i : i + SLAB, j] = column[i : i + SLAB]
    return out


def strings(column: Any) -> tuple[list[str], Codes] | None:
    """Different cells of a column of strings, and their codes, -1 if missing; None of others."""
    if not _is(column, "ChunkedArray") or str(column.type) not in ("string", "large_string"):
        return None
    coded = column.dictionary_encode().unify_dictionaries()
    parts = [chunk.indices.fill_null(-1).to_numpy() for chunk in coded.chunks]
    texts = coded.chunk(0).dictionary.to_pylist() if parts else []
    return texts, np.concatenate([np.empty(0, np.int32), *parts])
