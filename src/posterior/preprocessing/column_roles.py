"""What one column is, whatever is predicted: by its cells and its name, or as a person says."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import date, time, timedelta
from shlex import quote
from typing import Any

import narwhals as nw
import numpy as np

from posterior.data import frames
from posterior.preprocessing.dates import WrittenDates, as_dates, counted_dates
from posterior.preprocessing.number_roles import KIND_NAMES, role_of_dates, role_of_numbers
from posterior.preprocessing.roles import ColumnRole
from posterior.preprocessing.word_roles import role_of_words

MANY_ROWS = 100_000  # that are worth threads


def roles_of(table: nw.DataFrame[Any], kinds: Mapping[str, str]) -> list[ColumnRole]:
    """What each column is, or as a person says; columns of many rows are read side by side."""
    columns, asked = [*table.iter_columns()], [kinds.get(name) for name in table.columns]
    if len(table) < MANY_ROWS:
        return [*map(role_of, columns, asked)]
    with ThreadPoolExecutor() as threads:
        return [*threads.map(role_of, columns, asked)]


def role_of(column: nw.Series[Any], asked: str | None = None) -> ColumnRole:
    """What a column is; `asked` is what a person calls it: number, category, date, ..."""
    name = str(column.name)
    try:
        kind = frames.kind(column)
    except TypeError:  # of several types: text, if they can be that
        try:
            return role_of_words(column, asked)
        except TypeError:
            reason = "nested values (lists or tables), which no model reads"
            return ColumnRole(name, "nested", False, reason, 0, int(column.null_count()), ())
    if kind != "number" or asked in ("category", "text", "boolean"):
        return role_of_words(column, asked)
    numbers = frames.numbers(column)
    times = _times(column)
    if times == "dates":
        return role_of_dates(name, numbers)
    if times is not None:
        found = role_of_numbers(name, numbers)
        return replace(found, reason=times) if found.role == "number" else found
    written = counted_dates(numbers, name) if asked is None else None
    if asked == "date":
        written = as_dates(numbers, name)
    if written is not None:
        return _counted(column, written)
    found = role_of_numbers(name, numbers)
    if asked == "number" and found.distinct > 1:
        return replace(found, role="number", used=True, reason="numbers, as asked", flags=())
    return _kinds(column) if found.reason == KIND_NAMES else found


def _times(column: nw.Series[Any]) -> str | None:
    """Whether cells are dates, times of day or lengths of time; None if they are numbers."""
    known = column.drop_nulls()
    if not len(known) or column.dtype.is_numeric():
        return None
    first = known[0]
    if isinstance(first, date | np.datetime64):
        return "dates"
    if isinstance(first, time):
        return "times of day, as parts of a day"
    lengths = isinstance(first, timedelta | np.timedelta64)
    return "lengths of time, in days" if lengths else None


def _counted(column: nw.Series[Any], written: WrittenDates) -> ColumnRole:
    """Numbers that are dates."""
    moments = ColumnRole("", "date", True, "", 0, 0, (), written=written).read(column)
    how = "written as 20240131" if written.form == "digits" else written.form
    days = frames.numbers(moments)
    return replace(role_of_dates(str(column.name), days, f"dates, {how}"), written=written)


def _kinds(column: nw.Series[Any]) -> ColumnRole:
    """Whole numbers that are codes of categories, such as zip codes."""
    found = role_of_words(column, "category")
    text = (
        f"{found.name} holds {found.distinct:,} whole numbers that are codes of categories, and "
        f"is read as a category; --as {quote(f'{found.name}=number')} reads it as a number."
    )
    return replace(found, reason=KIND_NAMES).flagged("codes", "note", text)
