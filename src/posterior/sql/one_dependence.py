"""Averages of models, in each of which one column is the parent of all others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sqlglot import exp

from posterior.data.typing import Array
from posterior.families.dependence.averaged import PairTable
from posterior.readers.cells import MISSING
from posterior.sql.cell_codes import all_known, check_size
from posterior.sql.expressions import (
    LEAST,
    SQL,
    as_double,
    cases,
    column,
    first_known,
    is_missing,
    number,
    or_else,
    plus,
    times,
    total,
    whole,
)
from posterior.sql.log_sums import behind, log_sums
from posterior.sql.lookups import looked_up
from posterior.sql.sql_columns import Column, Sheet
from posterior.sql.sql_scores import Scores, Term

FIRST = MISSING + 1  # the code of a column's first value


def averaged_scores(
    classes: Array, joint: Any, columns: Sequence[Column], codes: dict[str, SQL]
) -> Scores:
    """s_k = log π_k + log Σᵢ wᵢ exp(Σⱼ T_ij[cells i and j, k])

    over the cells i that are parents; if none is, Σⱼ T_jj[cell j, k].
    """
    sheet = columns[0].sheet
    pairs = Pairs.of(joint.family.tables(joint.parameters), [*codes], sheet)
    known = all_known(sheet, codes)
    names = [[sheet.unused(f"model_{i}_{c}") for i in range(len(codes) + 1)] for c in classes]
    models = {
        name: value
        for k, own in enumerate(names)
        for name, value in zip(own, pairs.models(k), strict=True)
    }
    summing, summed = log_sums(sheet, names)
    steps = {"codes": codes, "parents": {**pairs.parents, **known}, "models": models, **summing}
    terms = [Term("averaging", [column(name) for name in summed])]
    found = Scores(classes, joint.log_prior, terms, steps=steps, known=[*known])

    def explained() -> Scores:
        shares, by_column, terms = pairs.evidence(names, summed, [c.name for c in columns])
        more = {"shares": shares, "averages": by_column}
        return replace(found, terms=terms, steps={**steps, **more}, explained=None)

    return replace(found, explained=explained)


@dataclass(frozen=True)
class Pairs:
    """Tables of two columns each, looked up by a parent and the code of a cell."""

    model: PairTable
    cells: Sequence[str]  # columns of codes
    parents: Mapping[str, SQL]  # columns of places among the values, NULL if a cell is no parent
    sheet: Sheet

    @classmethod
    def of(cls, model: PairTable, cells: Sequence[str], sheet: Sheet) -> Pairs:
        n_values, k = int(model.sizes.sum()), model.log_prob.shape[2]
        numbers = (n_values + 1) * (n_values + 2 * len(model.sizes)) * k
        check_size(numbers, "Fit it to fewer columns, or to columns of fewer values.")
        parents = {}
        for j, cell in enumerate(cells):
            first, size = model.start[j], model.sizes[j]
            heavy = np.flatnonzero(model.weight[first : first + size]) + FIRST
            parents[sheet.unused(f"parent_{j}")] = _parent(column(cell), heavy.tolist(), int(size))
        return cls(model, cells, parents, sheet)

    def _own(self, j: int, k: int, code: SQL) -> SQL:
        """log p(xⱼ | k); zero if it is missing."""
        places = self.model.start[j] + np.arange(self.model.sizes[j] + 1)
        return looked_up([0.0, *self.model.log_prob[places, places, k]], code)

    def _given(self, i: int, j: int, k: int) -> SQL:
        """log p(xⱼ | k, xᵢ), and log p(xᵢ | k) if they are one; NULL if xᵢ is no parent."""
        parent, cell = list(self.parents)[i], self.cells[j]
        if i == j:
            return self._own(i, k, _next(column(parent)))
        a, b = ((self.model.start[c], self.model.sizes[c]) for c in (i, j))
        table = np.zeros((a[1], b[1] + 2))
        table[:, FIRST:] = self.model.log_prob[a[0] : sum(a), b[0] : sum(b) + 1, k]
        place = plus(times(column(parent), whole(table.shape[1])), column(cell))
        return looked_up(table.ravel() if table.size else [0.0], place)

    def _log_weight(self, i: int) -> list[SQL]:
        first, size = self.model.start[i], self.model.sizes[i]
        weight = self.model.weight[first : first + size]
        weight = np.log(np.where(weight > 0, weight, 1.0))
        return [looked_up(weight, column(list(self.parents)[i]))] if weight.any() else []

    def models(self, k: int) -> list[SQL]:
        """log wᵢ + Σⱼ T_ij, impossible if i is no parent; and what stands in if none is one."""
        d = len(self.cells)
        found = [
            or_else(total([*self._log_weight(i), *(self._given(i, j, k) for j in range(d))]), LEAST)
            for i in range(d)
        ]
        alone = total([self._own(j, k, column(cell)) for j, cell in enumerate(self.cells)])
        no_parent = is_missing(first_known([column(parent) for parent in self.parents]))
        return [*found, cases([(no_parent, alone)], number(LEAST))]

    def evidence(
        self, models: Sequence[Sequence[str]], summed: Sequence[str], names: Sequence[str]
    ) -> tuple[dict[str, SQL], dict[str, SQL], list[Term]]:
        """Shares of the models, columns' terms averaged by them, and what is left of the sum."""
        shares: dict[str, SQL] = {}
        averages: dict[str, SQL] = {}
        terms: list[list[SQL]] = [[] for _ in range(len(names) + 1)]
        for k, (own, whole_sum) in enumerate(zip(models, summed, strict=True)):
            share = [self.sheet.unused(f"of_{name}") for name in own]
            shares |= {s: behind(name, whole_sum) for s, name in zip(share, own, strict=True)}
            by_column = [self.sheet.unused(f"average_{j}_{k}") for j in range(len(names))]
            for j, name in enumerate(by_column):
                given = [or_else(self._given(i, j, k), 0.0) for i in range(len(names))]
                parts = [*given, self._own(j, k, column(self.cells[j]))]
                pairs = zip(share, parts, strict=True)
                averages[name] = as_double(total([times(column(s), part) for s, part in pairs]))
                terms[j].append(column(name))
            left = [exp.Neg(this=column(name)) for name in by_column]
            terms[-1].append(total([column(whole_sum), *left]))
        labels = [*names, "averaging"]
        return shares, averages, [Term(*each) for each in zip(labels, terms, strict=True)]


def _parent(code: SQL, parents: Sequence[int], size: int) -> SQL:
    """The place of a value that is a parent, else NULL."""
    if not parents:
        return exp.cast(exp.null(), "int")
    among: SQL
    if len(parents) == size:
        among = exp.Between(this=code, low=whole(FIRST), high=whole(size))
    else:
        among = exp.In(this=code, expressions=[whole(each) for each in parents])
    return cases([(among, exp.Sub(this=code.copy(), expression=whole(FIRST)))])


def _next(place: SQL) -> SQL:
    return exp.Add(this=place, expression=whole(FIRST))
