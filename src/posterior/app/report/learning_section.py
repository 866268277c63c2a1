"""Generative against discriminative models as rows come in (Ng and Jordan 2001)."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from posterior.app.report.report_schema import LearningCurve, LearningCurves
from posterior.estimators.pool.candidates import Candidate, width
from posterior.evaluation.learning import learning_curve
from posterior.selection.comparison import quiet
from posterior.selection.labeled_rows import LabeledRows

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
    together = rows.held_out if rows.dealt.belonging is not None else None
    left_out = n_test if together is None else int(np.bincount(together[together >= 0]).max())
    largest = min(n - left_out, most)
    smallest = min(max(10, 2 * k), largest // 2)
    heavy = documents or largest > 2000 or k * width(pair[0].classifier.roles) > MANY_COEFFICIENTS
    sizes = np.geomspace(smallest, largest, SIZES - 2 if heavy else SIZES)
    sizes = np.unique(sizes.astype(np.int64))
    repeats = 2 if heavy else REPEATS
    curves = []
    for candidate in pair:
        model = clone(candidate.classifier.model)
        if candidate.key == "text-logistic":
            model.set_params(calibrated=False, min_df=2)  # to learn how sharp takes five more fits
        table = rows.reading(candidate.classifier)
        with quiet():
            points = learning_curve(
                model,
                table,
                rows.y,
                sizes=sizes.tolist(),
                n_test=n_test,
                repeats=repeats,
                random_state=seed,
                folds=together,
            )
        kind: Any = candidate.kind
        curves.append(LearningCurve(candidate.key, candidate.name, kind, points))
    return LearningCurves(curves, n_test, repeats, _sentence(curves))


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
