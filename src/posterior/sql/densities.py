"""log p(x | k) as SQL: the formulas that families say in symbols, written down."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import singledispatchmethod
from typing import Any, Literal, TypeAlias

import numpy as np
from sqlglot import exp

from posterior.families.family import AnyFamily
from posterior.families.multinomial import without_gamma
from posterior.families.symbols import (
    Abs,
    Cell,
    Expression,
    Kernels,
    Known,
    Log,
    LogRising,
    Lookup,
    Number,
    Steps,
    Sum,
    Times,
    Within,
)
from posterior.sql.expressions import (
    SQL,
    among,
    between,
    cases,
    exceeds,
    is_finite,
    is_missing,
    less,
    log,
    number,
    plus,
    times,
)
from posterior.sql.sql_columns import Column, spellings
from posterior.sql.sql_scores import Term

Read: TypeAlias = Literal["number", "number or infinity", "words"]


def terms(family: AnyFamily, parameters: Any, columns: Sequence[Column]) -> list[Term]:
    """The terms of log p(x | k), up to what all groups share."""
    cells = [Cell(column.name, place) for place, column in enumerate(columns)]
    writer = Writer(family, columns)
    return [
        Term(formula.name, [writer.sql(score) for score in formula.scores])
        for formula in family.formula(parameters, cells)
    ]


@dataclass
class Writer:
    """Writes formulas of some columns; each cell is worked out once."""

    family: AnyFamily
    columns: Sequence[Column]
    cells: dict[tuple[Cell, Read], SQL] = field(default_factory=dict)

    def _cell(self, cell: Cell, read: Read) -> SQL:
        if (cell, read) not in self.cells:
            self.cells[cell, read] = self._made(cell, read)
        return self.cells[cell, read].copy()

    def _made(self, cell: Cell, read: Read) -> SQL:
        column = self.columns[cell.place]
        if read == "words":
            return column.words()
        if np.isfinite(cell.farthest):
            return column.distance(cell.origin, cell.least, cell.farthest)
        return (
            column.number(cell.least) if read == "number" else column.number_or_infinity(cell.least)
        )

    @singledispatchmethod
    def sql(self, formula: Expression, read: Read = "number") -> SQL:
        """An expression in SQL, of cells read as numbers, or as infinities too."""
        raise TypeError(f"Expected a formula that SQL can hold, got {type(formula).__name__}.")

    @sql.register
    def _(self, formula: Number, read: Read = "number") -> SQL:
        return number(formula.value)

    @sql.register
    def _(self, formula: Cell, read: Read = "number") -> SQL:
        return self._cell(formula, read)

    @sql.register
    def _(self, formula: Sum, read: Read = "number") -> SQL:
        left, right = formula.left, formula.right
        if isinstance(right, Number):
            return less(self.sql(left, read), -right.value)
        return plus(self.sql(left, read), self.sql(right, read))

    @sql.register
    def _(self, formula: Times, read: Read = "number") -> SQL:
        return times(self.sql(formula.left, read), self.sql(formula.right, read))

    @sql.register
    def _(self, formula: Log, read: Read = "number") -> SQL:
        return log(self.sql(formula.of, read))

    @sql.register
    def _(self, formula: LogRising, read: Read = "number") -> SQL:
        raise without_gamma("rates that are known")

    @sql.register
    def _(self, formula: Kernels, read: Read = "number") -> SQL:
        raise TypeError(
            "Expected densities of a few numbers, got Kernel, which adds up as many as there are "
            'values, too many for a query. Name another family, such as "binned".'
        )

    @sql.register
    def _(self, formula: Abs, read: Read = "number") -> SQL:
        return exp.Abs(this=self.sql(formula.of, read))

    @sql.register
    def _(self, formula: Within, read: Read = "number") -> SQL:
        x, outside = self._cell(formula.cell, read), self.sql(formula.outside, read)
        inside = between(x, formula.low, formula.high), self.sql(formula.inside, read)
        if not isinstance(formula.outside, Number):
            return cases([inside], outside)
        return cases([inside, (is_missing(x.copy()), exp.null())], outside)

    @sql.register
    def _(self, formula: Known, read: Read = "number") -> SQL:
        x, of = self._cell(formula.cell, "number or infinity"), formula.of
        if (
            isinstance(of, Within)
            and of.outside == Number(-np.inf)
            and not self._refused(x, of.cell)
        ):
            return within(x, (of.low, of.high), self.sql(of.inside, "number or infinity"))
        return self._left_out(x, formula.cell, [], self.sql(of, "number or infinity"))

    @sql.register
    def _(self, formula: Steps, read: Read = "number") -> SQL:
        x = self._cell(formula.cell, "number or infinity")
        lowest, *higher = formula.values
        steps = reversed(list(zip(formula.cuts, higher, strict=True)))
        above = [(exceeds(x.copy(), cut), number(value)) for cut, value in steps]
        return self._left_out(x, formula.cell, above, number(lowest))

    @sql.register
    def _(self, formula: Lookup, read: Read = "number") -> SQL:
        levels = formula.levels
        by_name = all(isinstance(level, str) for level in levels)
        x = self._cell(formula.cell, "words" if by_name else "number or infinity")
        pairs = zip(levels, formula.values, strict=True)
        known = [(_is_level(x, level, levels), number(value)) for level, value in pairs]
        never_seen = number(formula.otherwise)
        if by_name:
            return cases([(is_missing(x.copy()), number(0.0)), *known], never_seen)
        return self._left_out(x, formula.cell, known, never_seen)

    def _left_out(
        self, x: SQL, cell: Cell, scores: Sequence[tuple[SQL, SQL]], otherwise: SQL
    ) -> SQL:
        """Zero if the cell is missing; NULL if it is one that Python refuses."""
        missing, infinite = is_missing(x.copy()), exp.Not(this=is_finite(x.copy()))
        refused = [(infinite, exp.null()), *self._refused(x, cell)]
        return cases([(missing, number(0.0)), *refused, *scores], otherwise)

    def _refused(self, x: SQL, cell: Cell) -> list[tuple[SQL, SQL]]:
        """NULL for cells that are outside of the support."""
        support = self.family.support_of(cell.place)
        if support == "real":
            return []
        below = exp.LTE if support == "positive" else exp.LT
        return [(below(this=x.copy(), expression=number(0.0)), exp.null())]


def within(x: SQL, ends: tuple[float, float], score: SQL) -> SQL:
    """A score; zero if the cell is missing, impossible beyond the ends, NULL if infinite."""
    inside, missing = (between(x.copy(), *ends), score), (is_missing(x.copy()), number(0.0))
    return cases([inside, missing, (is_finite(x.copy()), number(-np.inf))])


def _is_level(x: SQL, level: Any, levels: Sequence[Any]) -> SQL:
    if isinstance(level, str):
        return among(x.copy(), spellings(level, levels))
    # categories 0, 1, 2, ..., which Python makes of numbers by leaving out their fractions
    return between(x.copy(), level, float(np.nextafter(level + 1, 0)))
