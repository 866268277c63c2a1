"""Tables that are written as they come, in the format of their ending; never half a file."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol, cast

if TYPE_CHECKING:
    import pyarrow as pa

FORMATS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".arrow": "arrow",
    ".feather": "arrow",
}
TEXT = ("csv", "tsv")  # formats in which a cell is what it looks like
STDOUT = "-"
FORMULA = (
    "=",
    "+",
    "-",
    "@",
    "\t",
    "\r",
)  # what a formula may begin with
NUMBER = re.compile(r"[+-]([0-9][0-9., ]*([eE][+-]?[0-9]+)?%?)?")  # of any country, or a dash alone
NUMERIC = re.compile("u?int|float|double|halffloat|decimal|bool|date|time")


class Writer(Protocol):
    """Takes a table piece by piece."""

    def write(self, piece: pa.Table) -> None: ...

    def close(self) -> None: ...


class Csv:
    """A line a row; quotes where they are needed, and nowhere else.

    Unless `raw`, a text that a spreadsheet would run as a formula gets an apostrophe before it.
    """

    def __init__(self, file: BinaryIO, names: list[str], delimiter: str, raw: bool = False) -> None:
        self._text = io.TextIOWrapper(file, "utf-8", newline="")
        self._lines = csv.writer(self._text, delimiter=delimiter, lineterminator="\n")
        self._raw = raw
        self._lines.writerow(names if raw else [_inert(name) for name in names])

    def write(self, piece: pa.Table) -> None:
        columns = [self._cells(column) for column in piece.columns]
        self._lines.writerows(zip(*columns, strict=True))

    def _cells(self, column: pa.ChunkedArray) -> list[Any]:
        cells = column.to_pylist()
        numbers = NUMERIC.match(str(column.type)) is not None
        return cells if self._raw or numbers else [_inert(cell) for cell in cells]

    def close(self) -> None:
        self._text.detach()


class JsonLines:
    """An object a row."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def write(self, piece: pa.Table) -> None:
        lines = (json.dumps(plain(row), ensure_ascii=False) for row in piece.to_pylist())
        self._file.write("".join(f"{line}\n" for line in lines).encode())

    def close(self) -> None:
        pass


def _inert(cell: Any) -> Any:
    """A cell that no spreadsheet runs; numbers stay as they are."""
    harmful = isinstance(cell, str) and cell.startswith(FORMULA) and not NUMBER.fullmatch(cell)
    return f"'{cell}" if harmful else cell


def format_of(path: str) -> str:
    """The format that a file's ending names; of stdout, CSV."""
    if path == STDOUT:
        return "csv"
    ending = Path(path.removesuffix(".gz")).suffix.lower()
    if ending not in FORMATS:
        raise ValueError(
            f"Expected a file that ends in {', '.join(FORMATS)}, got {path!r}. Name the format by "
            "the ending."
        )
    return FORMATS[ending]


def write(path: str, pieces: Iterator[pa.Table], raw: bool = True) -> int:
    """Write a table as its pieces come, and say how many rows it has.

    Unless `raw`, CSV is written for spreadsheets: no text in it begins a formula.
    """
    kind, out, n_rows = format_of(path), None, 0
    with _opened(path) as file:
        for piece in pieces:
            out = out or _writer(file, kind, piece.schema, raw)
            out.write(piece)
            n_rows += piece.num_rows
        if out is not None:
            out.close()
    return n_rows


def _writer(file: BinaryIO, kind: str, schema: pa.Schema, raw: bool) -> Writer:
    if kind == "jsonl":
        return JsonLines(file)
    if kind == "parquet":
        from pyarrow import parquet

        return parquet.ParquetWriter(file, schema, compression="zstd")
    if kind == "arrow":
        from pyarrow import ipc

        return ipc.new_file(file, schema)
    return Csv(file, schema.names, "\t" if kind == "tsv" else ",", raw)


@contextmanager
def _opened(path: str) -> Iterator[BinaryIO]:
    """The file to write to, compressed if its name says so; or stdout."""
    if path == STDOUT:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    import gzip

    with replaced(Path(path)) as beside, beside.open("wb") as file:
        if path.endswith(".gz"):
            with gzip.GzipFile(path.removesuffix(".gz"), "wb", fileobj=file) as packed:
                yield cast(BinaryIO, packed)
        else:
            yield file


def write_text(path: Path, text: str) -> None:
    """Write a file at once."""
    with replaced(path) as beside:
        beside.write_text(text, "utf-8")


@contextmanager
def replaced(path: Path) -> Iterator[Path]:
    """A file beside the one that is meant, which takes its place when all went well."""
    if not path.absolute().parent.is_dir():
        raise ValueError(f"Expected a folder to write {str(path)!r} to. Make it first.")
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        yield beside
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def beside(table: pa.Table, answers: dict[str, Any]) -> pa.Table:
    """Answers as further columns of a table."""
    for name, cells in answers.items():
        if name in table.column_names:
            raise ValueError(
                f"Expected a table without a column {name!r}, which predictions are written to. "
                "Rename it, or write the predictions alone: --only."
            )
        table = table.append_column(name, as_table({name: cells}).column(0))
    return table


def as_table(columns: dict[str, Any]) -> pa.Table:
    """Columns of NumPy or of Python as a table."""
    import pyarrow as pa

    return pa.table({name: pa.array(cells) for name, cells in columns.items()})


def plain(value: Any) -> Any:
    """The same in words of JSON: arrays as lists, what is not finite as null."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if hasattr(value, "tolist"):  # NumPy's arrays and scalars
        return plain(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, bool | int | str):
        return value
    return str(value)
