"""Why, in a cell of a table and in the words of JSON."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

MOST = 3  # reasons of a row


def reasons(model: Any, X: pa.Table) -> list[str]:
    """For each row the columns that speak most for its class against the runner-up, in log odds.

    Of documents the words that do, and of neighbors the nearest.
    """
    import numpy as np

    if not hasattr(model, "evidence") or _reads_documents(model):
        return [_in_short(of_row(model, X.slice(i, 1))) for i in range(X.num_rows)]
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


def _reads_documents(model: Any) -> bool:
    """Whether each row has terms of its own, too many to look at side by side."""
    return hasattr(model, "build_analyzer") or getattr(model, "reads", None) == "documents"


def _shown(name: str, cells: dict[str, list[Any]], row: int) -> str:
    """A column and its cell; a term of several columns has none."""
    if name not in cells:
        return name
    value = cells[name][row]
    return f"{name} = {'?' if value is None else value}"


def _in_short(told: Any) -> str:
    if hasattr(told, "distances"):
        nearest = list(zip(told.rows, told.labels, told.say, strict=True))[:MOST]
        return "; ".join(f"row {row} is {label} ({say:.0%})" for row, label, say in nearest)
    names = told.terms if hasattr(told, "terms") else told.feature_names
    ranked = sorted(zip(names, told.weights, strict=True), key=lambda t: -abs(t[1]))
    return "; ".join(f"{name} ({weight:+.2f})" for name, weight in ranked[:MOST])


def of_row(model: Any, X: Any) -> Any:
    """The model's explanation of one row; training rows count from 1, as in their file."""
    explanation = model.explain(X)
    if hasattr(explanation, "distances"):
        return replace(explanation, rows=explanation.rows + 1)
    return explanation


def as_facts(explanation: Any) -> dict[str, Any]:
    """An explanation in plain values."""
    told = explanation
    if hasattr(told, "terms"):
        counted = zip(told.terms, told.counts, told.weights, strict=True)
        ranked = sorted(counted, key=lambda term: -abs(term[2]))
        return {**_odds(told, ranked), "rest": told.rest, "unseen": list(told.unseen)}
    if hasattr(told, "weights"):
        return _odds(told, zip(told.feature_names, told.values, told.weights, strict=True))
    if hasattr(told, "distances"):
        neighbors = zip(told.rows, told.labels, told.distances, told.say, strict=True)
        keys = ("row", "label", "distance", "say")
        return {
            "answer": told.answer,
            "neighbors": [dict(zip(keys, neighbor, strict=True)) for neighbor in neighbors],
            "prior_say": told.prior_say,
            "posterior": told.posterior,
        }
    return {"text": str(told)}


def _odds(told: Any, features: Iterable[tuple[Any, Any, Any]]) -> dict[str, Any]:
    """What all explanations by evidence say."""
    return {
        "of": told.of,
        "against": told.against,
        "prior": told.prior,
        "log_odds": told.log_odds,
        "features": [{"name": n, "value": v, "weight": w} for n, v, w in features],
        "posterior": told.posterior,
    }
