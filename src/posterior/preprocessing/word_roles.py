"""Columns of text: numbers and dates as people write them, categories, sentences, identifiers."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np

from posterior.data import frames
from posterior.data.cells import DAY, EPOCH
from posterior.preprocessing.dates import FoundDates, says_date, written_dates
from posterior.preprocessing.number_roles import (
    FEW_ROWS,
    is_called_kind,
    one_value,
    role_of_dates,
    role_of_numbers,
)
from posterior.preprocessing.roles import MANY_VALUED, ColumnRole
from posterior.preprocessing.text_cells import MARKS, WORDS, TextCells, Texts, listed
from posterior.preprocessing.written_numbers import CURRENCIES, FoundNumbers, written_numbers

MANY = 50  # values of a category
ROWS_EACH = 10  # of a category's values on average; with fewer, they are many
WORDS_EACH = 1.5  # of names
FORMS = {
    "month": "month first",
    "day": "day first",
    "days since 1900": "days since 1900, as spreadsheets count",
}


def role_of_words(column: nw.Series[Any], asked: str | None = None) -> ColumnRole:
    """What a column of text is, or as a person says."""
    name, every = str(column.name), TextCells.of(column)
    if column.dtype != nw.Boolean:
        cells, marks = every.without(MARKS)
        if asked in (None, "number") and (numbers := _numbers(cells, marks, asked)) is not None:
            return numbers
        if asked in (None, "date") and (dates := _dates(cells, marks, asked)) is not None:
            return dates
        if asked in ("number", "date"):
            row = int(np.argmax(cells.codes >= 0))
            got = ", ".join(map(repr, listed(cells.values, 1))) or "none"
            raise ValueError(
                f"Expected {asked}s in {name!r}, as asked, got {got} in row {row}. Read it "
                f"as a category, or correct its cells."
            )
    every = every if isinstance(every.values, list) else TextCells.of(column, repeated=True)
    cells, marks = every.without(WORDS)
    found = _category(cells, column.dtype == nw.Boolean)
    mixed = column.dtype in (nw.Object, nw.Unknown)  # of several types
    found = replace(found, gaps=() if marks or mixed else None)
    if asked is not None and found.distinct > 1:
        if asked == "boolean" and found.distinct > 2:
            raise ValueError(
                f"Expected two values in {name!r}, to read it as boolean, got "
                f"{found.distinct:,}: {', '.join(found.examples[:3])}, ..."
            )
        found = replace(found, role=asked, used=True, reason=f"{asked}, as asked", flags=())
    return _with_marks(found, marks)


def _numbers(cells: TextCells, marks: dict[str, int], asked: str | None) -> ColumnRole | None:
    found = written_numbers(cells.values, cells.counts, sure=asked is not None)
    if found is None or (asked is None and _stay_names(cells.name, found, marks)):
        return None
    if asked is not None and cells.counts[~np.isnan(found.values)].sum() < cells.counts.sum() / 2:
        return None
    written = found.written
    role = role_of_numbers(cells.name, cells.in_rows(found.values))
    if role.used and role.role != "boolean":
        reason = role.reason if written.what == "numbers" else written.what
        if not found.plain:
            reason += f", written as {_longest(cells.values).strip()}"
        if found.ambiguous:
            sign = "point" if written.thousands == "." else "comma"
            apart = written.thousands in ",."
            reason += f"; a {sign} " + ("sets thousands apart" if apart else "begins a fraction")
            reason += ", though it may be the other way round"
        role = replace(role, role="number", reason=reason)
    if asked is not None and role.distinct > 1:
        role = replace(role, role="number", used=True, flags=())
    marks |= _counted(cells, found.odd)
    return _with_marks(replace(role, written=written, gaps=found.odd), marks)


def _counted(cells: TextCells, odd: Collection[str]) -> dict[str, int]:
    """How often some cells occur."""
    every = listed(cells.values) if odd else []
    return {cell: int(cells.counts[[v == cell for v in every]].sum()) for cell in odd}


def _stay_names(name: str, found: FoundNumbers, marks: dict[str, int]) -> bool:
    """Digits that some table holds as text, and that are few, are names; so are codes: 172xx."""
    if (found.plain or found.written.units) and is_called_kind(name):
        return found.written.what not in CURRENCIES
    return found.plain and not marks and len(np.unique(found.values)) <= FEW_ROWS


def _longest(values: Texts) -> str:
    """The cell that shows best how all are written."""
    return max(listed(values, 200), key=lambda cell: (len(cell) <= 20) * len(cell))


def _dates(cells: TextCells, marks: dict[str, int], asked: str | None) -> ColumnRole | None:
    named = says_date(cells.name)
    found = written_dates(cells.values, cells.counts, named=named, sure=asked is not None)
    if found is None:
        return None
    form, values = found.written.form, cells.in_rows(found.values)
    if form == "time":
        role = role_of_numbers(cells.name, values)
        role = replace(role, role="number", reason="times of day, in hours") if role.used else role
    else:
        how = FORMS.get(form)
        reason = f"dates, {how}" if how else "dates"
        role = role_of_dates(cells.name, (values - EPOCH) / DAY, reason)
    role = replace(role, written=found.written, gaps=found.odd)
    if role.used and found.ambiguous:
        role = _with_either(role, found, *listed(cells.values, 1))
    return _with_marks(role, marks | _counted(cells, found.odd))


def _with_either(role: ColumnRole, found: FoundDates, example: str) -> ColumnRole:
    """Say that no cell decides between day and month."""
    text = (
        f"{role.name}: it is unclear whether {example} has the day or the month first; it is read "
        f"as {FORMS[found.written.form]}. Write dates as 2024-01-31 if that is wrong."
    )
    return role.flagged("dates", "warning", text)


def _category(cells: TextCells, truths: bool) -> ColumnRole:
    name, distinct = cells.name, len(cells.values)
    n = int(cells.counts.sum())
    order = np.argsort(-cells.counts, kind="stable")[:5]
    examples = tuple(_short(cells.values[i]) for i in order)
    missing = len(cells.codes) - n

    def role(role: str, used: bool, reason: str) -> ColumnRole:
        return ColumnRole(name, role, used, reason, distinct, missing, examples)

    if distinct < 2:
        return one_value(role("category", True, ""))
    if truths:
        return role("boolean", True, "true and false")
    if frames.are_sentences(cells.values[: frames.SOME], distinct, n):
        return role("text", True, "sentences: each is read as the words in it")
    if n >= FEW_ROWS and distinct > 0.9 * n and _are_names(cells.values[: frames.SOME]):
        reason = "names that hardly repeat: each is read as the words and letters in it"
        return role("text", True, reason)
    if n >= FEW_ROWS and distinct > 0.9 * n:
        share = "all" if distinct == n else f"{distinct:,} of {n:,}"
        return role("identifier", False, f"{share} values differ").flagged(
            "identifier",
            "note",
            f"{name} identifies each row ({share} values differ) and is left out.",
        )
    if distinct > MANY or (distinct > FEW_ROWS and distinct > n / ROWS_EACH):
        reason = (
            f"{distinct:,} distinct values in {n:,} rows: read by the evidence of each, together"
        )
        return role(MANY_VALUED, True, reason + " with its words and letters")
    return role("category", True, "two words" if distinct == 2 else "words that repeat")


def _are_names(values: Sequence[str]) -> bool:
    """Whether values have words, as names of people and of places do, and are no codes."""
    words = [word for value in values for word in value.split()]
    letters = sum(word.strip(".,()'\"").isalpha() for word in words)
    return len(words) >= WORDS_EACH * len(values) and letters > len(words) / 2


def _with_marks(found: ColumnRole, marks: dict[str, int]) -> ColumnRole:
    """Say which cells are read as missing."""
    if not marks or not found.used:
        return found
    shown = sorted(marks, key=lambda mark: -marks[mark])[:3]
    told = ", ".join("a blank cell" if not mark.strip() else repr(mark) for mark in shown)
    rows = sum(marks.values())
    text = f"{found.name}: {told} {'is' if len(shown) == 1 else 'are'} read as missing in {rows:,} "
    return found.flagged("marks", "note", text + ("row." if rows == 1 else "rows."))


def _short(value: str) -> str:
    return value if len(value) <= 60 else value[:57] + "..."
