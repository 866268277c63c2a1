"""Rows of numbers: what encodings make of the columns of a table, one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from posterior.javascript.sheet import Column, Described, Sheet
from posterior.preprocessing.encoding import CategoryColumn, Encoding, NumberColumn
from posterior.preprocessing.numbers import Levels, Numbers, ScaledNumber


@dataclass(frozen=True)
class NumberRow:
    """Parts of a row of numbers, what each is called, and the column whose evidence it is."""

    sheet: Sheet
    parts: Sequence[Described]
    names: list[str]
    terms: list[str]
    gaps: bool  # whether a number may be missing

    def vector(self) -> int:
        return self.sheet.vector(self.parts)


def plain_numbers(columns: Sequence[Column]) -> NumberRow:
    """Numbers as they are."""
    sheet = columns[0].sheet
    parts = [{"kind": "number", "cell": column.number()} for column in columns]
    names = [c.term for c in columns]
    return NumberRow(sheet, parts, names, names, gaps=True)


def encoded(encoding: Encoding, columns: Sequence[Column]) -> NumberRow:
    """The numbers that an encoding makes of a table."""
    sheet = columns[0].sheet
    pairs = zip(encoding.columns, columns, strict=True)
    parts = [
        _filled(each, c) if isinstance(each, NumberColumn) else _indicators(each, c)
        for each, c in pairs
    ]
    names = [str(name) for name in encoding.names()]
    return NumberRow(sheet, parts, names, names, gaps=True)


def _filled(each: NumberColumn, column: Column) -> Described:
    if not each.gaps:
        return {"kind": "number", "cell": column.number()}
    return {"kind": "filled", "cell": column.number(), "fill": each.fill}


def _indicators(each: CategoryColumn, column: Column) -> Described:
    """An indicator for each level but the first, and one for whatever is none of them."""
    size, none = len(each.names), len(each.levels) - 1 if each.gaps else None
    places = [*range(-1, len(each.levels) - 1)]
    return _levels(column, each.levels, places, size, never=none, missing=none)


def scaled(made_by: Numbers, columns: Sequence[Column]) -> NumberRow:
    """The numbers of a prepared table."""
    by_name = {c.name: c for c in columns}
    sources = [by_name[each.name] for each in made_by.columns]
    pairs = [*zip(made_by.columns, sources, strict=True)]
    parts = [
        _scaled(each, c) if isinstance(each, ScaledNumber) else _ranked(each, c)
        for each, c in pairs
    ]
    names = [c.term if name == c.name else name for each, c in pairs for name in each.names]
    terms = [c.term for each, c in pairs for _ in each.names]
    gaps = any(isinstance(each, ScaledNumber) and each.keep_missing for each in made_by.columns)
    return NumberRow(columns[0].sheet, parts, names, terms, gaps)


def _scaled(each: ScaledNumber, column: Column) -> Described:
    made = {"kind": "scaled", "cell": column.number()}
    given = {"mean": each.mean, "deviation": each.deviation}
    return {**made, **given, "keep": each.keep_missing, "gaps": each.gaps}


def _ranked(each: Levels, column: Column) -> Described:
    """The reference has no number; a level never seen counts as a rare one."""
    n, levels = len(each.levels), [*each.levels]
    places = [*range(n)]
    if each.reference is not None:
        levels, places = [*levels, each.reference], [*places, -1]
    missing = n + int(each.rare) if each.gaps else -1
    never = n if each.rare else -1
    return _levels(column, levels, places, len(each.names), never=never, missing=missing)


def _levels(
    column: Column,
    levels: Sequence[str],
    places: Sequence[int],
    size: int,
    *,
    never: int | None,
    missing: int | None,
) -> Described:
    """Which number is one; -1 is none of them, None that all are missing."""
    made = {"kind": "levels", "cell": column.words(levels), "levels": column.sheet.shared(levels)}
    return {**made, "places": [*places], "size": size, "never": never, "missing": missing}
