"""Predictions of a question: probabilities, the decision, and what was missing or unseen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from msgspec import Raw, json

from posterior.app.decisions import decide
from posterior.app.server.cells import Noted
from posterior.app.server.limits import Limits
from posterior.app.server.questions import (
    ColumnAnswer,
    PredictQuestion,
    RowAnswer,
    RowPrediction,
    encode,
)
from posterior.app.server.refusals import RequestError
from posterior.app.server.served import Served
from posterior.data.typing import Array, Floats

_reader = json.Decoder(list[RowPrediction])
ONE = np.zeros(1, np.intp)  # the row of a question of one


@dataclass(frozen=True, slots=True)
class Predicted:
    """The rows of a question, decided."""

    posterior: Floats  # (n, k)
    codes: Array  # (n,) of the classes that are predicted
    expected: Floats | None  # (n, k) costs of each answer
    noted: Noted


def predicted(served: Served, question: PredictQuestion) -> Predicted:
    """Predict the rows or the columns of a question."""
    if question.rows is not None and len(question.rows) == 1 and question.priors is None:
        record = served.reading.record(question.rows[0])
        p = served.record_posterior(record)[None, :]
        return decided(served, p, noted_of(served, record), question)
    if question.rows is not None:
        read = served.reading.rows(question.rows)
    else:
        columns = question.columns or {}
        read = served.reading.arrays(columns, len(next(iter(columns.values()))))
    p = served.posterior(served.read(read.table), question.priors)
    return decided(served, p, read.noted, question)


def decided(served: Served, p: Floats, noted: Noted, asked: Any) -> Predicted:
    """Probabilities, and the class that costs or thresholds choose."""
    if asked.costs is None and asked.thresholds is None:
        return Predicted(p, p.argmax(axis=1), None, noted)
    decision = served.decision(asked.costs, asked.thresholds)
    return Predicted(p, decision.codes(p), decide(p, decision.prices)[1], noted)


def noted_of(served: Served, record: Mapping[str, Any]) -> Noted:
    """What is missing or unseen in one row, given as the model reads it."""
    noted = Noted()
    for name, cells in served.reading.columns.items():
        cell = record[name]
        if cell is None:
            noted.missing[name] = ONE
        elif cells.is_unseen(cell):
            noted.unseen[name] = ONE
    return noted


def check_size(question: PredictQuestion, served: Served, limits: Limits) -> int:
    """The rows of a question, if there are some and not too many."""
    if question.rows is not None:
        n_rows = len(question.rows)
    else:
        lengths = {len(cells) for cells in (question.columns or {}).values()}
        if len(lengths) > 1:
            raise RequestError(
                f"Expected columns of one length, got {min(lengths):,} and {max(lengths):,} cells."
            )
        n_rows = max(lengths, default=0)
    check_rows(n_rows, len(served.columns), limits)
    return n_rows


def check_rows(n_rows: int, n_columns: int, limits: Limits) -> None:
    if n_rows == 0:
        raise RequestError("Expected a row or more, got none.")
    if n_rows > limits.rows:
        text = f"Expected at most {limits.rows:,} rows, got {n_rows:,}. Send a file to /api/batch."
        raise RequestError(text, 413, "rows")
    if n_rows * n_columns > limits.cells:
        text = f"Expected at most {limits.cells:,} cells, got {n_rows:,} rows of {n_columns:,}."
        raise RequestError(f"{text} Send a file to /api/batch.", 413, "cells")


def encoded(served: Served, question: PredictQuestion, found: Predicted) -> bytes:
    """The answer as JSON, in the shape of the question."""
    if question.rows is None:
        return encode(_by_column(served, found))
    rows = cast(list[RowPrediction], Raw(served.writer.written(found)))
    return encode(RowAnswer(served.told, rows))


def row_predictions(served: Served, found: Predicted) -> list[RowPrediction]:
    """An answer for each row."""
    return _reader.decode(served.writer.written(found))


def _by_column(served: Served, found: Predicted) -> ColumnAnswer:
    classes, costs = served.classes, found.expected
    return ColumnAnswer(
        model=served.told,
        prediction=[classes[code] for code in found.codes.tolist()],
        posterior={label: found.posterior[:, k].tolist() for k, label in enumerate(classes)},
        expected_costs=None
        if costs is None
        else {label: costs[:, k].tolist() for k, label in enumerate(classes)},
        missing={name: rows.tolist() for name, rows in found.noted.missing.items()},
        unseen={name: rows.tolist() for name, rows in found.noted.unseen.items()},
    )
