"""Checks of a stream of logistic regression, when its model is read."""

from __future__ import annotations

from typing import Any

import numpy as np

from posterior.data.rows import SparseRows
from posterior.discriminative.loss import LogisticLoss
from posterior.discriminative.reservoir import Estimate, Reservoir, Stream
from posterior.preprocessing.open_columns import OpenColumn, OpenColumns
from posterior.storage.extents import shape_of
from posterior.storage.model_file_error import expect


def check_stream(stream: Any, n_columns: int, n_classes: int, shape: tuple[int, int]) -> None:
    """Rows of a table and of classes that the model has; `shape` is that of the slopes."""
    expect(isinstance(stream, Stream), "a stream")
    expect(isinstance(stream.kept, tuple) and len(stream.kept) > 0, "rows of a stream")
    for part in stream.kept:
        _check_rows(part, n_columns, n_classes)
    expect(len({type(part.X) for part in stream.kept}) == 1, "rows of one form")
    if stream.columns is not None:
        _check_columns(stream.columns, stream.kept, n_columns)
    if stream.estimate is not None:
        _check_estimate(stream.estimate, n_classes, shape)


def _check_rows(part: Any, n_columns: int, n_classes: int) -> None:
    expect(isinstance(part, Reservoir) and type(part.n_seen) is int, "rows of a stream")
    n, X = len(part.codes), part.X
    expect(isinstance(X, np.ndarray | SparseRows) and X.shape == (n, n_columns), "cells of rows")
    expect(isinstance(X, SparseRows) or X.dtype in (np.float32, np.float64), "cells of rows")
    cells = X.entries() if isinstance(X, SparseRows) else X
    expect(not np.isinf(cells).any(), "cells that are finite")
    inside = part.codes.min(initial=0) >= 0 and part.codes.max(initial=-1) < n_classes
    expect(part.codes.dtype == np.int32 and inside, "codes of classes")
    weight = part.weight
    expect(shape_of(weight) == (n,) and weight.dtype == np.float64, "a weight for each row")
    expect(bool((np.isfinite(weight) & (weight >= 0)).all()) and part.n_seen >= 0, "weights")


def _check_columns(columns: Any, kept: tuple[Reservoir, ...], n_columns: int) -> None:
    expect(isinstance(columns, OpenColumns) and len(columns.columns) == n_columns, "columns")
    for j, column in enumerate(columns.columns):
        expect(isinstance(column, OpenColumn), "columns")
        expect(column.kind in (None, "number", "category"), "the kind of a column")
        levels = column.levels
        expect(isinstance(levels, tuple) and all(type(v) is str for v in levels), "levels")
        expect(len(set(levels)) == len(levels), "levels, each once")
        for part in kept:
            expect(isinstance(part.X, np.ndarray), "cells of a frame")
            cells = np.asarray(part.X)[:, j]
            cells = cells[~np.isnan(cells)]
            if column.kind == "category":
                whole = bool((cells == np.floor(cells)).all())
                expect(whole and cells.min(initial=0) >= 0, "places of levels")
                expect(cells.max(initial=-1) < len(levels), "places of levels")


def _check_estimate(last: Any, n_classes: int, shape: tuple[int, int]) -> None:
    expect(isinstance(last, Estimate) and isinstance(last.loss, LogisticLoss), "an estimate")
    loss, (outputs, width) = last.loss, shape
    expect(loss.outputs == outputs and type(loss.intercept) is bool, "a loss")
    expect(loss.origin is None or shape_of(loss.origin) == (width,), "an origin")
    size = outputs * (width + loss.intercept)
    expect(shape_of(last.coef) == (outputs, width + loss.intercept), "coefficients of the stream")
    expect(last.covariance is None or shape_of(last.covariance) == (size, size), "a covariance")
    for weight in (last.weight, last.since):
        expect(shape_of(weight) == (n_classes,), "a weight for each class")
    expect(type(last.n_since) is int, "a number of rows")
