"""CSV has no types: every cell is text until all cells of its column are known.

A column is made numbers, dates or booleans where all its cells are. So "007" stays a word, "t"
stays a letter, and no guess depends on the first rows. What some rows say of a column adds up.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

MISSING = ("", "?", "NA", "N/A", "NaN", "nan", "NULL", "null")  # "Nan" is a first name
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
