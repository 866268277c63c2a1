"""Tables in files, read in batches."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from itertools import chain
from operator import add
from pathlib import Path
from typing import Any

from posterior.sources import csv_files, files, parquet_files
from posterior.sources.connections import plain_errors
from posterior.sources.formats import UNTYPED, is_packed
from posterior.sources.places import TableFile, matching_places
from posterior.sources.source import Batch, Source


@dataclass(frozen=True, eq=False)
class Files(Source):
    """One table in one or more files, one after the other.

    Columns stand in the order of the first file; a column has one type in all files, and in CSV
    files the one that all its cells have.
    """

    paths: tuple[Path, ...]
    rows: int = files.BATCH_ROWS  # of a batch
    given: Any = None  # schema of the columns that are wanted; otherwise of all, as they are found
    part: str | None = None  # sheet of a workbook, or table of a database

    @property
    def names(self) -> list[str]:
        """The columns."""
        return list(self._described[0].schema.names if self.given is None else self.given.names)

    def select(self, names: Sequence[str]) -> Files:
        """Some of the columns."""
        import pyarrow as pa

        return replace(self, given=pa.schema([self.schema.field(name) for name in names]))

    @cached_property
    def schema(self) -> Any:
        """The columns with their types; reads all cells of CSV files once."""
        import pyarrow as pa

        if self.given is not None:
            return self.given
        if self._texts is not None:
            types = [cells.type for cells in self._texts.columns]
            return pa.schema(list(zip(self.names, types, strict=True)))
        schemas = [file.schema for file in self._described]
        ordered = [pa.schema([s.field(name) for name in self.names]) for s in schemas]
        try:
            return pa.unify_schemas(ordered, promote_options="permissive").remove_metadata()
        except pa.ArrowTypeError as error:
            raise ValueError(
                f"Expected columns of the same types in all of {len(ordered)} files, but: {error}."
            ) from None

    @cached_property
    def n_rows(self) -> int | None:
        """How many rows there are, if that is known before they are read."""
        if self._format != "parquet" or any(map(is_packed, self.paths)):
            return None if self.given is not None or self._texts is None else self._texts.rows
        from pyarrow import parquet

        return sum(parquet.read_metadata(path).num_rows for path in self.paths)

    def identity(self) -> dict[str, Any]:
        """The columns, and the size and time of each file."""
        states = {str(path): os.stat(path) for path in self.paths}
        stamps = {path: [state.st_size, state.st_mtime_ns] for path, state in states.items()}
        part = {} if self.part is None else {"part": self.part}
        return Source.identity(self) | part | stamps

    def batches(self) -> Generator[Batch, None, None]:
        """The rows of all files."""
        return (batch for _, batch in self.pieces())

    def parts(self) -> list[Iterator[Batch]]:
        """The same rows, in parts that can be read at the same time.

        Columns of few strings come as codes, if that is how the files have them.
        """
        import pyarrow as pa

        footers = [files.plain_parquet(path) for path in self.paths]
        if any(footer is None for footer in footers):
            return [self.batches()]
        few = set.intersection(*(parquet_files.few_strings(f, self.rows) for f in footers))
        codes = pa.dictionary(pa.int32(), pa.string())
        schema = pa.schema([f.with_type(codes) if f.name in few else f for f in self.schema])
        spans = [
            self._span(span, footer.metadata, schema)
            for path, footer in zip(self.paths, footers, strict=True)
            for span in parquet_files.spans(path, footer.metadata)
        ]
        return [chain.from_iterable(spans)] if parquet_files.is_wide(schema) else spans

    def _span(self, span: parquet_files.Span, metadata: Any, schema: Any) -> Iterator[Batch]:
        first = span.first
        with plain_errors(span.path.name):
            for table in parquet_files.tables(span, metadata, schema, self.rows):
                yield Batch(csv_files.cast(table, schema), str(span.path), first)
                first += table.num_rows

    def pieces(self, plain: bool = False) -> Iterator[tuple[Any, Batch]]:
        """The rows as the files have them, and as batches; plain ones stay as they are."""
        for path in self.paths:
            first = 0
            for table in self._tables(path):
                frame = table if plain else csv_files.cast(table, self.schema)
                yield table, Batch(frame, str(path), first)
                first += table.num_rows

    @property
    def is_text(self) -> bool:
        """Whether cells have no types of their own."""
        return self._format in UNTYPED

    @property
    def _format(self) -> str:
        return self._described[0].form

    @cached_property
    def _described(self) -> list[TableFile]:
        """The columns of each file, the same ones in all."""
        found = [files.described(path, self.part) for path in self.paths]
        for file in found:
            file.check_like(found[0])
        return found

    @cached_property
    def _texts(self) -> csv_files.Texts | None:
        """What the cells of CSV files hold."""
        if not self.is_text:
            return None
        tables = (table for path in self.paths for table in self._tables(path))
        nothing = csv_files.Texts((csv_files.Cells(),) * len(self.names), 0)
        return reduce(add, map(csv_files.Texts.of, tables), nothing)

    def _tables(self, path: Path) -> Iterator[Any]:
        names, some = self.names, None if self.given is None else self.given.names
        with closing(files.batches(path, self.rows, some, self.part)) as tables:
            for table in tables:
                if table.num_rows:
                    yield table.select(names)


def matching(path: str | Path | Sequence[str | Path], part: str | None = None) -> Files:
    """The files that a path, a pattern, a folder of tables, or a list of these names."""
    given = [path] if isinstance(path, str | Path) else list(path)
    if not given:
        raise ValueError("Expected one path or more, got an empty list.")
    found = tuple(place for each in given for place in matching_places(each))
    return Files(found, part=part)
