"""log p(x | k) as trees: the formulas that families say in symbols, with cells by their places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import singledispatchmethod
from typing import Any, TypeAlias

from posterior.families.family import AnyFamily
from posterior.families.symbols import (
    Abs,
    Cell,
    Expression,
    Formula,
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
from posterior.javascript.sheet import Column, Described

Tree: TypeAlias = float | list[Any]
"""A number, or what is done and to what: ["+", 1, ["*", 2, ["x", 0]]]."""


def formula_part(family: AnyFamily, parameters: Any, columns: Sequence[Column]) -> Described:
    """The terms of log p(x | k), one a column, up to what all groups share."""
    cells = [Cell(column.term, place) for place, column in enumerate(columns)]
    writer = Trees(family, columns)
    terms = [writer.term(formula) for formula in family.formula(parameters, cells)]
    return {"kind": "formulas", "terms": terms}


@dataclass(frozen=True)
class Trees:
    """Trees of the columns of a family."""

    family: AnyFamily
    columns: Sequence[Column]

    def term(self, formula: Formula) -> Described:
        """What one term adds to each class."""
        name = self.columns[0].sheet.name(formula.name)
        return {"name": name, "scores": [self.tree(score) for score in formula.scores]}

    def _number(self, cell: Cell) -> int:
        support, needed = self.family.support_of(cell.place), not self.family.reads_missing
        return self.columns[cell.place].number(support, needed=needed)

    @singledispatchmethod
    def tree(self, formula: Expression) -> Tree:
        """An expression as a tree."""
        raise TypeError(
            f"Expected a formula that JavaScript can hold, got {type(formula).__name__}."
        )

    @tree.register
    def _(self, formula: Number) -> Tree:
        return formula.value

    @tree.register
    def _(self, formula: Cell) -> Tree:
        return ["x", self._number(formula)]

    @tree.register
    def _(self, formula: Sum) -> Tree:
        return ["+", self.tree(formula.left), self.tree(formula.right)]

    @tree.register
    def _(self, formula: Times) -> Tree:
        return ["*", self.tree(formula.left), self.tree(formula.right)]

    @tree.register
    def _(self, formula: Log) -> Tree:
        return ["log", self.tree(formula.of)]

    @tree.register
    def _(self, formula: LogRising) -> Tree:
        return ["rising", formula.start, self.tree(formula.of)]

    @tree.register
    def _(self, formula: Abs) -> Tree:
        return ["abs", self.tree(formula.of)]

    @tree.register
    def _(self, formula: Known) -> Tree:
        return ["known", self._number(formula.cell), self.tree(formula.of)]

    @tree.register
    def _(self, formula: Within) -> Tree:
        ends = [self._number(formula.cell), formula.low, formula.high]
        return ["within", *ends, self.tree(formula.inside), self.tree(formula.outside)]

    @tree.register
    def _(self, formula: Steps) -> Tree:
        cuts = self.columns[0].sheet.shared(formula.cuts)
        return ["steps", self._number(formula.cell), cuts, list(formula.values)]

    @tree.register
    def _(self, formula: Kernels) -> Tree:
        lists = [list(formula.values), list(formula.log_weights)]
        return ["kernels", self._number(formula.cell), *lists, formula.width, formula.height]

    @tree.register
    def _(self, formula: Lookup) -> Tree:
        column, sheet = self.columns[formula.cell.place], self.columns[0].sheet
        values, otherwise = list(formula.values), formula.otherwise
        if all(isinstance(level, str) for level in formula.levels):
            levels = sheet.shared(formula.levels)
            return ["level", column.words(formula.levels), levels, values, otherwise]
        # categories 0, 1, 2, ..., which Python makes of numbers by leaving out their fractions
        return ["place", column.number("count"), values, otherwise]
