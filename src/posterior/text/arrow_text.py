"""Columns of strings as Arrow holds them, read where they lie."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from posterior.data.rows import readable
from posterior.kernels.terms import Utf8Column

SMALL = 1 << 20  # bytes of a chunk that is not worth a block of its own


@dataclass(frozen=True, slots=True)
class ArrowText:
    """The chunks of a column of strings."""

    chunks: list[Any]

    @classmethod
    def of(cls, documents: Any) -> ArrowText | None:
        """An Arrow column of strings, or one of a library that shares Arrow's layout, else None."""
        stream = hasattr(documents, "__arrow_c_stream__")
        if not stream and not hasattr(documents, "__arrow_c_array__"):
            return None
        if str(getattr(documents, "dtype", "")) == "object":  # Arrow would have to guess
            return None
        try:
            import pyarrow as pa
        except ModuleNotFoundError:
            return None
        column = pa.chunked_array(documents) if stream else pa.chunked_array([pa.array(documents)])
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        if pa.types.is_string_view(column.type):
            column = column.cast(pa.large_string())
        if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
            return None
        return cls([chunk for chunk in column.chunks if len(chunk)])

    def __iter__(self) -> Iterator[str | None]:
        for chunk in self.chunks:
            yield from chunk.to_pylist()

    def columns(self) -> Iterator[Utf8Column]:
        """The chunks as they lie in memory; small ones are put together first."""
        number = 0
        for chunk in self._grown():
            yield _column(chunk, number)
            number += len(chunk)

    def _grown(self) -> Iterator[Any]:
        import pyarrow as pa

        small: list[Any] = []
        for chunk in self.chunks:
            small.append(chunk)
            if sum(part.nbytes for part in small) >= SMALL or chunk is self.chunks[-1]:
                yield small[0] if len(small) == 1 else pa.concat_arrays(small)
                small = []


def _column(chunk: Any, first: int) -> Utf8Column:
    _, offsets, data = chunk.buffers()
    width = np.int64 if str(chunk.type).startswith("large") else np.int32
    ends = np.frombuffer(offsets, width)[chunk.offset : chunk.offset + len(chunk) + 1]
    text = np.empty(0, np.uint8) if data is None else np.frombuffer(data, np.uint8)
    valid = chunk.is_valid().to_numpy(zero_copy_only=False) if chunk.null_count else None
    return Utf8Column(text, readable(ends), valid, first)
