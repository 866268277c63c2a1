"""Columns of numbers and dates: measured, counting the rows, or codes of categories."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from posterior.data.cells import EPOCH
from posterior.data.table import text as number_text
from posterior.data.typing import Floats
from posterior.preprocessing.date_parts import parts_of
from posterior.preprocessing.dates import says_time, words_of
from posterior.preprocessing.distinct_numbers import distinct_numbers
from posterior.preprocessing.roles import ColumnRole

FEW_ROWS = 20  # below, all values may differ by chance
COUNTED_ROWS = 50  # that are numbered, some numbers being left out
IDENTIFIERS = {"id", "ids", "uuid", "guid", "key", "index", "rowname", "rownames"}
NUMBERED = {"number", "no", "nr", "num", "order", "index", "row", "record", "serial", "code", "id"}
KIND_NAMES = "whole numbers that are codes of categories"
KINDS = {"zip", "zipcode", "postal", "postcode", "plz", "code", "type", "class", "id"}
LATER = {"year", "years", "age", "month", "week", "quarter", "season"}  # are counted, and measured
MARKS = (-1, -9, -99, -999, -9999, 99, 999, 9999, 99999, 999999)  # for a cell that is not known
LEAST_MARKED = 3  # rows


def measured(name: str, values: Floats, known: Floats, distinct: Floats) -> ColumnRole:
    """How many different numbers a column has, some of them, and where they lie."""
    shown = distinct[:: max(1, len(distinct) // 5)][:5]
    return ColumnRole(
        name,
        "number",
        True,
        "whole numbers" if bool((distinct == np.round(distinct)).all()) else "numbers",
        len(distinct),
        len(values) - len(known),
        tuple(map(number_text, shown)),
        float(distinct[0]) if len(distinct) else None,
        float(known.mean()) if len(distinct) else None,
        float(distinct[-1]) if len(distinct) else None,
    )


def role_of_numbers(name: str, values: Floats) -> ColumnRole:
    """Numbers: zeros and ones, row numbers, or what was measured."""
    known = _known(values)
    distinct = distinct_numbers(known)
    found = measured(name, values, known, distinct)
    if found.distinct < 2:
        return one_value(found)
    whole = found.reason == "whole numbers"
    if whole and found.distinct == 2 and (found.low, found.high) == (0, 1):
        return replace(found, role="boolean", reason="zeros and ones")
    if whole and len(known) >= FEW_ROWS and _numbers_rows(known, distinct, name):
        reason = "whole numbers that identify each row"
        text = f"{name} identifies each row and is left out."
        found = replace(found, role="identifier", used=False, reason=reason)
        return found.flagged("identifier", "note", text)
    if whole and _names_kinds(len(known), len(distinct), name):
        return replace(found, reason=KIND_NAMES)
    return _with_mark(found, known, distinct)


def role_of_dates(name: str, days: Floats, reason: str = "dates") -> ColumnRole:
    """Dates, by their days since 1970."""
    known = _known(days)
    distinct = distinct_numbers(known)
    found = measured(name, days, known, distinct)
    ends = () if found.low is None else (found.low, found.high)
    found = replace(found, role="date", examples=tuple(map(date_text, ends)))
    if found.distinct < 2:
        return one_value(found)
    parts = parts_of(distinct, len(known))
    told = ["days since 1970", *parts]
    listed = " and ".join(filter(None, [", ".join(told[:-1]), told[-1]]))
    return replace(found, reason=f"{reason}, read as {listed}", parts=parts)


def _known(values: Floats) -> Floats:
    gaps = np.isnan(values)
    return values[~gaps] if gaps.any() else values


def date_text(days: Any) -> str:
    """A day, with its time unless that is midnight."""
    moment = EPOCH + np.timedelta64(round(float(days) * 86_400), "s")
    return str(moment.astype("datetime64[s]")).replace("T00:00:00", "").replace("T", " ")


def one_value(found: ColumnRole) -> ColumnRole:
    """A column that says nothing."""
    name = found.name
    if found.distinct == 0:
        found = replace(found, role="empty", used=False, reason="all values are missing")
        return found.flagged("constant", "note", f"{name} is empty and is left out.")
    (value, *_) = found.examples
    found = replace(found, role="constant", used=False, reason=f"every value is {value}")
    text = f"{name} is constant ({value}) and is left out."
    return found.flagged("constant", "note", text)


def _numbers_rows(values: Floats, distinct: Floats, name: str) -> bool:
    """Whether whole numbers count the rows, or are called an identifier and mostly differ."""
    share = len(distinct) / len(values)
    words = words_of(name)
    if says_time(name) or LATER & set(words):
        return False
    if IDENTIFIERS & set(words) and share > 0.5:
        return True
    if share < 1:
        return False
    called = bool(words) and words[-1] in NUMBERED
    return called or bool(np.mean(np.diff(distinct) == 1) > 0.95) or _rise_evenly(distinct)


def _rise_evenly(distinct: Floats) -> bool:
    """Whether numbers, sorted, rise from zero or more by steps of about one size.

    What was measured has steps of all sizes: their deviation is about their mean.
    """
    steps, many = np.diff(distinct), len(distinct) >= COUNTED_ROWS
    return many and bool(distinct[0] >= 0 and np.std(steps) < 0.7 * steps.mean())


def _names_kinds(n: int, distinct: int, name: str) -> bool:
    """Whether whole numbers that repeat are called a zip code, a type, or the id of something."""
    return is_called_kind(name) and 2 < distinct <= n / 2


def is_called_kind(name: str) -> bool:
    """Whether the name of a column says zip code, type, id, ..."""
    words = words_of(name)
    anywhere = {"zip", "postal", "plz"} | IDENTIFIERS
    return bool(words) and (words[-1] in KINDS or bool(anywhere & set(words)))


def _with_mark(found: ColumnRole, values: Floats, rest: Floats) -> ColumnRole:
    """The same with a warning, if a number far from all others repeats, as for unknown cells.

    As 999 after ages of up to 90, or the only -1 below counts.
    """
    for end, others in ((rest[-1], rest[:-1]), (rest[0], rest[1:])):
        if end not in MARKS or len(others) < 10:
            continue
        n = int((values == end).sum())
        if n < LEAST_MARKED:
            continue
        room = others[-1] - others[0]
        near = others[-1] if end > others[0] else others[0]
        below_counts = end == -1 and others[0] >= 0
        if below_counts or abs(end - near) > max(room, 1):
            low, high = number_text(others[0]), number_text(others[-1])
            text = (
                f"{found.name} is {number_text(end)} in {n:,} rows and from {low} to {high} in all "
                "others: it may stand for a missing value."
            )
            return found.flagged("sentinel", "warning", text)
    return found
