"""Nearest neighbors: the rows that were learned, how far they are from a row, and their votes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from posterior.data.rows import take
from posterior.data.typing import Array, Floats
from posterior.estimators import KNeighborsClassifier
from posterior.javascript.descriptions import corrected, described
from posterior.javascript.number_rows import NumberRow, plain_numbers
from posterior.javascript.sheet import Column, Described
from posterior.neighbors.gower import MixedIndex
from posterior.neighbors.mixed_rows import MixedRows

MOST_CELLS = 4_000_000  # of rows: a module of some 30 MB


@described.register
def _(model: KNeighborsClassifier, columns: Sequence[Column]) -> Described:
    if model.fitted_.metric.name == "mixed":
        return _voted(model, _of_kinds(model, columns))
    return neighbors_of_numbers(model, plain_numbers(columns))


def neighbors_of_numbers(model: KNeighborsClassifier, row: NumberRow) -> Described:
    """d(a, b)² = (a - b)ᵀ Σ⁻¹ (a - b), where Σ is that within classes, or one"""
    search = model.fitted_.search
    if not search.metric.euclidean or not isinstance(search.rows.X, np.ndarray):
        raise TypeError(
            "Expected neighbors by Euclidean or mixed distance of dense rows, got metric "
            f"{model.metric!r} of {type(search.rows.X).__name__}. Use model.predict_proba."
        )
    made = {"kind": "euclidean", "x": row.vector(), "columns": _listed(_rows(model).T)}
    whitened = search.whitened()
    if whitened is None:
        return _voted(model, made)
    made |= {"center": whitened.center, "axes": np.ascontiguousarray(whitened.axes.T)}
    if whitened.axes.ndim > 1:  # rows with gaps are measured along axes of their own
        made["covariance"] = whitened.covariance[np.tril_indices(len(whitened.covariance))]
    return _voted(model, made)


def _of_kinds(model: KNeighborsClassifier, columns: Sequence[Column]) -> Described:
    """d(a, b) = Σⱼ wⱼ dⱼ(aⱼ, bⱼ) / Σⱼ wⱼ over the columns that both rows have"""
    settings = model.fitted_.metric.settings
    if settings.get("text"):
        raise TypeError(
            "Expected columns of numbers and categories, got text by its edits: a module has no "
            "such distance. Leave the text out, or use model.predict_proba."
        )
    rows: Any = _rows(model)
    index = MixedIndex(rows, model.fitted_.search.engine.fill, **settings)
    parts = rows.parts if isinstance(rows, MixedRows) else rows.T
    known = zip(parts, columns, index.ranges.tolist(), index.weights.tolist(), strict=True)
    return {"kind": "mixed", "columns": [_of_kind(*each) for each in known]}


def _of_kind(part: Array, column: Column, spread: float, weight: float) -> Described:
    """A column of numbers, or one of words as places in a list, -1 where missing."""
    if part.dtype.kind != "O":
        made = {"cell": column.number(), "range": spread, "weight": weight}
        return {**made, **_listed([part])[0]}
    words = sorted({word for word in part.tolist() if word is not None})
    places = {word: i for i, word in enumerate(words)}
    codes = np.array([places.get(word, -1) for word in part.tolist()], np.float64)
    made = {"cell": column.words(words), "words": column.sheet.shared(words), "weight": weight}
    return {**made, **_listed([codes])[0]}


def _voted(model: KNeighborsClassifier, near: Described) -> Described:
    """p_c = (n v_c / Σ v + a π_c) / (n + a) of the votes v of n rows"""
    fitted, rule = model.fitted_, model.weights_
    rows = fitted.rows
    if len(rows.classes) > 1 or callable(rule):
        what = "votes weighed by a function" if callable(rule) else "several targets"
        raise TypeError(
            f"Expected neighbors of one target that vote by a rule with a name, got {what}: a "
            "module holds no such model. Use model.predict_proba."
        )
    counted, classes = rows.counted, rows.classes[0].tolist()
    own = rows.codes[counted, 0]
    made = {
        "kind": "neighbors",
        "near": near,
        "k": model.n_neighbors_,
        "rule": rule or "uniform",
        "labels": own.astype(np.min_scalar_type(len(classes))),
        "prior": rows.prior(0),
        "smoothing": fitted.smoothing,
        "classes": classes,
        "terms": [],
    }
    if rows.weight is not None:
        made["weight"] = rows.weight[counted]
    return corrected(made, fitted.calibrator)


def _rows(model: KNeighborsClassifier) -> Any:
    """Those that have a weight."""
    rows = model.fitted_.rows
    cells = len(rows.counted) * rows.X.shape[1]
    if cells > MOST_CELLS:
        raise TypeError(
            f"Expected neighbors of at most {MOST_CELLS:,} cells, which a module has to hold, got "
            f"{cells:,}. Use model.predict_proba, or a model that does not keep its rows."
        )
    return rows.X if rows.weight is None else take(rows.X, rows.counted)


def _listed(columns: Sequence[Floats] | Floats) -> list[Described]:
    """Columns of numbers; those of few values as these, and which of them each row has."""
    found: list[Described] = []
    for column in columns:
        values, places = np.unique(column, return_inverse=True)
        codes = places.astype(np.min_scalar_type(len(values)))
        few = codes.dtype.itemsize <= 2 and len(values) <= len(column) / 2
        found.append({"values": values, "codes": codes} if few else {"values": column})
    return found
