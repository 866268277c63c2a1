"""Files become frames: CSV, Parquet, JSON lines, Arrow, standard input, folders of documents.

DuckDB reads the cells of a CSV as text; a column is then made numbers, dates or booleans where all
its cells are. So "007" stays a word, "t" stays a letter, and no guess depends on the first rows.
"""

from __future__ import annotations

import codecs
import csv
import difflib
import gzip
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MISSING = ("", "?", "NA", "N/A", "NaN", "nan", "NULL", "null")  # "Nan" is a first name
DELIMITERS = ",;\t|"
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
NUMBER = r"^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$"
PADDED = r"^\s*[+-]?0\d"  # 007 is a name


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
            found: tuple[Any, tuple[str, ...]] = (documents(place), ())
        else:
            found = _table(place)
    frame, notes = found
    if frame.num_rows == 0:
        raise ValueError(f"Expected rows in {source!r}, got an empty table.")
    return File(frame, source, notes)


def batches(path: str | Path, rows: int = 65_536) -> Iterator[Any]:
    """The same table in pieces of some rows, for files larger than memory; CSV cells are text."""
    with located(path) as place:
        form = format_of(place)
        if place.is_dir() or form == "arrow":
            table = documents(place) if place.is_dir() else _arrow(place)
            yield from (table.slice(i, rows) for i in range(0, table.num_rows, rows))
            return
        source, _ = _source(place, form)
        import pyarrow as pa

        with _plain_errors(place):
            for batch in _connection().sql(f"SELECT * FROM {source}").to_arrow_reader(rows):
                yield pa.Table.from_batches([batch])


def column_named(names: list[str], wanted: str, what: str = "column") -> str:
    """A column's name, or an error that offers the nearest one."""
    if wanted in names:
        return wanted
    folded = {name.casefold(): name for name in names}
    near = difflib.get_close_matches(wanted.casefold(), folded, n=1)
    hint = f" Did you mean {folded[near[0]]!r}?" if near else ""
    shown = ", ".join(map(repr, names[:20])) + (", ..." if len(names) > 20 else "")
    raise ValueError(f"Expected a {what} {wanted!r}, got the columns {shown}.{hint}")


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
    endings = [e.lower() for e in place.suffixes if e.lower() != ".gz"]
    return ENDINGS.get(endings[-1], "csv") if endings else "csv"


def _table(place: Path) -> tuple[Any, tuple[str, ...]]:
    form = format_of(place)
    if form == "arrow":
        return _arrow(place), ()
    source, notes = _source(place, form)
    with _plain_errors(place):
        table = _connection().sql(f"SELECT * FROM {source}").to_arrow_table()
    return (typed(table) if form == "csv" else table), notes


def _source(place: Path, form: str) -> tuple[str, tuple[str, ...]]:
    """The file as SQL reads it, and what to know about it."""
    name = _quoted(str(place))
    if form == "parquet":
        return f"read_parquet({name})", ()
    if form == "json":
        return f"read_json({name}, maximum_object_size=100000000)", ()
    head, encoding = _head(place)
    notes: tuple[str, ...] = ()
    if encoding == "latin-1":
        notes = (
            f"{place.name} is not UTF-8, and was read as Latin-1: see whether letters such as é "
            "look right.",
        )
    missing = ", ".join(f"'{m}'" for m in MISSING)
    delimiter = _delimiter(head)
    names = _names(next(csv.reader([head.rstrip("\r\n")], delimiter=delimiter)))
    columns = ", ".join(f"{_quoted(name)}: 'VARCHAR'" for name in names)
    return (
        f"read_csv({name}, header=true, auto_detect=false, columns={{{columns}}}, "
        f"delim='{delimiter}', "
        f"quote='\"', escape='\"', nullstr=[{missing}], encoding='{encoding}', "
        "max_line_size=100000000)",
        notes,
    )


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _names(header: list[str]) -> list[str]:
    """Names that are all there and differ, also where the header's do not."""
    names: list[str] = []
    taken: set[str] = set()
    for j, cell in enumerate(header):
        name = plain = cell.strip() or f"column {j + 1}"
        repeat = 2
        while name.casefold() in taken:
            name, repeat = f"{plain} {repeat}", repeat + 1
        names.append(name)
        taken.add(name.casefold())
    return names


def _head(place: Path) -> tuple[str, str]:
    """The first line, and the encoding of the file."""
    opened = gzip.open if place.suffix.lower() == ".gz" else open
    encoding = "utf-8"
    try:
        with opened(place, "rb") as lines:
            first = lines.readline().removeprefix(b"\xef\xbb\xbf")
            block = first
            decoder = codecs.getincrementaldecoder("utf-8")()
            while block:
                decoder.decode(block)
                block = lines.read(1 << 20)
            decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        encoding = "latin-1"
    except (OSError, EOFError) as error:
        raise ValueError(f"Expected to read {place.name!r}, but: {error}.") from None
    if b"\0" in first:
        raise ValueError(
            f"Expected text in {place.name!r}, got bytes that are none. Files of CSV, JSON lines, "
            "Parquet and Arrow are read by their ending."
        )
    if not first.strip():
        raise ValueError(f"Expected a header line in {place.name!r}, got an empty one.")
    return first.decode(encoding), encoding


def _delimiter(head: str) -> str:
    """The sign that parts most cells of the header; quoted ones do not count."""
    bare = re.sub(r'"[^"]*"', "", head)
    return max(DELIMITERS, key=bare.count)


@contextmanager
def _plain_errors(place: Path) -> Iterator[None]:
    """DuckDB's errors in one sentence."""
    import duckdb

    try:
        yield
    except duckdb.Error as error:
        text = str(error)
        line = re.search(r"CSV Error on Line: (\d+)", text)
        found = re.search(r"(Expected Number of Columns.*|Value with unterminated quote.*)", text)
        if line:
            what = found.group(1).strip().rstrip(".") if found else text.splitlines()[0]
            raise ValueError(
                f"Expected a table in {place.name!r}, but line {line.group(1)} does not fit the "
                f"header: {what[0].lower() + what[1:]}."
            ) from None
        raise ValueError(f"Expected a table in {place.name!r}: {text.splitlines()[0]}") from None


def _connection() -> Any:
    try:
        import duckdb
        import pyarrow  # noqa: F401
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"Reading files needs {error.name}: pip install posterior[app]."
        ) from None
    connection = duckdb.connect()
    connection.execute("SET enable_progress_bar=false")
    return connection


def _arrow(place: Path) -> Any:
    _connection()
    import pyarrow as pa
    from pyarrow import feather, ipc

    try:
        return feather.read_table(place)
    except pa.ArrowInvalid:
        try:
            return ipc.open_stream(place.read_bytes()).read_all()
        except pa.ArrowInvalid as error:
            raise ValueError(f"Expected an Arrow file, got {place.name!r}: {error}.") from None


def documents(folder: Path) -> Any:
    """One row for each file below the folders of the classes: text, class, file."""
    _connection()
    import pyarrow as pa

    files = sorted(p for p in folder.glob("*/**/*") if p.is_file() and p.name[:1] != ".")
    if not files:
        raise ValueError(
            f"Expected a folder in {folder.name!r} for each class, with its documents, got none."
        )
    inside = [file.relative_to(folder) for file in files]
    return pa.table(
        {
            "text": [_decoded(file.read_bytes()) for file in files],
            "class": [path.parts[0] for path in inside],
            "file": [path.as_posix() for path in inside],
        }
    )


def _decoded(document: bytes) -> str:
    try:
        return document.decode("utf-8-sig")
    except UnicodeDecodeError:
        return document.decode("latin-1")


def typed(table: Any) -> Any:
    """Columns of text as numbers, dates or booleans, where all their cells are."""
    import pyarrow as pa

    return pa.table([_typed_column(column) for column in table.columns], names=table.column_names)


def _typed_column(column: Any) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    cells = column.drop_null()
    if not len(cells):
        return column
    if pc.all(pc.match_substring_regex(cells, NUMBER)).as_py():
        if pc.any(pc.match_substring_regex(cells, PADDED)).as_py():
            return column
        trimmed = pc.utf8_trim_whitespace(column)
        try:
            return pc.cast(trimmed, pa.int64())
        except pa.ArrowInvalid:
            return pc.cast(trimmed, pa.float64())
    if set(pc.unique(pc.utf8_lower(cells)).slice(0, 3).to_pylist()) <= {"true", "false"}:
        return pc.equal(pc.utf8_lower(column), "true")
    if pc.all(pc.match_substring_regex(cells, r"^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}.*)?$")).as_py():
        try:
            return pc.cast(column, pa.timestamp("us"))
        except pa.ArrowInvalid:
            return column
    return column
