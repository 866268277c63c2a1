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
FIRST, SOME = 100, 1000  # cells
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


def understood(column: Any) -> tuple[Cells, Any]:
    """What a column of text holds, and its cells as the numbers, truths or dates that they are."""
    import pyarrow as pa
    import pyarrow.compute as pc

    first = _first(column)  # which show at once what a column is not
    if not len(first):
        return Cells(), column

    def have(pattern: str, some: Any = column) -> bool:
        return bool(pc.any(pc.match_substring_regex(some, pattern)).as_py())

    def are(pattern: str) -> bool:
        shown = (pc.all(pc.match_substring_regex(some, pattern)) for some in (first, column))
        return all(each.as_py() for each in shown)

    if _numbers(first) is not None:
        whole = _cast(column, pa.int64())
        if whole is not None and not _may_be_padded(column):
            return Cells(True, True, True, True, False, False, False, False), whole
        if (numbers := _numbers(column)) is not None:
            trimmed, values = numbers
            whole = _cast(trimmed, pa.int64())
            commas = not any(
                pc.any(pc.match_substring(some, ".")).as_py() for some in (first, column)
            )
            padded = have(PADDED, first if whole is None else column)  # 007.5 is no name
            cells = Cells(True, whole is not None, True, commas, False, padded, False, False)
            return cells, values if whole is None else whole
    if are(COMMA):
        cells = Cells(True, False, False, True, have(FRACTION), have(PADDED), False, False)
        return cells, column
    if are(TRUTH):
        cells = Cells(True, False, False, False, False, False, True, False)
        return cells, pc.equal(pc.utf8_lower(column), "true")
    dates = _dates(column) if _dates(first) is not None else None
    cells = Cells(True, False, False, False, False, False, False, dates is not None)
    return cells, column if dates is None else dates


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
        return cls(tuple(understood(column)[0] for column in table.columns), table.num_rows)


def typed(table: Any) -> Any:
    """Columns of text as numbers, dates or booleans, where all their cells are."""
    import pyarrow as pa

    with ThreadPoolExecutor() as threads:  # Arrow lets others work
        columns = list(threads.map(_typed, table.columns))
    return pa.table(columns, names=table.column_names)


def _typed(column: Any) -> Any:
    import pyarrow as pa

    if column.type != pa.string():
        return column
    cells, values = understood(column)
    kind = cells.type
    if kind == column.type:
        return column
    values = values if values.type == kind else _converted(column, kind)
    return pa.chunked_array([values.combine_chunks()])


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


def _first(column: Any) -> Any:
    """Some cells that are there."""
    n = FIRST
    while len(some := column[:n].drop_null()) < FIRST and n < len(column):
        n *= FIRST
    return some[:FIRST]


def _anywhere(column: Any) -> Any:
    """Some cells of all parts of a column."""
    import pyarrow as pa

    starts = range(0, len(column), len(column) // (SOME // FIRST))
    parts = (chunk for start in starts for chunk in column[start : start + FIRST].chunks)
    return pa.chunked_array(parts, column.type)


def _numbers(cells: Any) -> tuple[Any, Any] | None:
    """Cells of numbers without spaces around them, and these; or None if some are no numbers."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for trim in (lambda same: same, pc.utf8_trim_whitespace):
        some = trim(cells)
        found = _cast(some, pa.float64())
        if found is not None:
            digits = pc.all(pc.is_finite(found)).as_py() or _written(some)
            return (some, found) if digits else None
    return None


def _written(cells: Any) -> bool:
    """Whether all are written in digits: "inf" and "nan" are words."""
    import pyarrow.compute as pc

    return bool(pc.all(pc.match_substring_regex(cells, NUMBER)).as_py())


def _may_be_padded(cells: Any) -> bool:
    """Whether some whole number begins with a zero, as 007 and -01 do, and 0x1F."""
    import pyarrow.compute as pc

    def begin(sign: str) -> bool:
        longer = pc.greater(pc.binary_length(cells), len(sign))
        return bool(pc.any(pc.and_(pc.starts_with(cells, sign), longer)).as_py())

    return begin("0") or begin("-0")


def _dates(cells: Any) -> Any:
    """Dates of cells that are written as 2024-01-31, with a time or without, or None."""
    import pyarrow as pa
    import pyarrow.compute as pc

    found = _cast(cells, pa.timestamp("us"))
    if found is None:
        return None
    lengths = pc.min_max(pc.binary_length(cells)).as_py()
    days = set(lengths.values()) == {len("2024-01-31")}
    return found if days or pc.all(pc.match_substring_regex(cells, DATE)).as_py() else None


def _cast(cells: Any, kind: Any) -> Any:
    """Cells of another type, or None if some are not.

    Arrow takes long over each that is not, so that some of all places are tried first.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        if len(cells) > SOME:
            pc.cast(_anywhere(cells), kind)
        return pc.cast(cells, kind)
    except pa.ArrowInvalid:
        return None
