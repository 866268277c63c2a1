"""CSV has no types: every cell is text until all cells of its column are known.

A column is made numbers, dates or booleans where all its cells are. So "007" stays a word, "t"
stays a letter, and no guess depends on the first rows. What some rows say of a column adds up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

MISSING = ("", "?", "NA", "N/A", "NaN", "nan", "NULL", "null")  # "Nan" is a first name
NUMBER = r"^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$"
COMMA = r"^\s*[+-]?(\d+,?\d*|,\d+)([eE][+-]?\d+)?\s*$"  # 72,36 as most of Europe writes it
FRACTION = r",(\d|\d\d|\d{4,})\s*$"  # 1,234 may be a thousand
PADDED = r"^\s*[+-]?0\d"  # 007 is a name
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

        cells = column.drop_null()
        if not len(cells):
            return cls()

        def are(pattern: str, some: Any = pc.all) -> bool:
            return bool(some(pc.match_substring_regex(cells, pattern)).as_py())

        if are(NUMBER):
            integers = _casts(pc.utf8_trim_whitespace(cells), pa.int64())
            commas = not pc.any(pc.match_substring(cells, ".")).as_py()
            return cls(True, integers, True, commas, False, are(PADDED, pc.any), False, False)
        if are(COMMA):
            signs = are(FRACTION, pc.any), are(PADDED, pc.any)
            return cls(True, False, False, True, *signs, False, False)
        booleans = pc.all(pc.is_in(pc.utf8_lower(cells), pa.array(["true", "false"]))).as_py()
        dates = are(DATE) and _casts(cells, pa.timestamp("us"))
        return cls(True, False, False, False, False, False, booleans, dates)

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

    types = [
        Cells.of(column).type if column.type == pa.string() else column.type
        for column in table.columns
    ]
    return cast(table, pa.schema(list(zip(table.column_names, types, strict=True))))


def cast(table: Any, schema: Any) -> Any:
    """Columns of text as the types that all their cells have."""
    import pyarrow as pa

    pairs = zip(table.columns, schema.types, strict=True)
    return pa.table([_converted(column, kind) for column, kind in pairs], schema=schema)


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
    if kind in (pa.int64(), pa.float64()):
        column = pc.replace_substring(pc.utf8_trim_whitespace(column), ",", ".")
    return pc.cast(column, kind)


def _casts(cells: Any, kind: Any) -> bool:
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        pc.cast(cells, kind)
    except pa.ArrowInvalid:
        return False
    return True
