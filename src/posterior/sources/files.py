"""Files become frames, whole or in pieces: CSV, workbooks, Parquet, databases, folders, stdin."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from posterior.sources import csv_layout, databases, parquet_files, workbooks
from posterior.sources.class_folders import documents, holds_classes
from posterior.sources.connections import check_installed, connection, plain_errors
from posterior.sources.csv_files import MISSING, quoted, typed
from posterior.sources.formats import beginning_of, format_of, is_packed
from posterior.sources.naming import did_you_mean
from posterior.sources.opened_table import OpenedTable, in_memory, queried
from posterior.sources.places import TableFile, is_pattern, located, matching_places, tables_in
from posterior.sources.unpacking import unpacked

__all__ = ["MISSING", "File", "batches", "column_named", "read", "typed"]

BATCH_ROWS = 65_536


@dataclass(frozen=True, slots=True, eq=False)
class File:
    """What was read: a table of Arrow, where it comes from, and what to know about it."""

    frame: Any  # pyarrow.Table
    source: str
    notes: tuple[str, ...] = ()


def read(path: str | Path, part: str | None = None) -> File:
    """A table: a file, files that match a pattern, a folder, or "-" for standard input.

    Of a workbook, the first sheet, or the `part` that is named or numbered; of a database, the one
    table, or the `part` that is named. A folder holds tables, or documents in a folder a class.
    """
    import pyarrow as pa

    source = "standard input" if str(path) == "-" else Path(path).name
    pieces: list[Any] = []
    notes: list[str] = []
    n_files, is_text = 0, False
    for table in _each(path, part):
        names = pieces[0].column_names if pieces else table.schema.names
        pieces += [table.schema.empty_table().select(names)]
        whole = table.whole() if table.whole is not None else None
        found = table.pieces(16 * BATCH_ROWS, None) if whole is None else [whole]
        pieces += (piece.select(names) for piece in found)
        notes += table.notes
        n_files, is_text = n_files + 1, table.is_text
    try:
        frame = pa.concat_tables(pieces, promote_options="permissive" if n_files > 1 else "none")
    except pa.ArrowException as error:
        raise ValueError(
            f"Expected columns of the same types in all of {n_files} files, but: {error}."
        ) from None
    if frame.num_rows == 0:
        raise ValueError(f"Expected rows in {source!r}, got an empty table.")
    if n_files > 1:
        notes.insert(0, f"{n_files} files are read as one table.")
    return File(typed(frame) if is_text else frame, source, tuple(dict.fromkeys(notes)))


def batches(
    path: str | Path,
    rows: int = BATCH_ROWS,
    columns: Sequence[str] | None = None,
    part: str | None = None,
) -> Generator[Any, None, None]:
    """The same table in pieces of some rows, for files larger than memory; CSV cells are text."""
    names: Sequence[str] | None = columns
    for table in _each(path, part):
        names = table.schema.names if names is None else names
        for piece in table.pieces(rows, columns):
            yield piece.select(names)


def described(place: Path, part: str | None = None) -> TableFile:
    """Format, names and types of a file's columns; those of a CSV are text."""
    with opened(place, part) as table:
        return TableFile(place, table.form, table.schema.remove_metadata())


def column_named(names: list[str], wanted: str, what: str = "column") -> str:
    """A column's name, or an error that offers the nearest one."""
    if wanted in names:
        return wanted
    shown = ", ".join(map(repr, names[:20])) + (", ..." if len(names) > 20 else "")
    hint = did_you_mean(wanted, names)
    raise ValueError(f"Expected a {what} {wanted!r}, got the columns {shown}.{hint}")


def columns_named(names: Sequence[str], wanted: Sequence[str]) -> list[str]:
    """The names of several columns, or an error about the first that is not there."""
    known = frozenset(names)
    return [name if name in known else column_named([*names], name) for name in wanted]


def _each(path: str | Path, part: str | None) -> Iterator[OpenedTable]:
    """The files of a table, one after the other, each open until the next is asked for."""
    first = None
    with _places(path) as places:
        for place in places:
            with opened(place, part) as table:
                found = TableFile(place, table.form, table.schema)
                first = first or found
                found.check_like(first)
                yield table


@contextmanager
def _places(path: str | Path) -> Iterator[list[Path]]:
    if is_pattern(path):
        yield matching_places(path)
        return
    with located(path) as place:
        yield matching_places(path) if place.is_dir() and not _is_documents(place) else [place]


def _is_documents(folder: Path) -> bool:
    """Whether a folder holds documents by class, and no tables but perhaps a text beside them."""
    texts = all(place.suffix.lower() == ".txt" for place in tables_in(folder))
    return texts and holds_classes(folder)


@contextmanager
def opened(place: Path, part: str | None = None) -> Iterator[OpenedTable]:
    """The table of one file, or of a folder of documents."""
    check_installed()
    if place.is_dir():
        yield in_memory("documents", documents(place))
        return
    with unpacked(place) as (file, notes), _opened(file, part) as table:
        _check_distinct(table.schema.names, place.name)
        yield replace(table, notes=notes + table.notes)


def _check_distinct(names: Sequence[str], place: str) -> None:
    """Refuse names that occur twice, as Arrow allows them to."""
    if len(set(names)) < len(names):
        name = next(name for name in names if names.count(name) > 1)
        raise ValueError(
            f"Expected columns of different names in {place!r}, got {name!r} "
            f"{names.count(name)} times. Rename them."
        )


@contextmanager
def _opened(place: Path, part: str | None) -> Iterator[OpenedTable]:
    form = format_of(place)
    if part is not None and form not in ("workbook", "database"):
        raise ValueError(
            f"Expected a workbook or a database to take {part!r} from, got {place.name!r}."
        )
    if form == "csv":
        layout = csv_layout.layout(place)
        with csv_layout.as_utf8(place, layout) as plain:
            yield _csv(plain, layout, place.name)
    elif form == "workbook":
        yield in_memory(form, *workbooks.sheet(place, part))
    elif form == "database":
        with databases.opened(place, part) as table:
            yield table
    elif form == "arrow":
        with _arrow(place) as table:
            yield table
    elif form == "json":
        source = f"read_json({quoted(str(place))}, maximum_object_size=100000000)"
        yield _queried(form, source, place.name)
    elif (file := plain_parquet(place)) is not None:
        yield _parquet(file, place)
    else:
        yield _queried(form, f"read_parquet({quoted(str(place))})", place.name)


def _csv(place: Path, layout: csv_layout.Layout, name: str) -> OpenedTable:
    """Cells of text: by Arrow at once, or by DuckDB as they are asked for, if they are many."""
    import pyarrow as pa

    from posterior.sources import plain_csv

    whole = partial(plain_csv.read, place, layout)

    def pieces(rows: int, columns: Sequence[str] | None) -> Iterator[Any]:
        few = whole() if place.stat().st_size <= plain_csv.PIECE else None
        if few is not None:
            return in_memory("csv", few).pieces(rows, columns)
        return _queried("csv", csv_layout.sql(place, layout), name).pieces(rows, columns)

    schema = pa.schema([(column, pa.string()) for column in layout.names])
    return OpenedTable("csv", schema, pieces, layout.notes, whole)


def _queried(form: str, source: str, name: str, notes: tuple[str, ...] = ()) -> OpenedTable:
    with plain_errors(name):
        relation = connection().sql(f"SELECT * FROM {source}")
    return queried(form, relation, name, notes)


def plain_parquet(place: Path) -> Any:
    """A file of Parquet that Arrow itself reads as DuckDB does."""
    if format_of(place) != "parquet" or is_packed(place):
        return None
    check_installed()
    with plain_errors(place.name):
        return parquet_files.opened(place)


def _parquet(file: Any, place: Path) -> OpenedTable:
    import pyarrow as pa

    def pieces(rows: int, columns: Sequence[str] | None) -> Iterator[Any]:
        with plain_errors(place.name):
            for batch in file.iter_batches(rows, columns=columns):
                yield pa.Table.from_batches([batch])

    return OpenedTable("parquet", file.schema_arrow.remove_metadata(), pieces)


@contextmanager
def _arrow(place: Path) -> Iterator[OpenedTable]:
    """A file of Arrow; only what is looked at comes into memory."""
    import pyarrow as pa
    from pyarrow import ipc

    with pa.OSFile(str(place), "rb") as file:
        try:
            reader = ipc.open_file(file)
            parts = (reader.get_batch(i) for i in range(reader.num_record_batches))
        except pa.ArrowInvalid as error:
            if beginning_of(place).startswith(b"ARROW1"):  # as a stream, that is a size of 1.3 GB
                raise ValueError(f"Expected an Arrow file, got {place.name!r}: {error}.") from None
            file.seek(0)
            try:
                reader = ipc.open_stream(file)
            except pa.ArrowException as error:
                raise ValueError(f"Expected an Arrow file, got {place.name!r}: {error}.") from None
            parts = iter(reader)

        def pieces(rows: int, columns: Sequence[str] | None) -> Iterator[Any]:
            with plain_errors(place.name):
                for batch in parts:
                    batch.validate(full=True)  # bytes that are no text would be found much later
                    yield from in_memory("arrow", pa.Table.from_batches([batch])).pieces(
                        rows, columns
                    )

        yield OpenedTable("arrow", reader.schema, pieces)
