"""Predictions of a model of a table that is not told some of its columns.

A missing cell is left out: naive Bayes and networks drop its term, discriminants integrate it out,
neighbors measure by the other columns. An additive model has learned numbers for missing cells:
its tables of the column are left out instead, each of which is zero on average. Logistic regression
takes the mean of what the column became, and models of words read the other texts.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from sklearn.utils import get_tags

from posterior.data import frames
from posterior.data.typing import Array, Floats
from posterior.estimators.refits import log_answers
from posterior.estimators.table_classifier import TableClassifier
from posterior.preprocessing.roles import frame_of

MOST_ROWS = 20_000  # of a table that is asked about at once


@runtime_checkable
class LeavesOut(Protocol):
    """A model whose terms of a column can be left out, which is not what a missing cell does."""

    def log_proba_without(self, X: Any, columns: Sequence[Collection[int]]) -> Floats: ...


def log_proba_without(
    member: TableClassifier,
    frame: Any,
    X: Any,
    blanks: Sequence[Collection[str]],
    mean: Floats | None = None,
) -> Floats:
    """log p(k | x) (sets, n, k) of some rows, without each set of columns.

    Parameters
    ----------
    member : fitted
    frame : the rows
    X : what the model of the member reads of them: a table, numbers made of it, or documents
    blanks : sets of columns, by name as the member is given them
    mean : the mean of numbers, for a model that can read no missing ones
    """
    model = member.model_
    if member.reads == "documents":
        rest = [member.roles.without(*blank) for blank in blanks]
        texts = [roles.documents(frame) if roles.text else [None] * len(X) for roles in rest]
        return np.stack([log_answers(model, documents) for documents in texts])
    names = [column.name for column in member.roles.table]
    places = [[j for j, name in enumerate(names) if name in blank] for blank in blanks]
    if isinstance(model, LeavesOut):
        return model.log_proba_without(X, places)
    if member.reads == "numbers":
        sources = np.array(member.numbers_.sources())
        filled = np.nan if get_tags(model).input_tags.allow_nan or mean is None else mean
        return _in_parts(model, len(X), places, lambda some: _numbers(X, sources, some, filled))
    table = frame_of(X)
    return _in_parts(model, len(table), places, lambda some: _cells(table, some))


def _in_parts(model: Any, n: int, places: Sequence[Sequence[int]], make: Any) -> Floats:
    """Tables one below the other, as many as are worth a question."""
    step = max(1, MOST_ROWS // max(n, 1))
    parts = [places[i : i + step] for i in range(0, len(places), step)]
    said = [log_answers(model, make(some)).reshape(len(some), n, -1) for some in parts]
    return np.concatenate(said)


def _numbers(X: Array, sources: Array, places: Sequence[Sequence[int]], filled: Any) -> Floats:
    """Rows of numbers, without those that were made of each set of columns."""
    out = np.tile(np.asarray(X, np.float64), (len(places), 1, 1))
    for part, some in zip(out, places, strict=True):
        gone = np.isin(sources, some)
        part[:, gone] = filled if np.ndim(filled) == 0 else filled[gone]
    return out.reshape(-1, X.shape[1])


def _cells(table: Any, places: Sequence[Sequence[int]]) -> Any:
    """Rows of a table, without the cells of each set of columns."""
    columns: dict[str, Any] = {}
    n, sets = len(table), len(places)
    for j, name in enumerate(table.columns):
        column = table.get_column(name)
        number = frames.kind(column) == "number"
        cells = frames.numbers(column) if number else np.array([*column.to_list(), None], object)
        tiled = np.tile(cells[:n], (sets, 1))
        tiled[[i for i, some in enumerate(places) if j in some]] = np.nan if number else None
        columns[name] = tiled.ravel() if number else tiled.ravel().tolist()
    return frames.from_columns(columns, table.implementation).to_native()
