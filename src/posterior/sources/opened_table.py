"""A table in a file that is open: its columns, and its rows in pieces."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from posterior.sources.connections import plain_errors
from posterior.sources.csv_files import identifier
from posterior.sources.formats import UNTYPED

Pieces = Callable[[int, Sequence[str] | None], Iterator[Any]]  # of rows and columns; None is all


@dataclass(frozen=True, slots=True, eq=False)
class OpenedTable:
    """What all formats have in common, while the file is open."""

    form: str
    schema: Any
    pieces: Pieces
    notes: tuple[str, ...] = ()
    whole: Callable[[], Any] | None = None  # all rows at once, or None where that is not sooner

    @property
    def is_text(self) -> bool:
        """Whether columns have no types of their own, and cells come as text."""
        return self.form in UNTYPED


def in_memory(form: str, table: Any, notes: tuple[str, ...] = ()) -> OpenedTable:
    """A table that was read as a whole."""

    def pieces(rows: int, columns: Sequence[str] | None) -> Iterator[Any]:
        some = table if columns is None else table.select(list(columns))
        return (some.slice(i, rows) for i in range(0, some.num_rows, rows))

    return OpenedTable(form, table.schema, pieces, notes)


def queried(form: str, relation: Any, name: str, notes: tuple[str, ...] = ()) -> OpenedTable:
    """A table that DuckDB reads as its rows are asked for."""
    import pyarrow as pa

    def pieces(rows: int, columns: Sequence[str] | None) -> Iterator[Any]:
        some = relation if columns is None else relation.select(*map(identifier, columns))
        with plain_errors(name):
            for batch in some.to_arrow_reader(rows):
                yield pa.Table.from_batches([batch])

    with plain_errors(name):
        schema = relation.limit(0).to_arrow_table().schema
    return OpenedTable(form, schema, pieces, notes)
