"""Columns that a person should look at before believing a model."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from shlex import quote
from typing import Any

import narwhals as nw
import numpy as np

from posterior.data import frames
from posterior.data.table import text as number_text
from posterior.data.typing import Codes, Floats, Integers
from posterior.preprocessing.belonging import with_belonging
from posterior.preprocessing.leaks import Target, Told, leak
from posterior.preprocessing.roles import TABLE_ROLES, ColumnRole, Roles

LEAST_ROWS = 50
CODES = 7  # numbers of so few values may be codes
MOST_ZEROS = 0.6  # above, zero is what is usual
CODE_NAMES = ("zip", "code", "plz", "postal", "type", "class")


def with_suspicions(roles: Roles, table: nw.DataFrame[Any], keep: Collection[str] = ()) -> Roles:
    """The same roles, with flags; columns to keep are known before the target is."""
    labels = frames.items(roles.labels(table.get_column(roles.target)), roles.target)
    classes = frames.distinct(labels)
    codes = frames.encode(labels, classes)
    roles = with_belonging(roles, table, codes)
    rows = _independent(roles, table, codes)
    target = Target(roles.target, codes[rows], np.array(classes, object), len(roles.used))
    columns = []
    for column in roles.columns:
        if column.used:
            values, told = _values(table.get_column(column.name), column)
            if column.name not in keep and (text := leak(column.name, values[rows], told, target)):
                columns.append(column.flagged("leak", "warning", text))
                continue  # all else about it matters less
            if column.role == "number":
                column = column if column.written else _codes(column, values)  # kg are measured
                column = _zeros(column, values)
        if column.used and column.missing > len(labels) / 2:
            text = f"{column.name} is missing in {column.missing:,} of {len(labels):,} rows."
            column = column.flagged("missing", "note", text)
        columns.append(column)
    return replace(roles, columns=tuple(columns))


def _independent(roles: Roles, table: nw.DataFrame[Any], codes: Codes) -> Integers:
    """Rows whose class is known; of those that belong together, or seem to, one of each class."""
    known = np.flatnonzero(codes >= 0)
    likely = (c.name for c in roles.columns if any(f.kind == "group" for f in c.warnings))
    name = roles.group or next(likely, None)
    if name is None:
        return known
    group = frames.coded(table.get_column(name), name)[0][known].astype(np.int64)
    group = np.where(group < 0, group.max() + 1 + np.arange(len(group)), group)
    pairs = group * (int(codes.max(initial=0)) + 1) + codes[known]
    return known[np.sort(np.unique(pairs, return_index=True)[1])]


def _values(cells: nw.Series[Any], column: ColumnRole) -> tuple[Floats, Told | None]:
    """Numbers as they are, words by their codes, texts as 0; NaN where missing.

    With how a value is written, unless it is a text.
    """
    if column.role in ("number", "date") or cells.dtype.is_numeric():
        return frames.numbers(cells), number_text
    items = frames.items(cells.to_list(), column.name)
    if column.role not in TABLE_ROLES:
        return np.array([np.nan if item is None else 0.0 for item in items]), None
    distinct = frames.distinct(items)
    codes = frames.encode(items, distinct).astype(np.float64)
    return np.where(codes < 0, np.nan, codes), lambda code: str(distinct[int(code)])


def _codes(column: ColumnRole, values: Floats) -> ColumnRole:
    """Whole numbers of few values, one after the other, may be codes of categories."""
    distinct, counts = np.unique(values[~np.isnan(values)], return_counts=True)
    whole = bool((distinct == np.round(distinct)).all())
    few = 3 <= len(distinct) <= CODES and len(values) >= LEAST_ROWS
    few = few and counts.max() < 0.9 * counts.sum()
    named = any(word in column.name.casefold() for word in CODE_NAMES)
    if whole and ((few and (np.diff(distinct) == 1).all()) or (named and len(distinct) > 2)):
        text = (
            f"{column.name} holds {len(distinct)} whole numbers and is read as a number; if they "
            f"are codes of categories: --as {quote(f'{column.name}=category')}."
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
        f"{distinct[0]:g} in all others: 0 may stand for a missing value."
    )
    return column.flagged("zeros", "warning", text)
