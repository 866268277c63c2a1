"""Columns that depend on each other: tables that are looked up by a cell and its parents'."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from posterior.data.typing import Array, Floats
from posterior.estimators.dependence.base import DependenceClassifier
from posterior.families.dependence.coding import Coding
from posterior.families.dependence.network import Network
from posterior.readers.cells import MISSING
from posterior.sql.cell_codes import all_known, bin_code, category_code, check_size
from posterior.sql.expressions import SQL, column, number, plus, times, total, whole
from posterior.sql.lookups import looked_up
from posterior.sql.one_dependence import averaged_scores
from posterior.sql.sql_calibration import calibrated
from posterior.sql.sql_columns import Column
from posterior.sql.sql_scores import Scores, Term, scores
from posterior.statistics.tuple_counts import TupleCounts, contexts

REMEDY = "Fit it to columns of fewer values, or with fewer parents."
MOST_CELLS = 4_000_000  # of a table before contexts that are alike become one


@scores.register
def _(model: DependenceClassifier, columns: Sequence[Column]) -> Scores:
    fitted = model.settled()
    joint = fitted.model
    family: Any = joint.family
    names = [columns[0].sheet.unused(f"cell_{c.name}") for c in columns]
    codes = dict(
        zip(names, cell_codes(family.coding, joint.parameters.values, columns), strict=True)
    )
    if isinstance(family, Network):
        found = _network(fitted.classes, joint, columns, codes)
    else:
        found = averaged_scores(fitted.classes, joint, columns, codes)
    return calibrated(found, fitted.calibrator)


def cell_codes(coding: Coding, values: Sequence[Array], columns: Sequence[Column]) -> list[SQL]:
    """0 if a cell is missing, then the values seen, and behind them one never seen."""
    codes: dict[int, SQL] = {}
    for j, cuts in zip(coding.numbers, coding.cuts, strict=True):
        known = {int(v): code for code, v in enumerate(values[j], MISSING + 1)}
        unseen = MISSING + 1 + len(known)
        bins = [known.get(b, unseen) for b in range(len(cuts) + 1)]
        codes[j] = bin_code(columns[j].number_or_infinity(), cuts, bins)
    for j in coding.categories:
        codes[j] = category_code(columns[j].words(), [str(v) for v in values[j]])
    return [codes[j] for j in range(len(columns))]


def _network(
    classes: Array, joint: Any, columns: Sequence[Column], codes: dict[str, SQL]
) -> Scores:
    """s_k = log π_k + Σⱼ Tⱼ[cells of its parents, own cell, k]"""
    sheet, counts, family = columns[0].sheet, joint.parameters, joint.family
    cells, places, found, numbers = [*codes], all_known(sheet, codes), {}, 0
    known = [*places]
    for j, chain in family.chains(counts):
        context, table = context_table(counts, j, chain)
        numbers += table.size + (0 if context is None else context.size)
        check_size(numbers, REMEDY)
        above = [column(cells[a]) for a in counts.parents[j]]
        place = _place(above, [counts.sizes[a] + 2 for a in counts.parents[j]])
        if context is not None:
            place = looked_up(context, place)
        *_, size, k = table.shape
        place = plus(times(place, whole(size)), column(cells[j])) if above else column(cells[j])
        name = sheet.unused(f"place_{columns[j].name}")
        places[name] = place
        lines = table.reshape(-1, k).T
        found[j] = [looked_up(line, column(name)) for line in lines]
    zeros = [number(0.0)] * len(classes)
    terms = [Term(c.name, found.get(j, zeros)) for j, c in enumerate(columns)]
    steps = {"codes": codes, "places": places}
    return Scores(classes, joint.log_prior, terms, steps=steps, known=known)


def _place(codes: Sequence[SQL], sizes: Sequence[int]) -> SQL:
    """The place of some codes together, the last fastest."""
    strides = [int(np.prod(sizes[i + 1 :])) for i in range(len(sizes))]
    return total([times(c, whole(s)) if s > 1 else c for c, s in zip(codes, strides, strict=True)])


def context_table(counts: TupleCounts, j: int, chain: Any) -> tuple[Array | None, Floats]:
    """log p(xⱼ | k, parents) (contexts, own codes, k) of all codes that cells can have.

    Contexts that are alike, such as all that no row had, share a line where that is shorter; then
    the first array says which each of them has.
    """
    sizes = counts.radix(j)
    shape = [size + 2 for size in sizes]
    n_contexts, own = int(np.prod(shape[:-1], dtype=object)), shape[-1]
    if n_contexts * own > MOST_CELLS:
        check_size(n_contexts * own * counts.table.shape[0], REMEDY)
    codes = np.stack(np.unravel_index(np.arange(n_contexts * own), shape), axis=1) - MISSING - 1
    tuples = contexts(codes, sizes, tuple(range(len(sizes) - 1)), len(sizes) - 1)
    there = tuples[:, -1] >= 0
    flat = np.zeros((len(tuples), counts.table.shape[0]))
    with np.errstate(divide="ignore"):
        flat[there] = np.log(chain(tuples[there]))
    table = flat.reshape(n_contexts, own, -1)
    lines, line = np.unique(table.reshape(n_contexts, -1), axis=0, return_inverse=True)
    if lines.size + n_contexts >= table.size:
        return None, table
    return line.reshape(-1).astype(np.int64), lines.reshape(len(lines), own, -1)
