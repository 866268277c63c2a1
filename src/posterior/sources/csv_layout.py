"""The layout of a CSV file: its encoding, its delimiter, and where its header stands."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO, cast

from posterior.sources import headers
from posterior.sources.csv_files import MISSING, quoted
from posterior.sources.formats import recognized

DELIMITERS = ",;\t|"
BLOCK = 1 << 20
LONGEST = 1 << 24  # letters of the first line
LONGEST_ROW = 100_000_000  # bytes
UNDEFINED = b"\x81\x8d\x8f\x90\x9d"  # in Windows-1252
NAMES = {"cp1252": "Windows-1252 (Latin-1)", "latin-1": "Latin-1"}


@dataclass(frozen=True, slots=True)
class Layout:
    """How the cells of a file are found."""

    encoding: str
    delimiter: str
    skipped: int  # rows until the header, and itself
    names: tuple[str, ...]
    notes: tuple[str, ...]
    one_line_end: bool = True  # whether all lines end alike


def layout(place: Path) -> Layout:
    """How to read a file, by a look at all its bytes and at its first lines."""
    state = place.stat()
    return _layout(place, state.st_size, state.st_mtime_ns)


@contextmanager
def as_utf8(place: Path, layout: Layout) -> Iterator[Path]:
    """The file, or a copy that goes away, in UTF-8 and with lines that end alike."""
    if layout.encoding == "utf-8" and layout.one_line_end:
        yield place
        return
    newline = "" if layout.one_line_end else None  # None makes one of all
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / place.name.removesuffix(".gz")
        with (
            io.TextIOWrapper(_opened(place), layout.encoding, "replace", newline) as text,
            copy.open("w", encoding="utf-8", newline="") as out,
        ):
            while block := text.read(BLOCK):
                out.write(block)
        yield copy


def sql(place: Path, layout: Layout) -> str:
    """The file as DuckDB reads its cells: as text."""
    columns = ", ".join(f"{quoted(name)}: 'VARCHAR'" for name in layout.names)
    missing = ", ".join(map(quoted, MISSING))
    # of what is packed, DuckDB cannot tell the size, and takes 16 times this for the smallest file
    buffer = f", buffer_size={LONGEST_ROW}" if _is_packed(place) else ""
    return (
        f"read_csv({quoted(str(place))}, header=false, auto_detect=false, columns={{{columns}}}, "
        f"delim='{layout.delimiter}', skip={layout.skipped}, quote='\"', escape='\"', "
        f"nullstr=[{missing}], max_line_size={LONGEST_ROW}{buffer})"
    )


@lru_cache(maxsize=64)  # all bytes decide the encoding, and a fit asks several times
def _layout(place: Path, size: int, changed: int) -> Layout:
    try:
        encoding, one_line_end = _encoding(place)
        lines = _first_lines(place, encoding)
    except (OSError, EOFError, UnicodeDecodeError, zlib.error) as error:
        if isinstance(error, PermissionError):
            raise
        raise ValueError(f"Expected to read {place.name!r}, but: {error}.") from None
    delimiter, header = _found(place.name, lines or [""])
    if not header.names:
        raise ValueError(f"Expected a header line in {place.name!r}, got an empty one.")
    if any("\0" in name for name in header.names):  # in UTF-16, where zero bytes are usual
        raise ValueError(f"Expected a text file, but {place.name!r} has zeros in its header.")
    notes = header.notes
    if encoding in NAMES:
        notes += (
            f"{place.name} is not UTF-8, and was read as {NAMES[encoding]}: see whether letters "
            "such as é look right.",
        )
    return Layout(encoding, delimiter, header.place + 1, header.names, notes, one_line_end)


def _opened(place: Path) -> BinaryIO:
    return cast(BinaryIO, gzip.open(place, "rb") if _is_packed(place) else place.open("rb"))


def _is_packed(place: Path) -> bool:
    return place.suffix.lower() == ".gz"


def _encoding(place: Path) -> tuple[str, bool]:
    """UTF-8 if all bytes are; UTF-16 if it begins so; otherwise what Windows writes.

    And whether all lines end alike: some programs write titles in another way than rows.
    """
    with _opened(place) as file:
        block = file.read(BLOCK)
        if block.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            return "utf-16", True
        what = recognized(block)
        if what is not None or b"\0" in block:
            hint = " Tables are read by the ending of their file." if what is None else ""
            raise ValueError(
                f"Expected a text file, but {place.name!r} is {what or 'not one'}.{hint}"
            )
        decoder, encoding, odd = codecs.getincrementaldecoder("utf-8")(), "utf-8", False
        windows, others = (
            False,
            False,
        )  # lines that end in a carriage return, too, and those without
        while block:
            n_windows = block.count(b"\r\n") if b"\r" in block else 0
            windows = windows or n_windows > 0
            others = others or (block.count(b"\n") > n_windows if n_windows else b"\n" in block)
            if not block.isascii() or decoder.getstate()[0]:  # most are, which is seen at once
                if encoding == "utf-8":
                    try:
                        decoder.decode(block)
                    except UnicodeDecodeError:
                        encoding = "cp1252"
                odd = odd or any(sign in block for sign in UNDEFINED)
            block = file.read(BLOCK)
        try:
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            encoding = "cp1252"
    return "latin-1" if encoding != "utf-8" and odd else encoding, not (windows and others)


def _first_lines(place: Path, encoding: str) -> list[str]:
    """Some lines, of which the last is whole."""
    plain = "utf-8-sig" if encoding == "utf-8" else encoding
    lines: list[str] = []
    left = LONGEST
    with io.TextIOWrapper(_opened(place), plain, newline="\n") as text:
        while len(lines) < headers.SAMPLE and left > 0 and (line := text.readline(left)):
            if len(line) == left and not line.endswith("\n"):
                if lines:
                    break
                raise ValueError(
                    f"Expected names of columns in the first line of {place.name!r}, got more "
                    f"than {LONGEST:,} letters."
                )
            lines.append(line)
            left = min(left, BLOCK) - len(line)
    return lines


def _found(name: str, lines: list[str]) -> tuple[str, headers.Header]:
    """The delimiter and the header.

    The first line decides, unless it is a title; then, the delimiter that gives most columns.
    """
    delimiter = _delimiter(lines)
    rows = _rows(lines, delimiter)
    lengths = [len(row) for row in rows if row][:2]  # of the header, and of the row below it
    if headers.find(rows) == 0 and lengths and lengths[0] > 1 and len(set(lengths)) == 1:
        return delimiter, headers.header(rows)
    tried = [(sign, _rows(lines, sign)) for sign in DELIMITERS]
    titled = [(sign, cells) for sign, cells in tried if headers.find(cells) > 0]
    if titled:
        sign, cells = max(titled, key=lambda each: len(each[1][headers.find(each[1])]))
        return sign, headers.header(cells)
    if not rows or len(rows) == 1 < len(lines):  # a quote that never ends
        rows = _first(name, lines[0], delimiter)
    return delimiter, headers.header([_completed(rows)] if rows else [[]])


def _rows(lines: list[str], delimiter: str) -> list[list[str]]:
    """Rows of cells, as far as they can be read."""
    rows: list[list[str]] = []
    try:
        for row in csv.reader(lines, delimiter=delimiter):
            rows.append(row)  # one by one: those before an error stay
    except csv.Error:
        pass
    return rows


def _completed(rows: list[list[str]]) -> list[str]:
    """The header, with a blank for row names as R writes them, or for a delimiter at each end."""
    first, below = rows[0], [row for row in rows[1:] if row]
    if not below or len(first) < 2 or any(len(row) != len(first) + 1 for row in below):
        return first
    if all(row[-1] == "" for row in below):
        return [*first, ""]
    return ["", *first] if any(map(headers.is_number, below[0])) else first


def _first(name: str, line: str, delimiter: str) -> list[list[str]]:
    try:
        return list(csv.reader([line.rstrip("\r\n")], delimiter=delimiter))
    except csv.Error:
        if "\r" not in line:
            raise ValueError(
                f"Expected names of columns in the first line of {name!r}, got a cell of more than "
                f"{csv.field_size_limit():,} letters."
            ) from None
        raise ValueError(  # a carriage return alone, as old Macs ended lines
            f"Expected a header line in {name!r} that ends in a line feed, got a carriage return "
            "in it. Save the file with line feeds."
        ) from None


def _delimiter(lines: list[str]) -> str:
    """The sign that parts most cells of the header; quoted ones do not count.

    Of several, as in a,b;c, the one by which most rows are as long as the header.
    """
    bare = re.sub(r'"[^"]*"', "", lines[0])
    most = max(map(bare.count, DELIMITERS))
    tied = [sign for sign in DELIMITERS if bare.count(sign) == most]
    if most == 0 or len(tied) == 1:
        return tied[0]
    return max(tied, key=lambda sign: _as_long_as_the_header(_rows(lines, sign)))


def _as_long_as_the_header(rows: list[list[str]]) -> int:
    return sum(len(row) == len(rows[0]) for row in rows)
