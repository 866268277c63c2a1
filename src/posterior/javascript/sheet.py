"""What a module reads of a row: columns, cells and numbers made of them, each written once."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np

from posterior.families.family import Support
from posterior.preprocessing.dates import COUNTS, WrittenDates
from posterior.preprocessing.dates import pattern_of as date_pattern
from posterior.preprocessing.roles import ColumnRole
from posterior.preprocessing.written_numbers import SCALES, WrittenNumbers
from posterior.preprocessing.written_numbers import pattern_of as number_pattern

Described: TypeAlias = dict[str, Any]
"""A part of a model as JavaScript reads it: its kind, and names to numbers, texts and lists."""

NUMBERS, WORDS = "numbers", "words"  # which marks of a missing cell there are
LOWEST: dict[Support, Described] = {
    "positive": {"least": 0.0, "above": True},
    "not negative": {"least": 0.0},
    "count": {"least": 0.0},
}


@dataclass
class Once:
    """Values in the order they came; one that comes again has the place it had."""

    values: list[Any] = field(default_factory=list)
    places: dict[str, int] = field(default_factory=dict)

    def place(self, value: Any) -> int:
        key = json.dumps(value)
        if key not in self.places:
            self.places[key] = len(self.values)
            self.values.append(value)
        return self.places[key]


@dataclass
class Sheet:
    """Columns, and all that is made of their cells."""

    columns: list[Described] = field(default_factory=list)
    cells: Once = field(default_factory=Once)
    vectors: Once = field(default_factory=Once)
    lists: Once = field(default_factory=Once)
    names: Once = field(default_factory=Once)
    models: list[Described] = field(default_factory=list)  # of single columns

    def column(self, name: str) -> Column:
        """One more column of the table."""
        self.columns.append({"name": name})
        return Column(name, self, len(self.columns) - 1, name)

    def cell(self, described: Described) -> int:
        """The place of a cell."""
        return self.cells.place(described)

    def vector(self, parts: Sequence[Described]) -> int:
        """The place of a row of numbers."""
        return self.vectors.place(list(parts))

    def shared(self, values: Iterable[Any]) -> int:
        """The place of a list that several parts read."""
        return self.lists.place(list(values))

    def name(self, *terms: Any) -> int:
        """The place of the name of a term, of one column or of several together."""
        parts = [self.names.place(term) for term in dict.fromkeys(map(str, terms))]
        return parts[0] if len(parts) == 1 else self.names.place(parts)


@dataclass(frozen=True)
class Column:
    """A column that a model reads, as a number or as words."""

    name: str  # in the model
    sheet: Sheet
    place: int  # in the table
    term: str  # what its evidence is called
    role: ColumnRole | None = None  # what it was taken for, in a file
    part: str | None = None  # month, weekday or hour of a date
    told: tuple[int, int] | None = None  # a number of the model of a column
    missing: str | None = None  # the text that a missing one stands for

    def number(self, support: Support = "real", *, needed: bool = False) -> int:
        """The cell as a number; those that Python refuses are refused."""
        if self.told is not None:
            model, i = self.told
            return self.sheet.cell({"kind": "told", "model": model, "i": i})
        if self.part is not None:
            return self.sheet.cell({"kind": "hour", "of": self._date()})
        if self.role is not None and self.role.role == "date":
            return self._date()
        self._shown("number")
        read = {} if self.role is None else _written(self.role)
        limits = {**LOWEST.get(support, {}), **({"needed": True} if needed else {})}
        return self.sheet.cell({"kind": "number", "column": self.place, **read, **limits})

    def words(self, levels: Iterable[Any] = ()) -> int:
        """The cell as text, of which these are known."""
        if self.part is not None and self.part != "hour":
            return self.sheet.cell({"kind": self.part, "of": self._date()})
        role = None if self.role is None else self.role.role
        if self.part is not None or self.told is not None or role in ("number", "date"):
            return self.sheet.cell({"kind": "digits", "of": self.number()})
        known = [*map(str, levels)]
        self._shown("boolean" if role == "boolean" else "category", known)
        empty = {"empty": True} if "" in known else {}
        read = empty if self.role is None else _marks(self.role, WORDS)
        lower = {"lower": True} if role == "boolean" else {}
        return self.sheet.cell({"kind": "word", "column": self.place, **read, **lower})

    def text(self, levels: Iterable[str] = ()) -> int:
        """The cell as a text, of which some may be known as a whole."""
        known = [level for level in levels if level != self.missing]
        self._shown("category" if known else "text", known)
        read = {"empty": True} if self.role is None else _marks(self.role, WORDS)
        given = {} if self.missing is None else {"missing": self.missing}
        return self.sheet.cell({"kind": "word", "column": self.place, **read, **given})

    def _date(self) -> int:
        assert self.role is not None
        self._shown("date")
        written = self.role.written
        dates = written if isinstance(written, WrittenDates) else WrittenDates()
        read = {**_dates(dates), **_marks(self.role, NUMBERS)}
        return self.sheet.cell({"kind": "date", "column": self.place, **read})

    def _shown(self, kind: str, levels: Iterable[Any] = ()) -> None:
        """What a form may ask for: the first that reads the column says its kind."""
        told = self.sheet.columns[self.place]
        told.setdefault("kind", kind)
        known = dict.fromkeys([*told.get("levels", ()), *map(str, levels)])
        if known:
            told["levels"] = [*known]
        if self.role is not None and self.role.low is not None:
            told |= {"low": self.role.low, "high": self.role.high, "mean": self.role.mean}

    def of_role(self, role: ColumnRole) -> list[Column]:
        """The column as its role says, and beside it the parts of its dates."""
        own = replace(self, role=role)
        parts = (replace(own, name=f"{role.name} {part}", part=part) for part in role.parts)
        return [own, *parts]


def _marks(role: ColumnRole, among: str) -> Described:
    """Which texts stand for a missing cell."""
    if role.gaps is None and role.written is None and role.role != "date":
        return {}
    return {"marks": among, **({"gaps": [*role.gaps]} if role.gaps else {})}


def _written(role: ColumnRole) -> Described:
    """How text is a number."""
    written = role.written
    if isinstance(written, WrittenDates):
        return {**_dates(written), **_marks(role, NUMBERS)}
    if not isinstance(written, WrittenNumbers):
        return _marks(role, WORDS)
    pattern: Mapping[str, Any] = {
        "pattern": _pattern(number_pattern(written)),
        "signs": written.signs,
        "decimal": written.decimal,
        "scales": SCALES,
    }
    return {"written": pattern, **_marks(role, NUMBERS)}


def _dates(written: WrittenDates) -> Described:
    """How text or a number is a date."""
    form: Described = {"form": written.form, "counts": written.is_count}
    if written.form in COUNTS:
        unit, first = COUNTS[written.form]
        form |= {"unit": unit, "first": int(first.astype(np.int64)), "patterns": []}
    else:
        form["patterns"] = [_pattern(date_pattern(written.form))]
    year = WrittenDates().form
    if written.form not in (year, "time"):
        form["patterns"] += [_pattern(date_pattern(year))]
    return form


def _pattern(pattern: re.Pattern[str]) -> str:
    """As JavaScript writes it."""
    return pattern.pattern.replace("(?P<", "(?<")
