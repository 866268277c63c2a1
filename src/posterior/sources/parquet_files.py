"""Files of Parquet whose columns Arrow itself reads as DuckDB does, in a fraction of the time.

Nothing but the pages in use is in memory, however large the row groups are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ALIKE = {"bool", "date32[day]", "double", "float", "string", "timestamp[us]"}
ALIKE |= {f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}
SPAN_ROWS = 1 << 20  # of the row groups that are read together, if they are small
WIDE = 32  # columns
BUFFER = 1 << 16  # bytes that are read at a time of a column
FEW_BYTES = 2  # of a cell, if a column's strings are so few that they are written as codes


@dataclass(frozen=True, slots=True)
class Span:
    """Row groups of a file, one after the other: what one thread may read while others read on."""

    path: Path
    first: int  # row
    groups: tuple[int, ...]


def opened(path: Path) -> Any:
    """The file, if all its columns are alike."""
    file = _opened(path)
    return file if all(str(kind) in ALIKE for kind in file.schema_arrow.types) else None


def _opened(path: Path, **options: Any) -> Any:
    from pyarrow import parquet

    return parquet.ParquetFile(path, pre_buffer=False, buffer_size=BUFFER, **options)


def spans(path: Path, metadata: Any) -> Iterator[Span]:
    """All row groups of a file, in order."""
    first, n, groups = 0, 0, []
    for i in range(metadata.num_row_groups):
        n += metadata.row_group(i).num_rows
        groups.append(i)
        if n >= SPAN_ROWS or i == metadata.num_row_groups - 1:
            yield Span(path, first, tuple(groups))
            first, n, groups = first + n, 0, []


def tables(span: Span, metadata: Any, schema: Any, rows: int) -> Iterator[Any]:
    """The rows of a span, some at a time; columns of codes are read as such."""
    import pyarrow as pa

    coded = [field.name for field in schema if pa.types.is_dictionary(field.type)]
    with _opened(span.path, metadata=metadata, read_dictionary=coded) as file:
        groups, names = list(span.groups), schema.names
        for batch in file.iter_batches(rows, groups, names, use_threads=is_wide(schema)):
            if batch.num_rows:
                yield pa.Table.from_batches([batch]).select(schema.names)


def is_wide(schema: Any) -> bool:
    """Whether threads share the columns, not the row groups: of each, pages are in memory."""
    return len(schema) > WIDE


def few_strings(file: Any, batch_rows: int) -> set[str]:
    """Columns of so few different strings that the file itself has their codes.

    Codes end with their row group, which must therefore not be much smaller than a batch.
    """
    metadata = file.metadata
    if metadata.num_rows < metadata.num_row_groups * batch_rows // 4:
        return set()
    groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
    return {
        field.name
        for j, field in enumerate(file.schema_arrow)
        if str(field.type) == "string" and all(_is_coded(group.column(j)) for group in groups)
    }


def _is_coded(chunk: Any) -> bool:
    return chunk.has_dictionary_page and chunk.total_uncompressed_size <= (
        FEW_BYTES * chunk.num_values
    )
