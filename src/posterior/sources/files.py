"""Files become frames, whole or in pieces: CSV, Parquet, JSON lines, Arrow, folders, stdin."""

from __future__ import annotations

import difflib
import gzip
import re
import sys
import tempfile
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from posterior.sources import csv_files, parquet_files
from posterior.sources.class_folders import documents
from posterior.sources.csv_files import MISSING, typed

__all__ = ["MISSING", "File", "batches", "column_named", "format_of", "located", "read", "typed"]

BATCH_ROWS = 65_536
ENDINGS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
}


@dataclass(frozen=True, slots=True, eq=False)
class File:
    """What was read: a table of Arrow, where it comes from, and what to know about it."""

    frame: Any  # pyarrow.Table
    source: str
    notes: tuple[str, ...] = ()


def read(path: str | Path) -> File:
    """A file, a folder with one folder of documents for each class, or "-" for standard input."""
    with located(path) as place:
        source = "standard input" if str(path) == "-" else Path(path).name
        if place.is_dir():
            check_installed()
            found: tuple[Any, tuple[str, ...]] = (documents(place), ())
        else:
            found = _table(place)
    frame, notes = found
    if frame.num_rows == 0:
        raise ValueError(f"Expected rows in {source!r}, got an empty table.")
    return File(frame, source, notes)


def batches(
    path: str | Path, rows: int = BATCH_ROWS, columns: Sequence[str] | None = None
) -> Generator[Any, None, None]:
    """The same table in pieces of some rows, for files larger than memory; CSV cells are text."""
    import pyarrow as pa

    with located(path) as place:
        if place.is_dir():
            check_installed()
            yield from _sliced(documents(place), rows)
        elif format_of(place) == "arrow":
            for batch in _arrow(place):
                yield from _sliced(pa.Table.from_batches([batch]), rows)
        elif (opened := plain_parquet(place)) is not None:
            with plain_errors(place.name):
                for batch in opened.iter_batches(rows, columns=columns):
                    yield pa.Table.from_batches([batch])
        else:
            source, _ = _source(place)
            wanted = "*" if columns is None else ", ".join(map(csv_files.identifier, columns))
            with plain_errors(place.name):
                for batch in (
                    connection().sql(f"SELECT {wanted} FROM {source}").to_arrow_reader(rows)
                ):
                    yield pa.Table.from_batches([batch])


def schema(path: str | Path) -> Any:
    """Names and types of a file's columns, by a look at its beginning; those of a CSV are text."""
    with located(path) as place:
        if format_of(place) == "arrow":
            batch = next(_arrow(place), None)
            if batch is None:
                raise ValueError(f"Expected rows in {place.name!r}, got an empty table.")
            return batch.schema
        if (opened := plain_parquet(place)) is not None:
            return opened.schema_arrow.remove_metadata()
        source, _ = _source(place)
        with plain_errors(place.name):
            return connection().sql(f"SELECT * FROM {source} LIMIT 0").to_arrow_table().schema


def column_named(names: list[str], wanted: str, what: str = "column") -> str:
    """A column's name, or an error that offers the nearest one."""
    if wanted in names:
        return wanted
    folded = {name.casefold(): name for name in names}
    near = difflib.get_close_matches(wanted.casefold(), folded, n=1)
    hint = f" Did you mean {folded[near[0]]!r}?" if near else ""
    shown = ", ".join(map(repr, names[:20])) + (", ..." if len(names) > 20 else "")
    raise ValueError(f"Expected a {what} {wanted!r}, got the columns {shown}.{hint}")


def columns_named(names: Sequence[str], wanted: Sequence[str]) -> list[str]:
    """The names of several columns, or an error about the first that is not there."""
    known = frozenset(names)
    return [name if name in known else column_named([*names], name) for name in wanted]


@contextmanager
def located(path: str | Path) -> Iterator[Path]:
    """A path that exists; standard input is put into a file first."""
    if str(path) != "-":
        place = Path(path)
        if not place.exists():
            near = difflib.get_close_matches(place.name, _names_beside(place), n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise FileNotFoundError(f"Expected a file or a folder, got no such path: {path}.{hint}")
        yield place
        return
    with tempfile.TemporaryDirectory() as folder:
        content = sys.stdin.buffer.read()
        ending = ".parquet" if content[:4] == b"PAR1" else ".csv"
        ending = ".jsonl" if content.lstrip()[:1] == b"{" else ending
        place = Path(folder) / f"stdin{ending}"
        place.write_bytes(gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content)
        yield place


def _names_beside(place: Path) -> list[str]:
    return [p.name for p in place.parent.iterdir()] if place.parent.is_dir() else []


def format_of(place: Path) -> str:
    """The format that a file's ending names; anything unknown is read as CSV."""
    return _named_format(place) or "csv"


def is_table(place: Path) -> bool:
    """Whether a file's ending says that it holds a table."""
    return _named_format(place) is not None


def _named_format(place: Path) -> str | None:
    endings = [e.lower() for e in place.suffixes if e.lower() != ".gz"]
    return ENDINGS.get(endings[-1]) if endings else None


def _table(place: Path) -> tuple[Any, tuple[str, ...]]:
    if format_of(place) == "arrow":
        import pyarrow as pa

        parts = list(_arrow(place))
        return pa.Table.from_batches(parts) if parts else pa.table({}), ()
    source, notes = _source(place)
    with plain_errors(place.name):
        table = connection().sql(f"SELECT * FROM {source}").to_arrow_table()
    return (typed(table) if format_of(place) == "csv" else table), notes


def _source(place: Path) -> tuple[str, tuple[str, ...]]:
    """The file as SQL reads it, and what to know about it."""
    form, name = format_of(place), csv_files.quoted(str(place))
    if form == "parquet":
        return f"read_parquet({name})", ()
    if form == "json":
        return f"read_json({name}, maximum_object_size=100000000)", ()
    return csv_files.reading(place)


@contextmanager
def plain_errors(name: str) -> Iterator[None]:
    """Errors of DuckDB and of Arrow in one sentence."""
    import duckdb
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"Expected a table in {name!r}: {_sentence(str(error))}") from None
    except duckdb.Error as error:
        text = str(error)
        line = re.search(r"CSV Error on Line: (\d+)", text)
        found = re.search(r"(Expected Number of Columns.*|Value with unterminated quote.*)", text)
        if line:
            what = found.group(1).strip().rstrip(".") if found else text.splitlines()[0]
            raise ValueError(
                f"Expected a table in {name!r}, but line {line.group(1)} does not fit the "
                f"header: {what[0].lower() + what[1:]}."
            ) from None
        raise ValueError(
            f"Expected a table in {name!r}: {_sentence(text.splitlines()[0])}"
        ) from None


def _sentence(text: str) -> str:
    return " ".join(text.split()).rstrip(".") + "."


def check_installed() -> None:
    """An error that names the remedy where files cannot be read."""
    try:
        import duckdb  # noqa: F401
        import pyarrow  # noqa: F401
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"Reading files needs {error.name}: pip install posterior[app]."
        ) from None


def connection() -> Any:
    """A database of one's own, in memory."""
    check_installed()
    import duckdb

    opened = duckdb.connect()
    opened.execute("SET enable_progress_bar=false")
    return opened


def _arrow(place: Path) -> Iterator[Any]:
    """The batches of a file of Arrow; only what is looked at comes into memory."""
    check_installed()
    import pyarrow as pa
    from pyarrow import ipc

    with pa.OSFile(str(place), "rb") as opened:
        try:
            file = ipc.open_file(opened)
            parts = (file.get_batch(i) for i in range(file.num_record_batches))
        except pa.ArrowInvalid:
            opened.seek(0)
            try:
                parts = iter(ipc.open_stream(opened))
            except pa.ArrowInvalid as error:
                raise ValueError(f"Expected an Arrow file, got {place.name!r}: {error}.") from None
        yield from parts


def plain_parquet(place: Path) -> Any:
    """A file of Parquet that Arrow itself reads as DuckDB does."""
    if format_of(place) != "parquet":
        return None
    check_installed()
    with plain_errors(place.name):
        return parquet_files.opened(place)


def _sliced(table: Any, rows: int) -> Iterator[Any]:
    return (table.slice(i, rows) for i in range(0, table.num_rows, rows))
