"""CSV has no types: every cell is text until all cells of its column are known.

A column is made numbers, dates or booleans where all its cells are. So "007" stays a word, "t"
stays a letter, and no guess depends on the first rows. What some rows say of a column adds up.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import re
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

MISSING = ("", "?", "NA", "N/A", "NaN", "nan", "NULL", "null")  # "Nan" is a first name
DELIMITERS = ",;\t|"
NUMBER = r"^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$"
COMMA = r"^\s*[+-]?(\d+,?\d*|,\d+)([eE][+-]?\d+)?\s*$"  # 72,36 as most of Europe writes it
FRACTION = r",(\d|\d\d|\d{4,})\s*$"  # 1,234 may be a thousand
PADDED = r"^\s*[+-]?0\d"  # 007 is a name
TRUTH = r"^([tT][rR][uU][eE]|[fF][aA][lL][sS][eE])$"
FIRST = 100  # cells
DATE = r"^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}.*)?$"


@dataclass(frozen=True, slots=True)
class Cells:
    """What the cells of a column may be, as far as they are known; none may be anything."""

    any: bool = False
    integers: bool = True
    numbers: bool = True
    commas: bool = True  # numbers with a decimal comma, or none
    fractions: bool = False  # some cells have digits behind a comma that can be nothing else
    padded: bool = False
    booleans: bool = True
    dates: bool = True

    def __add__(self, other: Cells, /) -> Cells:
        return Cells(
            self.any or other.any,
            self.integers and other.integers,
            self.numbers and other.numbers,
            self.commas and other.commas,
            self.fractions or other.fractions,
            self.padded or other.padded,
            self.booleans and other.booleans,
            self.dates and other.dates,
        )

    @classmethod
    def of(cls, column: Any) -> Cells:
        """What a column of text holds."""
        import pyarrow as pa
        import pyarrow.compute as pc

        cells = column.drop_null() if column.null_count else column
        if not len(cells):
            return cls()
        first = cells[:FIRST]  # which show at once what a column is not

        def have(pattern: str, some: Any = cells) -> bool:
            return bool(pc.any(pc.match_substring_regex(some, pattern)).as_py())

        def are(pattern: str) -> bool:
            shown = (pc.all(pc.match_substring_regex(some, pattern)) for some in (first, cells))
            return all(each.as_py() for each in shown)

        trimmed = _numbers(cells) if _numbers(first) is not None else None
        if trimmed is not None:
            integers = _casts(trimmed, pa.int64())
            commas = not pc.any(pc.match_substring(cells, ".")).as_py()
            padded = have(PADDED, cells if integers else first)  # 007.5 is no name
            return cls(True, integers, True, commas, False, padded, False, False)
        if are(COMMA):
            return cls(True, False, False, True, have(FRACTION), have(PADDED), False, False)
        if are(TRUTH):
            return cls(True, False, False, False, False, False, True, False)
        dates = are(DATE) and _casts(cells, pa.timestamp("us"))
        return cls(True, False, False, False, False, False, False, dates)

    @property
    def type(self) -> Any:
        """The type of the column in Arrow."""
        import pyarrow as pa

        numbers = self.numbers or (self.commas and self.fractions)
        if not self.any or (numbers and self.padded):
            return pa.string()
        if numbers:
            return pa.int64() if self.integers else pa.float64()
        return pa.bool_() if self.booleans else pa.timestamp("us") if self.dates else pa.string()


@dataclass(frozen=True, slots=True)
class Texts:
    """What the columns of some rows hold, and how many rows they are."""

    columns: tuple[Cells, ...]
    rows: int

    def __add__(self, other: Texts, /) -> Texts:
        pairs = zip(self.columns, other.columns, strict=True)
        return Texts(tuple(a + b for a, b in pairs), self.rows + other.rows)

    @classmethod
    def of(cls, table: Any) -> Texts:
        """What a table of text holds."""
        return cls(tuple(Cells.of(column) for column in table.columns), table.num_rows)


def typed(table: Any) -> Any:
    """Columns of text as numbers, dates or booleans, where all their cells are."""
    import pyarrow as pa

    def type_of(column: Any) -> Any:
        return Cells.of(column).type if column.type == pa.string() else column.type

    with ThreadPoolExecutor() as threads:  # Arrow lets others work
        types = list(threads.map(type_of, table.columns))
    return cast(table, pa.schema(list(zip(table.column_names, types, strict=True))))


def cast(table: Any, schema: Any) -> Any:
    """Columns of text as the types that all their cells have."""
    import pyarrow as pa

    with ThreadPoolExecutor() as threads:
        columns = list(threads.map(_converted, table.columns, schema.types))
    return pa.table(columns, schema=schema)


def reading(place: Path) -> tuple[str, tuple[str, ...]]:
    """How SQL reads the cells of a file as text, and what to know about it."""
    state = place.stat()
    head, encoding = _head(place, state.st_size, state.st_mtime_ns)
    notes: tuple[str, ...] = ()
    if encoding == "latin-1":
        notes = (
            f"{place.name} is not UTF-8, and was read as Latin-1: see whether letters such as é "
            "look right.",
        )
    missing = ", ".join(f"'{m}'" for m in MISSING)
    delimiter = _delimiter(head)
    try:
        names = _names(next(csv.reader([head.rstrip("\r\n")], delimiter=delimiter)))
    except csv.Error:
        if "\r" not in head:
            raise ValueError(
                f"Expected names of columns in the first line of {place.name!r}, got a cell of "
                f"more than {csv.field_size_limit():,} letters."
            ) from None
        raise ValueError(  # a carriage return alone, as old Macs ended lines
            f"Expected a header line in {place.name!r} that ends in a line feed, got a carriage "
            "return in it. Save the file with line feeds."
        ) from None
    columns = ", ".join(f"{quoted(name)}: 'VARCHAR'" for name in names)
    return (
        f"read_csv({quoted(str(place))}, header=true, auto_detect=false, columns={{{columns}}}, "
        f"delim='{delimiter}', "
        f"quote='\"', escape='\"', nullstr=[{missing}], encoding='{encoding}', "
        "max_line_size=100000000)",
        notes,
    )


def quoted(text: str) -> str:
    """A text in SQL."""
    return "'" + text.replace("'", "''") + "'"


def identifier(name: str) -> str:
    """A column in SQL."""
    return '"' + name.replace('"', '""') + '"'


def _converted(column: Any, kind: Any) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    if column.type == kind:
        return column
    if column.type != pa.string():  # of a file that has types
        return pc.cast(column, kind)
    if kind == pa.bool_():
        return pc.equal(pc.utf8_lower(column), "true")
    try:
        return pc.cast(column, kind)
    except pa.ArrowInvalid:  # of decimal commas, or with spaces around
        return pc.cast(pc.replace_substring(pc.utf8_trim_whitespace(column), ",", "."), kind)


def _numbers(cells: Any) -> Any:
    """Cells of numbers without spaces around them, or None if some are no numbers."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for some in (cells, pc.utf8_trim_whitespace(cells)):
        try:
            found = pc.cast(some, pa.float64())
        except pa.ArrowInvalid:
            continue
        return some if pc.all(pc.is_finite(found)).as_py() or _written(some) else None
    return None


def _written(cells: Any) -> bool:
    """Whether all are written in digits: "inf" and "nan" are words."""
    import pyarrow.compute as pc

    return bool(pc.all(pc.match_substring_regex(cells, NUMBER)).as_py())


def _casts(cells: Any, kind: Any) -> bool:
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        pc.cast(cells, kind)
    except pa.ArrowInvalid:
        return False
    return True


def _names(header: list[str]) -> list[str]:
    """Names that are all there and differ, also where the header's do not."""
    names: list[str] = []
    taken: set[str] = set()
    repeats: Counter[str] = Counter()  # where to go on counting, so that equal names take no time
    for j, cell in enumerate(header):
        name = plain = cell.strip() or f"column {j + 1}"
        while name.casefold() in taken:
            repeats[plain] += 1
            name = f"{plain} {repeats[plain] + 1}"
        names.append(name)
        taken.add(name.casefold())
    return names


@lru_cache(maxsize=64)  # all bytes decide the encoding, and a fit asks several times
def _head(place: Path, size: int, changed: int) -> tuple[str, str]:
    """The first line, and the encoding of the file."""
    opened = gzip.open if place.suffix.lower() == ".gz" else open
    encoding, binary = "utf-8", False
    try:
        with opened(place, "rb") as lines:
            first = block = lines.readline().removeprefix(b"\xef\xbb\xbf")
            decoder = codecs.getincrementaldecoder("utf-8")()
            try:
                while block:
                    decoder.decode(block)
                    block = lines.read(1 << 20)
                decoder.decode(b"", final=True)
            except UnicodeDecodeError:
                encoding = "latin-1"
                while block and not binary:
                    binary = b"\0" in block
                    block = lines.read(1 << 20)
    except (OSError, EOFError) as error:
        raise ValueError(f"Expected to read {place.name!r}, but: {error}.") from None
    if binary or b"\0" in first:
        raise ValueError(
            f"Expected a text file, but {place.name!r} is not one. Files of CSV, JSON lines, "
            "Parquet and Arrow are read by their ending."
        )
    if not first.strip():
        raise ValueError(f"Expected a header line in {place.name!r}, got an empty one.")
    return first.decode(encoding), encoding


def _delimiter(head: str) -> str:
    """The sign that parts most cells of the header; quoted ones do not count."""
    bare = re.sub(r'"[^"]*"', "", head)
    return max(DELIMITERS, key=bare.count)
