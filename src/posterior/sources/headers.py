"""The header of a table: lines above it, names that lack or repeat."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from posterior.sources.csv_files import COMMA, NUMBER
from posterior.sources.naming import listed

SAMPLE = 50  # rows in which the header is looked for
MOST_TITLES = 20
ALIKE = 0.8  # share of the rows below a title that must be as long as the header


@dataclass(frozen=True, slots=True)
class Header:
    """Where the names of the columns stand, and what they are."""

    place: int  # the row, of those that were looked at
    names: tuple[str, ...]
    notes: tuple[str, ...]


def header(rows: Sequence[Sequence[Any]]) -> Header:
    """The header among the first rows, with a name for each of its columns."""
    place = find(rows)
    cells = [_text(cell) for cell in rows[place]]
    names = distinct(cells)
    notes = [*_titles(rows[:place]), *_renamed(cells, names), *_doubts(cells)]
    return Header(place, tuple(names), tuple(notes))


def find(rows: Sequence[Sequence[Any]]) -> int:
    """The row of the header: the first, unless rows above it are titles.

    A title fills one cell, or few of many, or has a blank line below. Below, most rows must be as
    long as the header, and the header must be words: where that fails, a table begins with its
    first row.
    """
    filled = [*map(_filled, rows), 1]
    widest = max(filled[:-1], default=0)
    titles = 0
    for row, here, below in zip(rows, filled, filled[1:], strict=False):
        if not _is_title(row, widest) and (here == widest or below):
            break
        titles += 1
    else:
        return 0
    table = [row for row in rows[titles + 1 :] if _filled(row)]
    if not 0 < titles <= MOST_TITLES or not table or not _are_words(rows[titles]):
        return 0
    alike = sum(len(row) == len(rows[titles]) for row in table)
    return titles if alike >= ALIKE * len(table) else 0


def distinct(header: Sequence[str]) -> list[str]:
    """Names that are all there and differ, also where the header's do not."""
    names: list[str] = []
    taken: set[str] = set()
    repeats: Counter[str] = Counter()  # where to go on counting, so that equal names take no time
    for j, cell in enumerate(header):
        name = plain = cell or f"column {j + 1}"
        while name.casefold() in taken:
            repeats[plain] += 1
            name = f"{plain} ({repeats[plain] + 1})"
        names.append(name)
        taken.add(name.casefold())
    return names


def _text(cell: Any) -> str:
    if isinstance(cell, float) and cell.is_integer():  # 2024 in a sheet
        cell = int(cell)
    return "" if cell is None else " ".join(str(cell).split())


def _filled(row: Sequence[Any]) -> int:
    return sum(bool(_text(cell)) for cell in row)


def _is_title(row: Sequence[Any], widest: int) -> bool:
    filled = _filled(row)
    if row and _text(row[0]).lower().startswith("sep="):  # as spreadsheets are told the delimiter
        return True
    if widest == 2 and filled == 1:  # or it is the name of one column
        return " " in _text(row[0])
    return filled <= max(1, widest // 3)


def _are_words(row: Sequence[Any]) -> bool:
    cells = [text for cell in row if (text := _text(cell))]
    return sum(map(is_number, cells)) <= len(cells) / 2


def is_number(text: str) -> bool:
    """Whether a cell is a number, with a decimal point or comma."""
    return re.match(NUMBER, text) is not None or re.match(COMMA, text) is not None


def _titles(rows: Sequence[Sequence[Any]]) -> list[str]:
    if not rows:
        return []
    said = next((text for row in rows for cell in row if (text := _text(cell))), None)
    lines = "1 line" if len(rows) == 1 else f"{len(rows)} lines"
    verb = "is" if len(rows) == 1 else "are"
    return [f"{lines} above the header {verb} left out" + (f": {_short(said)!r}." if said else ".")]


def _short(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:39]}…"


def _renamed(cells: Sequence[str], names: Sequence[str]) -> list[str]:
    """What to know about names that are not those of the file."""
    pairs = list(zip(cells, names, strict=True))
    lacking = [name for cell, name in pairs if not cell]
    repeated = [name for cell, name in pairs if cell and cell != name]
    notes = []
    if lacking:
        notes.append(f"Columns without a name in the header are called {listed(lacking)}.")
    if repeated:
        notes.append(f"Columns whose names repeat in the header are called {listed(repeated)}.")
    return notes


def _doubts(cells: Sequence[str]) -> list[str]:
    """Names that are fractions, or the same number twice, are those of a row of data."""
    numbers = [cell for cell in cells if is_number(cell)]
    if len(set(numbers)) == len(numbers) and all(cell.isdecimal() for cell in numbers):
        return []
    return [
        f"The first line is taken as the header, though it holds {listed(numbers)}: add a line of "
        "names if it is a row."
    ]
