"""The chosen model as rows come in, beside a generative and a discriminative one.

The chosen model keeps its members, settings and weights, and learns from a half, a quarter and an
eighth of the rows outside a fold. The two beside it are those of Ng and Jordan (2001).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import log_softmax
from sklearn.base import clone

from posterior.app.report.report_schema import LearningCurve, LearningCurves, Measure
from posterior.data.typing import Floats
from posterior.estimators.pool.candidates import Candidate, width
from posterior.estimators.pool.fold_models import FoldModels, learned_without
from posterior.evaluation.held_out import floored
from posterior.evaluation.learning import LearningPoint, learning_curve
from posterior.evaluation.scores import mean_of
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
FOLDS = 2  # whose rows are asked about
STEPS = (1, 2, 4, 8)  # every so many rows
CHOSEN = "chosen"


def learning_curves(
    rows: LabeledRows, models: FoldModels, name: str, pair: list[Candidate], seed: int
) -> LearningCurves | None:
    """The chosen model and two others at growing sizes, on rows that none of them has seen."""
    if len(rows) < LEAST_ROWS:
        return None
    own, half = _chosen(models, name)
    curves, n_test, repeats = _views(rows, pair, seed)
    if own.points:
        curves = [own, *curves]
    if not curves:
        return None
    return LearningCurves(curves, n_test, repeats, _sentence(curves, half), half)


def _chosen(models: FoldModels, name: str) -> tuple[LearningCurve, Measure | None]:
    """The curve of the chosen model, and how much more half of the rows cost it, row by row."""
    rows, found = models.rows, dict[int, list[Floats]]()
    folds = [*models.copies][:FOLDS]
    tested = []
    for fold in folds:
        test = rows.held_out[rows.folds[rows.held_out] == fold]
        test = test[:: -(-len(test) // MOST_TESTED)]
        rest = np.flatnonzero(rows.folds != fold)
        tested.append(test)
        for step in STEPS:
            kept = rest[::step]  # sorted by class and content: all classes have their share
            gone = np.delete(np.arange(len(rows.codes)), kept)
            try:
                with quiet():
                    copy = models.copies[fold]
                    copy = copy if step == 1 else learned_without(models.fitted, rows, gone)
                    scores = copy.scores(models.given(test))
            except (ValueError, np.linalg.LinAlgError):  # too few rows for some member
                continue
            found.setdefault(step, []).append(floored(log_softmax(scores, axis=1)))
    points, losses = [], dict[int, Floats]()
    for step, parts in sorted(found.items(), reverse=True):
        size = round(float(np.mean([np.sum(rows.folds != f) / step for f in folds])))
        if len(parts) < len(folds) or size < LEAST_ROWS // 2:
            continue
        said, codes = np.concatenate(parts), rows.codes[np.concatenate(tested)]
        losses[step] = -said[np.arange(len(codes)), codes]
        hit = (said.argmax(axis=1) == codes).astype(np.float64)
        points.append(LearningPoint(size, mean_of(losses[step]), mean_of(hit)))
    half = mean_of(losses[2] - losses[1]) if {1, 2} <= set(losses) else None
    return LearningCurve(CHOSEN, name, "chosen", points if len(points) > 1 else []), half


def _views(
    rows: LabeledRows, pair: list[Candidate], seed: int
) -> tuple[list[LearningCurve], int, int]:
    """Two simple models, tested on so many rows in some draws of each size."""
    n, k = len(rows), len(rows.classes)
    n_test = int(min(0.3 * n, MOST_TESTED))
    if len(pair) != 2:
        return [], n_test, 0
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
    return curves, n_test, repeats


def _sentence(curves: list[LearningCurve], half: Measure | None) -> str:
    """Whether more rows would help the chosen model, and how the two others compare."""
    said = []
    if half is not None:
        much = half.value > 2 * (half.standard_error or 0.0)
        worth = "more rows would help" if much else "more rows alone would change little"
        sign = "more" if half.value >= 0 else "less"
        amount = Measure(abs(half.value), half.standard_error)
        of = "the log loss of the chosen model"
        said.append(f"With half of the rows, {of} is {amount} {sign}: {worth}.")
    views = [curve for curve in curves if curve.kind != "chosen"]
    return " ".join([*said, _lead(*views)]) if len(views) == 2 else " ".join(said)


def _lead(generative: LearningCurve, other: LearningCurve) -> str:
    """Which of two models is ahead, early and late."""
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
