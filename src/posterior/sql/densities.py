"""log p(x | k) as SQL: the formulas that families say in symbols, written down."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import singledispatchmethod
from typing import Any

from posterior.families.family import AnyFamily
from posterior.families.symbols import (
    Cell,
    Expression,
    Known,
    Log,
    Lookup,
    Number,
    Steps,
    Sum,
    Times,
)
from posterior.sql.cells import Column, spellings
from posterior.sql.expressions import (
    SQL,
    among,
    cases,
    equals,
    exceeds,
    is_missing,
    label,
    less,
    log,
    number,
    or_else,
    plus,
    times,
)
from posterior.sql.scores import Term


def terms(family: AnyFamily, parameters: Any, columns: Sequence[Column]) -> list[Term]:
    """The terms of log p(x | k), up to what all groups share."""
    cells = [Cell(column.name, place) for place, column in enumerate(columns)]
    writer = Writer(columns)
    return [
        Term(formula.name, [writer.sql(score) for score in formula.scores])
        for formula in family.formula(parameters, cells)
    ]


@dataclass
class Writer:
    """Writes formulas of some columns; each cell is worked out once."""

    columns: Sequence[Column]
    cells: dict[tuple[Cell, bool], SQL] = field(default_factory=dict)

    def _cell(self, cell: Cell, words: bool = False) -> SQL:
        if (cell, words) not in self.cells:
            column = self.columns[cell.place]
            value = column.as_words() if words else less(column.as_number(), cell.origin)
            self.cells[cell, words] = column.sheet.cell(column.name, value)
        return self.cells[cell, words].copy()

    @singledispatchmethod
    def sql(self, formula: Expression) -> SQL:
        """An expression in SQL."""
        raise TypeError(f"Expected a formula that SQL can hold, got {type(formula).__name__}.")

    @sql.register
    def _(self, formula: Number) -> SQL:
        return number(formula.value)

    @sql.register
    def _(self, formula: Cell) -> SQL:
        return self._cell(formula)

    @sql.register
    def _(self, formula: Sum) -> SQL:
        left, right = formula.left, formula.right
        if isinstance(right, Number):
            return less(self.sql(left), -right.value)
        return plus(self.sql(left), self.sql(right))

    @sql.register
    def _(self, formula: Times) -> SQL:
        return times(self.sql(formula.left), self.sql(formula.right))

    @sql.register
    def _(self, formula: Log) -> SQL:
        return log(self.sql(formula.of))

    @sql.register
    def _(self, formula: Known) -> SQL:
        return or_else(self.sql(formula.of), 0.0)

    @sql.register
    def _(self, formula: Steps) -> SQL:
        lowest, *higher = formula.values
        steps = reversed(list(zip(formula.cuts, higher, strict=True)))
        above = [(exceeds(self._cell(formula.cell), cut), number(value)) for cut, value in steps]
        missing = is_missing(self._cell(formula.cell)), number(0.0)
        return cases([missing, *above], number(lowest))

    @sql.register
    def _(self, formula: Lookup) -> SQL:
        levels = formula.levels
        x = self._cell(formula.cell, words=all(isinstance(level, str) for level in levels))
        pairs = zip(levels, formula.values, strict=True)
        known = [(_is_level(x, level, levels), number(value)) for level, value in pairs]
        return cases([(is_missing(x.copy()), number(0.0)), *known], number(formula.otherwise))


def _is_level(x: SQL, level: Any, levels: Sequence[Any]) -> SQL:
    if isinstance(level, str):
        return among(x.copy(), spellings(level, levels))
    return equals(x.copy(), label(level))  # categories 0, 1, 2, ...
