"""Checks of an additive model's tables, when it is read."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from posterior.data.table import Table
from posterior.data.typing import Codes
from posterior.discriminative.additive.fitted_additive import FittedAdditive
from posterior.discriminative.additive.terms import Terms
from posterior.readers.cells import CellColumns
from posterior.readers.labels import Labels
from posterior.storage.calibrator_checks import check_calibrator
from posterior.storage.checks import looks, n_columns
from posterior.storage.extents import n_classes, shape_of
from posterior.storage.model_file_error import expect

MOST_CELLS = 255  # of a column: one code of 256 is that of values never seen
MOST_AXES = 6


@looks.register
def _(value: FittedAdditive) -> None:
    expect(isinstance(value.labels, Labels), "classes")
    k = n_classes(value.labels.classes)
    expect(k >= 2, "two classes or more")
    _check_tables(value, n_columns(value.reader), k)
    check_calibrator(value.calibrator, k)


def _check_tables(value: FittedAdditive, n_columns: int, n_classes: int) -> None:
    """Tables over the cells that the reader tells apart, with a number for each output."""
    sizes = _cells(value.reader, n_columns)
    outputs = n_classes if n_classes > 2 else 1
    expect(_is(value.intercept, np.float64, (outputs,)), "an intercept of each output")
    expect(bool(np.isfinite(value.intercept).all()), "an intercept of each output")
    weights = value.cell_weight
    expect(isinstance(weights, tuple) and len(weights) == n_columns, "weights of the columns")
    for weight, size in zip(weights, sizes, strict=True):
        expect(_is(weight, np.float64, (int(size),)), "a weight of each cell")
    information = value.information
    expect(isinstance(information, tuple) and len(information) == n_columns, "what cells tell")
    for told, size in zip(information, sizes, strict=True):
        expect(_is(told, np.float64, (int(size), outputs)), "what the rows of each cell tell")
        expect(bool((told >= 0).all()), "what the rows of each cell tell")
    expect(type(value.shrinkage) is float and value.shrinkage > 0, "a shrinkage above zero")
    expect(type(value.chosen_weight) is float, "the weight of the rows that chose")
    expect(isinstance(value.terms, Terms), "tables")
    expect(isinstance(value.C, tuple) and all(type(c) is float for c in value.C), "penalties")
    errors = value.errors
    expect(errors is None or _is(errors, np.float64, shape_of(value.terms.values)), "errors")
    _check_terms(value.terms, sizes, outputs)
    expect(isinstance(value.pace, str) and type(value.n_rounds) is int, "a pace and its rounds")
    expect(value.held_out is None or isinstance(value.held_out, Table), "losses by round")


def _cells(reader: Any, n_columns: int) -> Codes:
    """How many cells each column has."""
    expect(isinstance(reader, CellColumns) and len(reader.kinds) == n_columns, "kinds of columns")
    expect(set(reader.kinds) <= {"number", "category"}, "kinds of columns")
    numbers, categories = reader.places()
    expect(isinstance(reader.cuts, tuple) and len(reader.cuts) == len(numbers), "cuts of numbers")
    for cuts in reader.cuts:
        expect(_is(cuts, np.float64) and bool(np.isfinite(cuts).all()), "cuts in order")
        expect(bool((np.diff(cuts) > 0).all()), "cuts in order")
    centers = [shape_of(cuts)[0] + 1 for cuts in reader.cuts]
    expect(isinstance(reader.centers, tuple) and len(reader.centers) == len(numbers), "centers")
    expect(all(map(_is_line, reader.centers, centers)), "a center of each bin")
    values, shared = reader.values, reader.shared
    expect(isinstance(values, tuple) and isinstance(shared, tuple), "values of categories")
    expect(len(values) == len(shared) == len(categories), "values of categories")
    expect(all(isinstance(v, np.ndarray) and v.ndim == 1 for v in values), "values of categories")
    expect(all(type(others) is bool for others in shared), "whether rare values share a cell")
    most = max([2 + len(cuts) for cuts in reader.cuts] + [2 + len(v) for v in values], default=1)
    expect(most <= MOST_CELLS, f"{MOST_CELLS} cells of a column at most")
    return reader.sizes


def _check_terms(terms: Terms, sizes: Codes, outputs: int) -> None:
    """Axes are columns, groups are of all their cells, and tables have a cell for each."""
    axis, column, first, start = terms.axis, terms.column, terms.first, terms.start
    expect(_is(column, np.int32) and _is(terms.group, np.uint8), "columns and groups of tables")
    _check_ends(axis, len(column))
    _check_ends(first, len(terms.group))
    expect(_is(terms.values, np.float64, (*shape_of(terms.values)[:1], outputs)), "tables")
    expect(bool(np.isfinite(terms.values).all()), "tables of finite numbers")
    _check_ends(start, len(terms.values))
    expect(len(first) == len(column) + 1 and len(start) == len(axis), "axes of tables")
    inside = column.min(initial=0) >= 0 and column.max(initial=-1) < len(sizes)
    expect(inside, "columns that are there")
    expect(np.array_equal(np.diff(first), sizes[column] + 1), "a group of each cell")
    for t in range(len(axis) - 1):
        a, b = int(axis[t]), int(axis[t + 1])
        expect(0 < b - a <= MOST_AXES and bool((np.diff(column[a:b]) > 0).all()), "axes in order")
        groups = [terms.group[first[i] : first[i + 1]] for i in range(a, b)]
        expect(all(g[-1] == g.max() for g in groups), "a last group, of values never seen")
        cells = prod(int(g[-1]) + 1 for g in groups)
        expect(int(start[t + 1] - start[t]) == cells, "a number for each cell of a table")


def _check_ends(ends: Any, last: int) -> None:
    expect(_is(ends, np.int64) and len(ends) > 0, "where parts of tables end")
    expect(ends[0] == 0 and ends[-1] == last, "where parts of tables end")
    expect(bool((ends[1:] >= ends[:-1]).all()), "where parts of tables end")


def _is_line(array: Any, length: int) -> bool:
    return _is(array, np.float64, (length,))


def _is(array: Any, dtype: Any, shape: tuple[int, ...] | None = None) -> bool:
    """Whether the kernels read an array as it is."""
    if not isinstance(array, np.ndarray) or array.dtype != dtype or not array.flags.c_contiguous:
        return False
    return array.ndim == 1 if shape is None else array.shape == shape
