"""FoundDates and times as people write them: 15.01.2024, 01/15/2024 1:45 PM, Jan 15, 2024, 45306.

Whether the day or the month comes first is decided by the column as a whole, once, and every later
cell is read in the same way.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posterior.data.cells import EPOCH
from posterior.data.typing import Floats
from posterior.preprocessing.text_cells import MANY, Texts, as_arrow, chosen, listed

Moments = NDArray[np.datetime64]

MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
SOME = 500  # cells that show whether a closer look pays
SHARE = 0.99
FEW = 5  # different cells that are no dates

_NAME = r"(?P<month>[A-Za-z]{3,9})"
_YEAR, _DAY = r"(?P<year>\d{4}|\d{2})", r"(?P<day>\d{1,2})"
_TIME = (
    r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2}(?:\.\d+)?))?"
    r"\s*(?P<half>[AaPp])?(?:\.?[Mm]\.?)?\s*(?P<zone>Z|UTC|GMT|[+\-]\d{2}:?\d{2})?"
)
_SIGN = r"[/.\-]"
FORMS = {  # by what comes first
    "year": rf"(?P<year>\d{{4}}){_SIGN}(?P<month>\d{{1,2}}){_SIGN}{_DAY}",
    "month": rf"(?P<month>\d{{1,2}}){_SIGN}{_DAY}{_SIGN}{_YEAR}",
    "day": rf"{_DAY}{_SIGN}(?P<month>\d{{1,2}}){_SIGN}{_YEAR}",
    "day and name": rf"(?:[A-Za-z]{{3,9}},?\s+)?{_DAY}(?:st|nd|rd|th)?[\s\-/.]+{_NAME}"
    rf"\.?,?[\s\-/]+{_YEAR}",
    "name and day": rf"(?:[A-Za-z]{{3,9}},?\s+)?{_NAME}\.?\s+{_DAY}(?:st|nd|rd|th)?,?\s+"
    r"(?P<year>\d{4})",
    "name": rf"{_NAME}\.?[\s\-/,]+(?P<year>\d{{4}})",
    "year and month": r"(?P<year>\d{4})-(?P<month>\d{2})",
    "digits": r"(?P<year>\d{4})(?P<month>\d{2})(?P<day>\d{2})(?:\.0)?",
    "time": "",
}
GUESSED = tuple(form for form in FORMS if form != "digits")  # which need a name that says date
COUNTS = {  # numbers that are dates: what one is worth in days, and the first day
    "days since 1900": (1.0, np.datetime64("1899-12-30", "us")),
    "seconds since 1970": (1 / 86_400, EPOCH),
    "milliseconds since 1970": (1 / 86_400_000, EPOCH),
}
SPAN = np.array(["1990-01-01", "2040-01-01"], "datetime64[us]")  # of dates that are numbers
_FIELDS = ("year", "month", "day", "hour", "minute", "second", "half", "zone")


@dataclass(frozen=True, slots=True)
class WrittenDates:
    """How the dates of a column are written; the year first is understood beside it."""

    form: str = "year"

    what = "dates"

    @property
    def is_count(self) -> bool:
        """Whether cells are numbers."""
        return self.form in COUNTS or self.form == "digits"

    def values(self, cells: Texts) -> Any:
        """The moment of each cell, as datetime64, NaT where it is none; or hours of a day."""
        if self.form in COUNTS:
            found = self.counted(np.array([_float(cell) for cell in listed(cells)]))
        else:
            found = _moments(_fields(cells, self.form))
        if self.form == "time":
            return (found - EPOCH) / np.timedelta64(1, "h")
        if self.form != "year" and np.isnat(found).any():
            gaps = np.isnat(found)
            found[gaps] = _moments(_fields(chosen(cells, gaps), "year"))
        return found

    def counted(self, numbers: Floats) -> Moments:
        """Moments of cells that are numbers."""
        if self.form == "digits":
            texts = ["" if np.isnan(n) else f"{n:.0f}" for n in numbers]
            return _moments(_fields(texts, self.form))
        unit, first = COUNTS[self.form]
        days = np.where(np.abs(numbers * unit) < 1e7, numbers * unit, np.nan)
        gaps = np.isnan(days)
        found = first + np.round(np.where(gaps, 0, days) * 86_400e6).astype("timedelta64[us]")
        found[gaps] = np.datetime64("NaT")
        return np.asarray(found)


def _float(cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        return np.nan


@lru_cache
def pattern_of(form: str) -> re.Pattern[str]:
    if form == "time":
        return re.compile(rf"\s*{_TIME}\s*")
    return re.compile(rf"\s*{FORMS[form]}(?:(?:T|,?\s+){_TIME})?\s*")


def _fields(cells: Texts, form: str) -> dict[str, Floats]:
    """Year, month, ..., zone of each cell as numbers, NaN where it has none."""
    if len(cells) > MANY:
        try:
            return _by_arrow(cells, form)
        except ModuleNotFoundError:
            pass
    pattern = pattern_of(form)
    known = [field for field in _FIELDS if field in pattern.groupindex]
    found = {field: np.full(len(cells), np.nan) for field in known}
    for i, cell in enumerate(listed(cells)):
        match = pattern.fullmatch(cell)
        if match is not None:
            for field in known:
                if text := match[field]:
                    found[field][i] = _number(field, text)
    return found


def _number(field: str, text: str) -> float:
    if field == "month" and text[0].isalpha():
        name = text[:3].title()
        whole = len(text) < 4 or _FULL.get(text.title()) == name or text.title() == "Sept"
        return MONTHS.index(name) + 1.0 if name in MONTHS and whole else np.nan
    if field == "half":
        return float(text in "pP")
    if field == "zone":
        digits = text.replace(":", "")
        hours, minutes = (digits[1:3], digits[3:]) if digits[0] in "+-" else ("0", "0")
        return (-1.0 if digits[0] == "-" else 1.0) * (60 * int(hours) + int(minutes))
    value = float(text)
    if field == "year" and len(text) == 2:
        return value + (2000 if value < 69 else 1900)  # as POSIX has it
    return value


_FULL = {
    name: name[:3]
    for name in (
        "January February March April May June July August September October November December"
    ).split()
}


def _by_arrow(cells: Texts, form: str) -> dict[str, Floats]:
    """The same of many cells: each different text of a field is looked at once."""
    import pyarrow.compute as pc

    pattern = pattern_of(form)
    parts = pc.extract_regex(as_arrow(cells), f"^(?:{pattern.pattern})$")
    found = {}
    for field in _FIELDS:
        if field in pattern.groupindex:
            coded = pc.struct_field(parts, field).dictionary_encode()
            texts = coded.dictionary.to_pylist()
            values = np.array([_number(field, t) if t else np.nan for t in texts] + [np.nan])
            found[field] = values[coded.indices.fill_null(len(texts)).to_numpy()]
    return found


def _moments(fields: dict[str, Floats]) -> Moments:
    """datetime64 of years, months, ...; NaT where there is no such day or time.

    A time of day alone is of 1970-01-01.
    """
    n = len(next(iter(fields.values())))
    dated = "year" in fields
    ones = np.ones(n)
    year, month = (fields["year"], fields["month"]) if dated else (1970 * ones, ones)
    day = fields.get("day", ones)
    hour, minute, second, zone = (
        np.nan_to_num(fields.get(field, np.zeros(n)))
        for field in ("hour", "minute", "second", "zone")
    )
    half = fields.get("half", np.full(n, np.nan))
    valid = (month >= 1) & (month <= 12) & (day >= 1) & (year >= 1)
    if not dated:
        valid &= ~np.isnan(fields["hour"])
    valid &= np.isnan(half) | ((hour >= 1) & (hour <= 12))
    hour = np.where(np.isnan(half), hour, hour % 12 + 12 * np.nan_to_num(half))
    valid &= (hour < 24) & (minute < 60) & (second < 61)

    def whole(values: Floats) -> Any:
        return np.where(valid, values, 1).astype(np.int64)

    first = ((whole(year) - 1970) * 12 + whole(month) - 1).astype("datetime64[M]")
    length = ((first + 1).astype("datetime64[D]") - first.astype("datetime64[D]")).astype(np.int64)
    valid &= day <= length
    minutes = whole(hour) * 60 + whole(minute) - whole(zone)
    found = first.astype("datetime64[us]") + (whole(day) - 1).astype("timedelta64[D]")
    found = found + minutes.astype("timedelta64[m]")
    found = found + np.round(np.where(valid, second, 0) * 1e6).astype("timedelta64[us]")
    found[~valid] = np.datetime64("NaT")
    return np.asarray(found)


@dataclass(frozen=True, slots=True)
class FoundDates:
    """What was found: how dates are written, and which cells are none."""

    written: WrittenDates
    values: Any  # of the different cells: datetime64, or hours
    odd: tuple[str, ...]
    ambiguous: bool  # whether the day or the month comes first is not decided by any cell


def written_dates(
    cells: Texts, counts: Floats, *, named: bool = False, sure: bool = False
) -> FoundDates | None:
    """How the different cells of a column are dates, if they are.

    Digits alone are dates where the name of the column says so; `sure` is a column that a person
    calls dates.
    """
    if not any(_has_shape(cell) for cell in listed(cells, 20)) and not sure:
        return None
    found: dict[str, tuple[float, Any]] = {}
    for form in FORMS if named or sure else GUESSED:
        some = WrittenDates(form).values(listed(cells, SOME))
        if np.mean(~np.isnan(some)) >= (0.5 if sure else 0.95):
            values = WrittenDates(form).values(cells)
            found[form] = float(counts[~np.isnan(values)].sum()), values
    if not found:
        return None
    form = max(found, key=lambda form: found[form][0])
    fitting, values = found[form]
    either = found.get("day", (0,))[0] == found.get("month", (-1,))[0] == fitting
    if either and form in ("day", "month"):  # slashes are American, points and dashes are not
        form = "month" if any("/" in cell for cell in listed(cells, 20)) else "day"
        values = found[form][1]
        either = not np.array_equal(values, found["month" if form == "day" else "day"][1])
    odd = tuple(dict.fromkeys(listed(chosen(cells, np.isnan(values)))))
    if not sure and (fitting < SHARE * counts.sum() or len(odd) > FEW):
        return None
    return FoundDates(WrittenDates(form), values, odd, bool(either and form in ("day", "month")))


def _has_shape(cell: str) -> bool:
    """A quick look: digits, and not just a few of them in a long text."""
    return len(cell) <= 45 and sum(letter.isdigit() for letter in cell) >= 3


def counted_dates(numbers: Floats, name: str) -> WrittenDates | None:
    """How the numbers of a column are dates, if its name and their size say so."""
    if not says_time(name):
        return None
    forms = ("digits", *COUNTS) if says_date(name) else [*COUNTS][1:]
    return next((w for form in forms if _plausible(numbers, w := WrittenDates(form))), None)


def as_dates(numbers: Floats, name: str) -> WrittenDates:
    """How the numbers of a column are dates, if a person says that they are."""
    for form in ("digits", *COUNTS):
        if _plausible(numbers, written := WrittenDates(form)):
            return written
    row = int(np.argmax(~np.isnan(numbers)))
    raise ValueError(
        f"Expected dates in {name!r}, as asked, got {numbers[row]:g} in row {row}. Digits such as "
        "20240131, days as spreadsheets count them, and seconds since 1970 are dates."
    )


def _plausible(numbers: Floats, written: WrittenDates) -> bool:
    """Whether all numbers are days of the calendar, or of a time that data are of."""
    known = numbers[~np.isnan(numbers)]
    if not len(known):
        return False
    ends = np.array([known.min(), known.max()])
    if written.form == "digits":
        whole = bool((known == np.round(known)).all()) and 18000101 <= ends[0] <= ends[1] < 22000101
        return whole and not np.isnat(written.counted(np.unique(known))).any()
    moments = written.counted(ends)
    return bool(not np.isnat(moments).any() and SPAN[0] <= moments[0] and moments[1] <= SPAN[1])


DATE_WORDS = {"date", "dates", "datum", "fecha", "dt", "dob", "birthday", "day"}
TIME_WORDS = DATE_WORDS | {
    *("time", "timestamp", "datetime", "ts", "at", "created", "updated", "modified"),
    *("epoch", "unix", "when", "start", "started", "end", "ended", "utc"),
}


def words_of(name: str) -> list[str]:
    """The words of a column's name, in small letters: order_date, OrderDate, "Order Date"."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[^A-Za-z]+", " ", name)
    return spaced.casefold().split()


def says_date(name: str) -> bool:
    """Whether a column is called a date."""
    return any(w in DATE_WORDS or (w.endswith("date") and w != "update") for w in words_of(name))


def says_time(name: str) -> bool:
    """Whether a column is called a date or a time."""
    return says_date(name) or any(word in TIME_WORDS for word in words_of(name))
