"""Columns that depend on each other: counts of values together, and how they are smoothed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from posterior.data.typing import Array
from posterior.estimators.dependence.base import DependenceClassifier
from posterior.families.dependence.averaged import AveragedOneDependence
from posterior.families.dependence.coding import Coding
from posterior.families.dependence.network import Network
from posterior.families.dependence.smoothing import BackOff, Smoothing
from posterior.families.priors import Laplace
from posterior.javascript.cell_tables import bin_cell, category_cell
from posterior.javascript.descriptions import described, summed
from posterior.javascript.sheet import Column, Described
from posterior.readers.cells import MISSING
from posterior.statistics.tuple_counts import TupleCounts


@described.register
def _(model: DependenceClassifier, columns: Sequence[Column]) -> Described:
    fitted = model.settled()
    joint = fitted.model
    family: Any = joint.family
    cells = _cells(family.coding, joint.parameters.values, columns)
    names = [column.sheet.name(column.term) for column in columns]
    if isinstance(family, Network):
        part = _network(family, joint.parameters, cells, names)
    else:
        names.append(columns[0].sheet.name("averaging"))
        part = _averaged(family, joint.parameters, cells, names)
    return summed(fitted.classes, joint.log_prior, [part], names, fitted.calibrator)


def _cells(coding: Coding, values: Sequence[Array], columns: Sequence[Column]) -> list[int]:
    """0 if a cell is missing, then the values seen, and behind them one never seen."""
    codes: dict[int, int] = {}
    for j, cuts in zip(coding.numbers, coding.cuts, strict=True):
        known = {int(v): code for code, v in enumerate(values[j], MISSING + 1)}
        unseen = MISSING + 1 + len(known)
        codes[j] = bin_cell(columns[j], cuts, [known.get(b, unseen) for b in range(len(cuts) + 1)])
    for j in coding.categories:
        codes[j] = category_cell(columns[j], values[j])
    return [codes[j] for j in range(len(columns))]


def _network(
    family: Any, counts: TupleCounts, cells: Sequence[int], names: Sequence[int]
) -> Described:
    """Tuples (parents, own value) that were seen, and how often in each class."""
    found, tables = [], counts.columns(counts.table.rounded())
    for j, parents in enumerate(counts.parents):
        if parents is None:
            continue
        rows = _smoothing(family.smoothing, j, len(parents) + 1)
        own = {"name": names[j], "own": cells[j], "parents": [cells[a] for a in parents]}
        sizes = {"size": counts.sizes[j], "parent_sizes": [counts.sizes[a] for a in parents]}
        seen = {"tuples": counts.cells[j].ravel(), "counts": tables[j].T.ravel()}
        found.append({**own, **sizes, **seen, **rows})
    return {"kind": "network", "columns": found}


def _averaged(
    family: AveragedOneDependence, counts: Any, cells: Sequence[int], names: Sequence[int]
) -> Described:
    """Counts of pairs of values, those of each alone, and what parents weigh."""
    model = family.tables(counts)
    place = np.arange(len(model.log_prob))
    n = counts.table.rounded()
    i, j = np.triu_indices(n.shape[1])
    pairs = {"pairs": n[:, i, j], "alone": model.log_prob[place, place], "weight": model.weight}
    smoothing = [_smoothing(family.smoothing, column, 2) for column in range(len(cells))]
    read = {"cells": [*cells], "names": [*names], "sizes": model.sizes}
    return {"kind": "averaged", **read, **pairs, "smoothing": smoothing}


def _smoothing(smoothing: Smoothing, column: int, levels: int) -> Described:
    """Rows of the prior with 0, 1, ... parents; or pseudo-counts of each value."""
    if isinstance(smoothing, Laplace):
        return {"alpha": float(np.asarray(smoothing.alpha))}
    if isinstance(smoothing, BackOff):
        return {"back_off": True, "rows": [float(smoothing.rows(column, n)) for n in range(levels)]}
    return {"rows": [float(smoothing.m)] * levels}
