"""Whole rows that are looked up cell by cell, by a table of what may follow."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from posterior.data.typing import Array
from posterior.estimators import JointBayes
from posterior.generative.fitted import Fitted
from posterior.readers.cells import MISSING
from posterior.sql.cell_codes import all_known, category_code, check_size
from posterior.sql.expressions import SQL, column, plus, times, whole
from posterior.sql.lookups import looked_up
from posterior.sql.sql_calibration import calibrated
from posterior.sql.sql_columns import Column
from posterior.sql.sql_scores import Scores, Term, scores


@scores.register
def _(model: JointBayes, columns: Sequence[Column]) -> Scores:
    return row_scores(model.settled(), columns)


def row_scores(fitted: Fitted, columns: Sequence[Column]) -> Scores:
    """s_k = log π_k + T[row, k], where a row never seen has a place of its own"""
    sheet, joint = columns[0].sheet, fitted.model
    rows = [json.loads(row) for row in joint.parameters.values[0].tolist()]
    values = [sorted({row[j] for row in rows} - {None}) for j in range(len(columns))]
    names = [sheet.unused(f"cell_{c.name}") for c in columns]
    cells = [category_code(c.words(), own) for c, own in zip(columns, values, strict=True)]
    codes = dict(zip(names, cells, strict=True))
    known, row = all_known(sheet, codes), sheet.unused("whole_row")
    (log_prob,) = joint.parameters.log_prob
    place, numbers = _row(_coded(rows, values), [len(own) + 2 for own in values], names)
    check_size(numbers + log_prob.size, "Fit it to fewer columns, or to columns of fewer values.")
    never_seen_first = np.roll(log_prob, 1, axis=1)
    found = [looked_up(line, column(row)) for line in never_seen_first]
    made = Scores(
        fitted.classes,
        joint.log_prior,
        [Term(str(fitted.reader.names[0]), found)],
        steps={"codes": codes, "rows": {row: place, **known}},
        known=[*known],
    )
    return calibrated(made, fitted.calibrator)


def _coded(rows: Sequence[Sequence[Any]], values: Sequence[Sequence[str]]) -> Array:
    """Codes of the cells of rows (n, d)."""
    places = [
        {None: MISSING} | {v: code for code, v in enumerate(own, MISSING + 1)} for own in values
    ]
    cells = [[place[cell] for place, cell in zip(places, row, strict=True)] for row in rows]
    return np.array(cells, np.int64).reshape(len(rows), len(values))


def _row(codes: Array, sizes: Sequence[int], names: Sequence[str]) -> tuple[SQL, int]:
    """The place of a row among those seen, from 1, or 0; and how many numbers that takes.

    The place of its first cells among those of all rows, and the next cell, are the place of one
    more cell.
    """
    place, before, numbers = whole(0), np.zeros(len(codes), np.int64), 0
    for j, size in enumerate(sizes):
        key = before * size + codes[:, j]
        last = j == len(sizes) - 1
        own = np.arange(len(codes)) if last else np.unique(key, return_inverse=True)[1]
        after = own.reshape(-1) + 1
        table = np.zeros((int(before.max(initial=0)) + 1) * size, np.int64)
        table[key] = after
        numbers += table.size
        step = plus(times(place, whole(size)), column(names[j])) if j else column(names[0])
        place, before = looked_up(table, step), after
    return place, numbers
