"""Additive models: the cell of each column, and tables that are looked up by cells."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

import numpy as np

from posterior.data.typing import Array, Floats
from posterior.discriminative.additive.terms import Term
from posterior.estimators.additive.additive import Additive
from posterior.javascript.descriptions import described, summed
from posterior.javascript.sheet import Column, Described
from posterior.readers.cells import CellColumns

NOISE = 4e-15  # of a difference that is zero but for rounding
CLOSE = 2e-14  # how near a table must come by its steps: a thousand tables are within 1e-12


@described.register
def _(model: Additive, columns: Sequence[Column]) -> Described:
    """s_k = b_k + Σ T_k[cells of its columns]"""
    fitted, sheet = model.fitted_, columns[0].sheet
    codes, unseen = _codes(fitted.reader, columns)
    tables, names = [], []
    for chosen, terms in fitted.effects().items():
        names.append(sheet.name(*(columns[j].term for j in chosen)))
        parts = (_trimmed(terms[t], unseen) for t in range(len(terms)))
        tables += [_table(term, codes, names[-1]) for term in parts if term.table.any()]
    part = {"kind": "tables", "tables": tables, "outputs": len(fitted.intercept)}
    prior = fitted.by_class(fitted.constant)
    return summed(fitted.classes, prior, [part], names, fitted.calibrator)


def _codes(reader: CellColumns, columns: Sequence[Column]) -> tuple[list[int], list[bool]]:
    """The cell of each column, and whether it has a code for values never seen."""
    numbers, categories = reader.places()
    codes, unseen = [0] * len(columns), [False] * len(columns)
    for j, cuts in zip(numbers, reader.cuts, strict=True):
        codes[j] = bin_cell(columns[j], cuts)
    for j, values, shared in zip(categories, reader.values, reader.shared, strict=True):
        codes[j] = category_cell(columns[j], values)
        unseen[j] = not shared
    return codes, unseen


def bin_cell(column: Column, cuts: Any, codes: Sequence[int] | None = None) -> int:
    """The bin of a number: 0 if it is missing, then as many as there are, or their codes."""
    sheet = column.sheet
    made: Described = {"kind": "bin", "of": column.number(), "cuts": sheet.shared(map(float, cuts))}
    return sheet.cell(made if codes is None else {**made, "codes": [*codes]})


def category_cell(column: Column, values: Array) -> int:
    """The place of a category: 0 if it is missing, behind all others one never seen."""
    levels = [str(v) for v in values.tolist()]
    made = {"kind": "code", "of": column.words(levels), "values": column.sheet.shared(levels)}
    return column.sheet.cell(made)


def _trimmed(term: Term, unseen: Sequence[bool]) -> Term:
    """Without the groups that no row comes to."""
    table, groups = term.table, [*term.groups]
    for axis, j in enumerate(term.columns):
        if not unseen[j]:
            groups[axis] = groups[axis][:-1]
            table = np.take(table, range(int(groups[axis].max()) + 1), axis)
    return Term(term.columns, tuple(groups), table)


def _table(term: Term, codes: Sequence[int], name: int) -> Described:
    made = {"name": name, "cells": [codes[j] for j in term.columns], **_values(term.table)}
    return {**made, "groups": [_runs(group) for group in term.groups]}


def _values(table: Floats) -> Described:
    """All numbers of a table, or where it steps.

    A table of boosted trees is level between their cuts: of its differences along all axes few are
    not zero, and their sums along all axes are the table again.
    """
    axes = range(table.ndim - 1)
    steps = table
    for axis in axes:
        steps = np.diff(steps, axis=axis, prepend=0.0)
    kept = np.abs(steps).max(axis=-1) > NOISE
    again = np.where(kept[..., None], steps, 0.0)
    for axis in axes:
        again = again.cumsum(axis=axis)
    if 2 * np.count_nonzero(kept) > kept.size or np.abs(again - table).max() > CLOSE:
        return {"values": table.ravel()}
    return {"at": np.diff(np.flatnonzero(kept), prepend=0), "steps": steps[kept].ravel()}


def _runs(group: Array) -> list[int]:
    """How many cells in a row are of a group, and of which: 3, 0, 2, 1 is 0 0 0 1 1."""
    return [n for g, cells in groupby(group.tolist()) for n in (len([*cells]), g)]
