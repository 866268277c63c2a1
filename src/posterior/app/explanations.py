"""Explanations of rows, in a cell of a table and in plain values."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from posterior.app import models

if TYPE_CHECKING:
    import pyarrow as pa

MOST = 3  # reasons of a row


class Explained(Protocol):
    """An explanation of one row: of `Explanation`, `TextExplanation` and `Neighborhood`."""

    def in_short(self, most: int) -> str: ...
    def to_dict(self) -> dict[str, Any]: ...


def is_additive(model: Any) -> bool:
    """Whether a model's scores are sums of terms; of a model inside, as scikit-learn asks."""
    return hasattr(model, "evidence")


def reasons(model: Any, X: pa.Table) -> list[str]:
    """For each row the columns that speak most for its class against the runner-up, in log odds.

    Of documents the words that do, and of neighbors the nearest.
    """
    import numpy as np

    if not is_additive(model) or models.reads_documents(model):  # each row has terms of its own
        return [of_row(model, X.slice(i, 1)).in_short(MOST) for i in range(X.num_rows)]
    evidence = model.evidence(X)
    ranked = np.argsort(-evidence.log_joint(), axis=1, kind="stable")
    rows = np.arange(len(ranked))
    second = ranked[:, min(1, ranked.shape[1] - 1)]
    with np.errstate(invalid="ignore"):
        weights = evidence.terms[rows, ranked[:, 0]] - evidence.terms[rows, second]
    weights = np.where(np.isnan(weights), 0.0, weights)
    names, cells = [str(name) for name in evidence.feature_names], X.to_pydict()
    if (encoding := getattr(model, "encoding_", None)) is not None:  # several terms a column
        by_column = np.zeros((len(weights), X.num_columns))
        np.add.at(by_column.T, encoding.sources(), weights.T)
        names, weights = X.column_names, by_column
    top = np.argsort(-np.abs(weights), axis=1, kind="stable")[:, :MOST]
    return [
        "; ".join(f"{_shown(names[j], cells, i)} ({weights[i, j]:+.2f})" for j in best)
        for i, best in enumerate(top.tolist())
    ]


def _shown(name: str, cells: dict[str, list[Any]], row: int) -> str:
    """A column and its cell; a term of several columns has none."""
    if name not in cells:
        return name
    value = cells[name][row]
    return f"{name} = {'?' if value is None else value}"


def of_row(model: Any, X: Any) -> Explained:
    """The model's explanation of one row; training rows count from 1, as in their file."""
    from posterior.neighbors.neighbor_explanation import Neighborhood

    explanation: Explained = model.explain(X)
    if isinstance(explanation, Neighborhood):
        return replace(explanation, rows=explanation.rows + 1)
    return explanation
