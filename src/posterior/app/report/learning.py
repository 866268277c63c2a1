"""Generative against discriminative models as rows come in (Ng and Jordan 2001)."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from posterior.app.report.schema import LearningCurve, LearningCurves, LearningPoint, Measure
from posterior.data.typing import Floats, Integers
from posterior.selection.candidates import Candidate, width
from posterior.selection.comparison import quiet
from posterior.selection.out_of_fold import aligned, floored
from posterior.selection.rows import LabeledRows, take

SIZES = 8
REPEATS = 5
MOST_LEARNED = 4_000
MOST_TESTED = 2_000
MOST_DOCUMENTS = 1_500
DOCUMENTS_TIMES_CLASSES = 12_000
MANY_COEFFICIENTS = 150
LEAST_ROWS = 40


def learning_curves(rows: LabeledRows, pair: list[Candidate], seed: int) -> LearningCurves | None:
    """Both models at growing sizes, on rows that neither has seen; some draws for each size."""
    n, k = len(rows), len(rows.classes)
    if n < LEAST_ROWS or len(pair) != 2:
        return None
    n_test = int(min(0.3 * n, MOST_TESTED))
    documents = pair[0].classifier.reads == "documents"
    most = min(MOST_DOCUMENTS, DOCUMENTS_TIMES_CLASSES // k) if documents else MOST_LEARNED
    largest = min(n - n_test, most)
    smallest = min(max(10, 2 * k), largest // 2)
    heavy = documents or largest > 2000 or k * width(pair[0].classifier.roles) > MANY_COEFFICIENTS
    sizes = np.geomspace(smallest, largest, SIZES - 2 if heavy else SIZES)
    sizes = np.unique(sizes.astype(np.int64))
    repeats = 2 if heavy else REPEATS
    random = np.random.default_rng(seed)
    orders = [random.permutation(n) for _ in range(repeats)]
    curves = []
    for candidate in pair:
        table = rows.reading(candidate.classifier)
        found = np.array(
            [
                [
                    _score(candidate, rows, table, _train(rows, order[n_test:], size), test)
                    for size in sizes
                ]
                for order in orders
                for test in (order[:n_test],)
            ]
        )  # (repeats, sizes, 2)
        points = [
            LearningPoint(int(size), _measure(found[:, i, 0]), _measure(found[:, i, 1]))
            for i, size in enumerate(sizes)
        ]
        kind: Any = candidate.kind
        curves.append(LearningCurve(candidate.key, candidate.name, kind, points))
    return LearningCurves(curves, n_test, repeats, _sentence(curves))


def _train(rows: LabeledRows, order: Integers, size: int) -> Integers:
    """The first rows of a draw, with at least one of each class, which models must know of."""
    _, first = np.unique(rows.codes[order], return_index=True)
    rest = np.setdiff1d(np.arange(len(order)), first)
    return order[np.concatenate([first, rest])[: max(int(size), len(first))]]


def _score(
    candidate: Candidate, rows: LabeledRows, table: Any, train: Integers, test: Integers
) -> tuple[float, float]:
    """Log loss and accuracy."""
    model = clone(candidate.classifier.model)
    if candidate.key == "text-logistic":
        model.set_params(calibrated=False, min_df=2)  # to learn how sharp takes five more fits
    with quiet():
        model.fit(take(table, train), rows.y[train])
        answer = model.predict_log_proba(take(table, test))
    log_proba = floored(aligned(answer, model.classes_, rows))
    own = log_proba[np.arange(len(test)), rows.codes[test]]
    right = log_proba.argmax(axis=1) == rows.codes[test]
    return float(-own.mean()), float(right.mean())


def _measure(values: Floats) -> Measure:
    error = float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else None
    return Measure(float(values.mean()), error)


def _sentence(curves: list[LearningCurve]) -> str:
    generative, other = curves
    sizes = [p.rows for p in generative.points]
    both = zip(generative.points, other.points, strict=True)
    lead = [a.log_loss.value < b.log_loss.value for a, b in both]
    start, end = ((generative if ahead else other).name for ahead in (lead[0], lead[-1]))
    if start == end and len(set(lead)) > 1:
        return (
            f"{start} has the lower log loss at {sizes[0]:,} rows and at {sizes[-1]:,}; in between "
            "the lead changes."
        )
    if start == end:
        return f"{start} has the lower log loss at {sizes[0]:,} rows and still at {sizes[-1]:,}."
    crossing = sizes[lead.index(not lead[0])]
    return (
        f"{start} is ahead with {sizes[0]:,} rows; from about {crossing:,} rows on {end} has the "
        "lower log loss."
    )
