"""Columns that a person should look at before believing a model."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np

from posterior.data import frames
from posterior.data.typing import Floats, Integers
from posterior.preprocessing.belonging import with_belonging
from posterior.preprocessing.roles import TABLE_ROLES, ColumnRole, Roles

LEAST_ROWS = 50
LEAK = 0.98  # of the errors that the largest class makes are avoided
CODES = 7  # numbers of so few values may be names
MOST_ZEROS = 0.6  # above, zero is what is usual
CODE_NAMES = ("zip", "code", "plz", "postal", "type", "class")


def with_suspicions(roles: Roles, table: nw.DataFrame[Any]) -> Roles:
    """The same roles, with flags."""
    labels = frames.items(roles.labels(table.get_column(roles.target)), roles.target)
    known = np.array([label is not None for label in labels])
    codes = frames.encode(labels, frames.distinct(labels))
    columns = []
    for column in roles.columns:
        if column.used and column.role in TABLE_ROLES:
            cells = table.get_column(column.name)
            values = _values(cells, column)
            column = _leak(column, values[known], codes[known], roles.target)
            if column.role == "number":
                column = column if column.written else _codes(column, values)  # kg are measured
                column = _zeros(column, values)
        if column.used and column.missing > len(labels) / 2:
            share = column.missing / len(labels)
            column = column.flagged("missing", "note", f"{column.name} is missing in {share:.0%}.")
        columns.append(column)
    return with_belonging(replace(roles, columns=tuple(columns)), table, codes)


def _values(cells: nw.Series[Any], column: ColumnRole) -> Floats:
    """Numbers as they are, words by their codes; NaN where missing."""
    if column.role in ("number", "date") or cells.dtype.is_numeric():
        return frames.numbers(cells)
    items = frames.items(cells.to_list(), column.name)
    codes = frames.encode(items, frames.distinct(items)).astype(np.float64)
    return np.where(codes < 0, np.nan, codes)


def _leak(column: ColumnRole, values: Floats, codes: Any, target: str) -> ColumnRole:
    if len(codes) < LEAST_ROWS:
        return column
    majority = 1 - np.bincount(codes).max() / len(codes)
    errors = one_column_errors(values, codes.astype(np.int64))
    if majority == 0 or 1 - errors / majority < LEAK:
        return column
    text = (
        f"{column.name} alone tells {target} in {1 - errors:.1%} of rows: is it known before "
        f"{target} is?"
    )
    return column.flagged("leak", "warning", text)


def one_column_errors(values: Floats, codes: Integers) -> float:
    """How often the largest class among the other rows of about the same value is wrong."""
    distinct, bins = np.unique(values, return_inverse=True)  # all NaN are one value
    most = min(500, len(values) // 5)
    if len(distinct) > most:
        order = np.argsort(values, kind="stable")
        bins = np.empty(len(values), np.int64)
        bins[order] = np.arange(len(values)) * most // len(values)
    counts = np.zeros((int(bins.max()) + 1, int(codes.max()) + 1))
    np.add.at(counts, (bins, codes), 1)
    own = counts[bins, codes] - 1
    largest, most = counts.argmax(axis=1), counts.max(axis=1)
    counts[np.arange(len(counts)), largest] = -1
    second = counts.max(axis=1)
    rival = np.where(codes == largest[bins], second[bins], most[bins])
    return float(np.mean(own <= rival))


def _codes(column: ColumnRole, values: Floats) -> ColumnRole:
    """Whole numbers of few values, one after the other, may be names of kinds."""
    distinct, counts = np.unique(values[~np.isnan(values)], return_counts=True)
    whole = bool((distinct == np.round(distinct)).all())
    few = 3 <= len(distinct) <= CODES and len(values) >= LEAST_ROWS
    few = few and counts.max() < 0.9 * counts.sum()
    named = any(word in column.name.casefold() for word in CODE_NAMES)
    if whole and ((few and (np.diff(distinct) == 1).all()) or (named and len(distinct) > 2)):
        text = (
            f"{column.name} holds {len(distinct)} whole numbers, which may be names of kinds; it "
            "is read as a number."
        )
        return column.flagged("codes", "note", text)
    return column


def _zeros(column: ColumnRole, values: Floats) -> ColumnRole:
    """Zeros far below all other values may stand for cells that are not known."""
    known = values[~np.isnan(values)]
    zeros = np.mean(known == 0) if len(known) else 0.0
    distinct = np.unique(known[known != 0])
    if not 2 / len(values) < zeros <= MOST_ZEROS or len(distinct) < 12 or distinct[0] < 0:
        return column
    step = (distinct[10] - distinct[0]) / 10
    if distinct[0] < max(3 * step, np.median(known[known != 0]) / 10):
        return column
    text = (
        f"{column.name} is exactly 0 in {int((known == 0).sum()):,} rows and at least "
        f"{distinct[0]:g} in all others: zero may stand for a missing cell."
    )
    return column.flagged("zeros", "warning", text)
