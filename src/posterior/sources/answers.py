"""Answers of a fitted model, as further columns of a table that is read and written in pieces."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from posterior.sources import outputs
from posterior.sources.files import columns_named

if TYPE_CHECKING:
    import pyarrow as pa

PREDICTED = "predicted"


def columns(model: Any) -> list[str]:
    """The columns that the model reads, if it knows their names."""
    from posterior.data.names import feature_names

    names = feature_names(model)
    return [] if names is None else [str(name) for name in names]


def classes(model: Any, n: int) -> Any:
    """The names of what the model answers: classes, or clusters, which count from 1."""
    import numpy as np
    from sklearn.base import is_classifier

    return model.classes_ if is_classifier(model) else 1 + np.arange(n)


def features(model: Any, table: pa.Table) -> pa.Table:
    """The columns that the model reads, in its order; it may know their number alone."""
    if names := columns(model):
        return table.select(columns_named(table.column_names, names))
    width = getattr(model, "n_features_in_", table.num_columns)  # of a model that is fitted
    if table.num_columns != width:
        raise ValueError(
            f"Expected a table of {width} columns, which the model identifies by position, "
            f"got {table.num_columns}."
        )
    return table


def answers(model: Any, X: pa.Table) -> dict[str, Any]:
    """The class or cluster of each row, and all probabilities.

    The most probable class; but k-means gives a row to the nearest center, however few rows it has.
    """
    from sklearn.base import is_classifier

    if not hasattr(model, "predict_proba"):
        return {PREDICTED: model.predict(X) + 1}
    p = model.predict_proba(X)
    return told(model, p, p.argmax(axis=1) if is_classifier(model) else model.predict(X))


def told(model: Any, proba: Any, codes: Any) -> dict[str, Any]:
    """Answers by their codes, and all probabilities."""
    known = classes(model, proba.shape[1])
    each = {f"p_{label}": proba[:, k] for k, label in enumerate(known)}
    return {PREDICTED: known[codes], **each}


def answered(
    model: Any,
    written: pa.Table,
    read: pa.Table,
    out: str,
    only: bool = False,
    more: Callable[[Any], dict[str, Any]] = lambda X: {},
    answer: Callable[[Any, Any], dict[str, Any]] = answers,
) -> pa.Table:
    """A piece of a table with the answers beside it, or the answers alone.

    The piece is given as its file has it, which a file of text keeps, and as the model reads it.
    """
    X = features(model, read)
    found = answer(model, X) | more(X)
    if only:
        return outputs.as_table(found)
    return outputs.beside(written if outputs.format_of(out) in outputs.TEXT else read, found)
