"""Additive models: the cell of each column, and tables that are looked up by cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sqlglot import exp

from posterior.discriminative.additive.terms import Term as CellTable
from posterior.estimators.additive.additive import Additive
from posterior.readers.cells import CellColumns
from posterior.sql.cell_codes import all_known, bin_code, category_code, check_size
from posterior.sql.expressions import SQL, cases, column, number, total, whole
from posterior.sql.lookups import looked_up
from posterior.sql.sql_calibration import calibrated
from posterior.sql.sql_columns import Column, Sheet
from posterior.sql.sql_scores import Scores, Term, scores

FEW = 4  # ends of groups that are compared one by one; more are looked up


@scores.register
def _(model: Additive, columns: Sequence[Column]) -> Scores:
    """s_k = b_k + Σ T_k[cells of its columns]"""
    fitted = model.fitted_
    effects = fitted.effects()
    numbers = sum(terms.values.size for terms in effects.values())
    check_size(numbers, "Fit it with fewer cells or rounds, or with depth=2.")
    tables = Tables.of(fitted.reader, columns)
    zeros = [number(0.0)] * len(fitted.intercept)
    found = []
    for chosen, terms in effects.items():
        parts = [tables.looked_up(terms[t]) for t in range(len(terms))]
        outputs = [total(each) for each in zip(*filter(None, parts), strict=True)] or zeros
        first = [number(0.0)] * (len(fitted.classes) - len(outputs))  # of two classes
        found.append(Term(fitted.name(chosen), [*first, *outputs]))
    known = all_known(tables.sheet, tables.codes)
    steps = {"codes": tables.codes, "places": tables.places | known}
    prior = fitted.by_class(fitted.constant)
    made = Scores(fitted.classes, prior, found, steps=steps, known=[*known])
    return calibrated(made, fitted.calibrator)


@dataclass(frozen=True)
class Tables:
    """Tables, looked up by the codes of their columns."""

    sheet: Sheet
    codes: dict[str, SQL]  # of each column
    unseen: list[bool]  # whether a column has a code for values never seen
    places: dict[str, SQL] = field(default_factory=dict)  # made of the codes

    @classmethod
    def of(cls, reader: CellColumns, columns: Sequence[Column]) -> Tables:
        sheet, (numbers, categories) = columns[0].sheet, reader.places()
        codes = dict.fromkeys(range(len(columns)))
        for j, cuts in zip(numbers, reader.cuts, strict=True):
            codes[j] = bin_code(columns[j].number_or_infinity(), cuts.tolist())
        unseen = [False] * len(columns)
        for j, values, shared in zip(categories, reader.values, reader.shared, strict=True):
            codes[j] = category_code(columns[j].words(), [str(v) for v in values])
            unseen[j] = not shared
        names = [sheet.unused(f"cell_{c.name}") for c in columns]
        return cls(sheet, dict(zip(names, codes.values(), strict=True)), unseen)

    def looked_up(self, term: CellTable) -> list[SQL]:
        """T of each output; nothing if it is zero in all cells."""
        table, groups = term.table, [group.astype(np.int64) for group in term.groups]
        for axis, j in enumerate(term.columns):
            if not self.unseen[j]:  # no row comes to the last group
                groups[axis] = groups[axis][:-1]
                table = np.take(table, range(int(groups[axis].max()) + 1), axis)
        if not table.any():
            return []
        *shape, outputs = table.shape
        codes = [column(list(self.codes)[j]) for j in term.columns]
        if len(codes) == 1:
            return [looked_up(values, codes[0].copy()) for values in table[groups[0]].T]
        strides = [int(np.prod(shape[axis + 1 :])) for axis in range(len(shape))]
        sides = zip(codes, groups, strides, strict=True)
        place = total([_offset(code, group * stride) for code, group, stride in sides])
        if outputs > 1:  # all of them are at the same place
            name = self.sheet.unused(f"place_{len(self.places)}")
            self.places[name] = place
            place = column(name)
        return [looked_up(values, place.copy()) for values in table.reshape(-1, outputs).T]


def _offset(code: SQL, offsets: Any) -> SQL:
    """offsets[code], by comparisons where these are few."""
    ends = np.flatnonzero(np.diff(offsets)) + 1
    if len(ends) > FEW:
        return looked_up(offsets, code.copy())
    pairs = [
        (exp.LT(this=code.copy(), expression=whole(end)), whole(value))
        for end, value in zip([*ends, len(offsets)], offsets[[*(ends - 1), -1]], strict=True)
    ]
    return cases(pairs)  # and none where there is no code
