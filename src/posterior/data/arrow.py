"""Tables of Arrow as arrays, without the way over Python's numbers and strings."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from posterior import kernels
from posterior.data.rows import readable
from posterior.data.typing import Array, Codes


def is_table(X: Any) -> bool:
    """Whether X is a table of Arrow; nothing is before that is imported."""
    arrow = sys.modules.get("pyarrow")
    return arrow is not None and isinstance(X, arrow.Table)


def is_array(X: Any) -> bool:
    """Whether X is a single column of Arrow."""
    arrow = sys.modules.get("pyarrow")
    return arrow is not None and isinstance(X, arrow.Array | arrow.ChunkedArray)


def numbers(table: Any) -> Array | None:
    """The rows of a table as an array, NaN where a cell is missing; None if some are no numbers."""
    import pyarrow.types as kinds

    types = set(table.schema.types)
    if not types or not all(kinds.is_integer(t) or kinds.is_floating(t) for t in types):
        return None
    columns = [column.to_numpy() for column in table.columns]
    kind = np.result_type(*{c.dtype for c in columns})
    kind = kind if kind.itemsize in (4, 8) else np.dtype(np.float64)
    return kernels.stack_columns([column.astype(kind, copy=False) for column in columns])


def strings(column: Any) -> tuple[list[str], Codes] | None:
    """Different cells of a column of strings, and their codes, -1 if missing; None of others."""
    if not is_array(column):
        return None
    import pyarrow.types as kinds

    type_ = column.type.value_type if kinds.is_dictionary(column.type) else column.type
    if str(type_) not in ("string", "large_string"):
        return None
    values, codes = different(column)
    return values.to_pylist(), codes


def different(column: Any) -> tuple[Any, Codes]:
    """The different cells of a column, and which of them each row has; -1 is none."""
    import pyarrow as pa

    coded = column.dictionary_encode()
    if isinstance(coded, pa.ChunkedArray):
        coded = coded.combine_chunks()
    if isinstance(coded, pa.ChunkedArray):  # which some versions keep, even if it is one
        coded = coded.chunk(0)
    values, places = coded.dictionary, coded.indices
    places = places.cast("int32").fill_null(-1) if places.null_count else places
    codes = readable(places.to_numpy()).astype(np.int32, copy=False)
    if pa.types.is_dictionary(column.type):  # codes of others, of which some may not be here
        return _present(values, codes)
    return values, codes


def _present(values: Any, codes: Codes) -> tuple[Any, Codes]:
    """The values that some rows have."""
    here = kernels.group_counts(codes, len(values)) > 0
    if here.all():
        return values, codes
    place = np.append(np.cumsum(here, dtype=np.int32) - 1, np.int32(-1))
    return values.take(np.flatnonzero(here)), place[codes]
