"""Rows that neighbors and medoids are found in."""

from __future__ import annotations

from typing import Any

import numpy as np

from posterior.data.rows import SparseRows
from posterior.engines.local import Local
from posterior.neighbors.fitted_medoids import FittedMedoids
from posterior.neighbors.fitted_neighbors import FittedNeighbors
from posterior.neighbors.input_by_metric import MixedTable
from posterior.neighbors.metrics import Metric
from posterior.neighbors.mixed_rows import MixedRows
from posterior.neighbors.neighbor_search import Search, SearchMethod
from posterior.neighbors.select_distance import RULES
from posterior.neighbors.training_rows import TrainingRows
from posterior.readers.reader import Reader
from posterior.storage.calibrator_checks import check_calibrator
from posterior.storage.checks import check, looks, n_columns
from posterior.storage.extents import n_classes, shape_of
from posterior.storage.model_file_error import expect


@looks.register
def _(value: MixedRows) -> None:
    expect(len({shape_of(part) for part in value.parts}) == 1, "columns of equal length")
    expect(len(value.names) == len(value.parts), "a name for each column")
    expect(all(part.ndim == 1 and part.dtype.kind in "Of" for part in value.parts), "columns")


@looks.register
def _(value: TrainingRows) -> None:
    codes, n = value.codes, shape_of(value.X)[0]
    expect(shape_of(codes) == (n, len(value.classes)) and codes.dtype.kind == "i", "a code a row")
    for column, classes in zip(codes.T, value.classes, strict=True):
        inside = column.min(initial=0) >= 0 and column.max(initial=-1) < n_classes(classes)
        expect(inside, "codes of classes")
    weight = value.weight
    expect(weight is None or (weight.shape == (n,) and weight.dtype == np.float64), "weights")
    expect(weight is None or bool((np.isfinite(weight) & (weight >= 0)).all()), "weights")


@looks.register
def _(value: Search) -> None:
    expect(isinstance(value.rows, TrainingRows), "the rows of a search")
    expect(isinstance(value.engine, Local), "the engine of a search")
    expect(value.method is None or isinstance(value.method, SearchMethod), "a method of search")
    expect(type(value.n_neighbors) is int, "a number of neighbors")
    shrinkage = value.whiten
    expect(
        shrinkage is None or (isinstance(shrinkage, float) and 0 <= shrinkage <= 1),
        "a shrinkage between 0 and 1",
    )
    check_metric(value.metric, value.rows.X)


@looks.register
def _(value: FittedNeighbors) -> None:
    reader, search = value.reader, value.search
    expect(isinstance(reader, Reader) and isinstance(search, Search), "rows and their search")
    check(search.rows)
    check(search)
    check_rows(reader, search.rows.X)
    expect(type(value.n_neighbors) is int and value.n_neighbors > 0, "a number of neighbors")
    expect(value.weights in (None, *RULES), "a rule of votes")
    check_calibrator(value.calibrator, len(search.rows.classes[0]))


@looks.register
def _(value: FittedMedoids) -> None:
    n, rows, numbers, labels = n_columns(value.reader), value.rows, value.numbers, value.labels
    whole = isinstance(numbers, np.ndarray) and numbers.dtype == np.int64 and numbers.ndim == 1
    expect(whole and len(numbers) == len(set(numbers.tolist())) > 0, "medoids, each once")
    expect(len(shape_of(labels)) == 1 and labels.dtype == np.int32, "a cluster of each row")
    inside = labels.min(initial=0) >= 0 and labels.max(initial=0) < len(numbers)
    inside = inside and numbers.min() >= 0 and numbers.max() < len(labels)
    expect(inside and type(value.far) is float, "clusters of the medoids")
    if rows is None:
        given = isinstance(value.metric, Metric) and value.metric.name == "precomputed"
        expect(given and n == len(labels), "medoids, or distances from them")
    else:
        expect(shape_of(rows)[0] == len(numbers), "a row of each medoid")
        check_metric(value.metric, rows)
        check_rows(value.reader, rows)


def check_rows(reader: Any, X: Any) -> None:
    n, shape = n_columns(reader), shape_of(X)
    expect(len(shape) == 1 or shape[1] == n, "rows as wide as the queries")
    if isinstance(reader, MixedTable) and reader.kinds is not None:
        expect(isinstance(X, MixedRows) and X.kinds == reader.kinds, "a kind of each column")


def check_metric(metric: Any, X: Any) -> None:
    """Refuse settings that a distance could not read, and rows that it could not order."""
    shape = shape_of(X)
    expect(isinstance(metric, Metric) and isinstance(metric.name, str), "the name of a metric")
    expect(metric.settings.get("p", 1) > 0, "a positive power")
    for name in {"V", "VI"} & set(metric.settings):  # SciPy does not look at how wide they are
        expect(
            np.shape(metric.settings[name]) in (shape[1:], shape[1:] * 2), f"{name} of all columns"
        )
    # a tree, and sorting, of what has no order may not end
    cells = X.data if isinstance(X, SparseRows) else X
    if isinstance(cells, np.ndarray) and cells.dtype.kind == "f":
        expect(not np.isinf(cells).any(), "rows of finite numbers")
        gaps = metric.euclidean or metric.name == "mixed"
        expect(gaps or not np.isnan(cells).any(), "rows without missing cells")
