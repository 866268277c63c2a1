"""Columns of the table, and the cells that a model makes of them, each computed once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from sqlglot import exp

from posterior.data.typing import Array
from posterior.preprocessing.date_parts import THURSDAY, WEEKDAYS
from posterior.preprocessing.dates import MONTHS
from posterior.sql.expressions import (
    SQL,
    between,
    cases,
    column,
    double,
    exceeds,
    is_finite,
    is_missing,
    is_number,
    is_there,
    less,
    number,
    or_else,
    over,
    plus,
    text,
    times,
    word,
)

TABLE = "t"  # what the table is called inside the query
SECONDS = 86400.0  # of a day
PARTS = {"month": MONTHS, "weekday": WEEKDAYS}
WHOLE = re.compile(r"-?\d+")
REAL = re.compile(r"-?\d+\.\d+|-?\d+(\.\d+)?e[+-]\d+|-?\d{16,}")  # or many digits

Reading = Literal["plain", "date", "boolean", "month", "weekday", "hour"]


@dataclass
class Sheet:
    """Names that are taken, and the cells made so far."""

    taken: set[str] = field(default_factory=set)
    cells: dict[str, SQL] = field(default_factory=dict)

    def unused(self, name: str) -> str:
        """The name, or one like it: databases may ignore the case of letters."""
        while name.casefold() in self.taken:
            name += "_"
        self.taken.add(name.casefold())
        return name

    def cell(self, name: str, value: SQL) -> SQL:
        """A column of the query's first step."""
        alias = self.unused(f"x_{name}")
        self.cells[alias] = value
        return column(alias)


@dataclass(frozen=True)
class Column:
    """A column that a model reads, as a number or as words."""

    name: str  # in the model
    source: str  # in the table
    sheet: Sheet
    reading: Reading = "plain"
    made: SQL | None = None  # the number, if it is made of the table's column

    @property
    def raw(self) -> SQL:
        return column(self.source, TABLE)

    def is_missing(self) -> SQL:
        return is_missing(self.raw)

    def as_number(self) -> SQL:
        """The cell as a double; NULL if it is NaN or infinite."""
        if self.made is not None:
            return self.made.copy()
        if self.reading in ("date", "hour"):
            seconds = exp.TimeToUnix(this=exp.cast(self.raw, "timestamp"))
            days = over(double(seconds), SECONDS)  # since 1970
            return days if self.reading == "date" else _floor(times(_rest(days), number(24.0)))
        x = double(self.raw)
        return cases([(is_finite(x), x.copy())])

    def as_words(self) -> SQL:
        if self.reading in PARTS:
            return self._part(PARTS[self.reading])
        return exp.Lower(this=text(self.raw)) if self.reading == "boolean" else text(self.raw)

    def _part(self, names: Sequence[str]) -> SQL:
        """The short name of a month or weekday."""
        moment = exp.cast(self.raw, "timestamp")
        if self.reading == "month":
            place = double(exp.Extract(this=exp.var("MONTH"), expression=moment))
        else:
            days = _floor(over(double(exp.TimeToUnix(this=moment)), SECONDS))
            weeks = over(plus(days, number(float(THURSDAY))), 7.0)
            place = plus(_floor(times(_rest(weeks), number(7.0)), 0.5), number(1.0))
        pairs = [
            (between(place.copy(), i - 0.5, i + 0.5), word(name)) for i, name in enumerate(names, 1)
        ]
        return cases(pairs)

    def number(self, least: float = 0.0, missing: float | None = None) -> SQL:
        """A number; zero if it is closer to zero than `least`; `missing` stands for a gap."""
        x = _rounded(self.as_number(), least)
        dated = self.reading in ("date", "hour")
        if missing is not None and self.made is None and not dated:
            gap = is_missing(double(self.raw))  # an infinite cell is none, and stays NULL
            x = cases([(gap, number(missing))], x)
        elif missing is not None:
            x = or_else(x, missing)
        return self.sheet.cell(self.name, x)

    def number_or_infinity(self, least: float = 0.0) -> SQL:
        """The same, but for infinite cells, so that they are not missing ones."""
        if self.made is not None or self.reading in ("date", "hour"):
            return self.number(least)
        x = double(self.raw)
        return self.sheet.cell(self.name, _rounded(cases([(is_number(x), x.copy())]), least))

    def distance(self, center: float, least: float, farthest: float) -> SQL:
        """x - center, at most as large as the farthest; zero if it is less than the least."""
        center = center if abs(center) > least else 0.0
        x = _rounded(self.as_number(), least if center == 0 else 0.0)
        ends = center - farthest, center + farthest
        inside = between(x, *ends), less(x.copy(), center)
        above, below = (number(sign * farthest) for sign in (1, -1))
        beyond = [(exceeds(x.copy(), ends[1]), above), (is_there(x.copy()), below)]
        return self.sheet.cell(self.name, cases([inside, *beyond]))

    def words(self) -> SQL:
        return self.sheet.cell(self.name, self.as_words())

    def numbers(self, made: Mapping[str, SQL]) -> list[Column]:
        """Numbers made of this column, by their names."""
        return [replace(self, name=name, made=value) for name, value in made.items()]


def _floor(value: SQL, more: float = 0.0) -> SQL:
    return exp.Floor(this=plus(value, number(more)) if more else value)


def _rest(value: SQL) -> SQL:
    """What is left of a number without the whole one below it."""
    return exp.Paren(this=exp.Sub(this=value, expression=_floor(value.copy())))


def _rounded(x: SQL, least: float) -> SQL:
    """Zero if x is closer to it than that, since PostgreSQL refuses products that vanish."""
    return cases([(between(x, -least, least), number(0.0))], x.copy()) if least else x


def spellings(level: str, levels: Iterable[str]) -> list[str]:
    """How databases write a value that the model knows by one text.

    1 may stand in a column of doubles, and true in a column that keeps it as 1.
    """
    return _spelled(level, known := set(levels), _are_truths(known))


def all_spellings(levels: Iterable[str]) -> dict[str, list[str]]:
    """The same of each of them."""
    truths = _are_truths(known := set(levels))
    return {level: _spelled(level, known, truths) for level in levels}


def _are_truths(levels: set[str]) -> bool:
    return {level.lower() for level in levels} <= {"true", "false"}


def _spelled(level: str, known: set[str], truths: bool) -> list[str]:
    found = [level]
    if truths:
        small = level.lower()
        found += [small, "1" if small == "true" else "0"]
    elif WHOLE.fullmatch(level):
        found.append(f"{level}.0")
        if known <= {"0", "1"}:
            found.append("true" if level == "1" else "false")
        if level == "0":
            found += ["-0", "-0.0"]
    if REAL.fullmatch(level):
        found += _written(float(level))
    return [s for s in dict.fromkeys(found) if s == level or s not in known]


def _written(value: float) -> list[str]:
    """As databases write doubles: SQLite with 15 digits, and a point before every exponent."""
    found = []
    for shown in (repr(value), f"{value:.15g}"):
        digits, e, exponent = shown.partition("e")
        found += [shown, f"{digits}{'' if '.' in digits else '.0'}{e}{exponent}"]
    return found


def indicator(condition: SQL) -> SQL:
    """One where it holds, else zero."""
    return exp.Case().when(condition, number(1.0), copy=False).else_(number(0.0), copy=False)


def source_names(names: Array | None, given: Sequence[str] | None, n: int) -> list[str]:
    """What the columns are called in the table."""
    if given is not None:
        if isinstance(given, str) or len(given) != n:
            raise ValueError(f"Expected {n} names as columns=, one a feature, got {given!r}.")
        return [str(name) for name in given]
    if names is None:
        raise ValueError(
            f"Expected names of {n} columns, but the model was fitted to an array, which has none. "
            "Pass columns=[...]."
        )
    return [str(name) for name in names]
