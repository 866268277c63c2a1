"""A yardstick: scikit-learn's gradient boosting as it comes, on the same folds, never kept."""

from __future__ import annotations

import time

import numpy as np
from threadpoolctl import threadpool_limits

from posterior.app.report.describing import candidate_facts
from posterior.app.report.report_schema import CandidateFacts
from posterior.data.typing import Floats
from posterior.evaluation.held_out import HeldOut, aligned, floored
from posterior.preprocessing.measured_columns import MeasuredColumn, measured
from posterior.selection.comparison import Comparison, Judged, quiet

MOST_TREES = 1_500  # of all folds: a tree of few rows takes a millisecond or two
MOST_CELLS = 3_000_000  # rows times columns times classes, of all folds
MOST_VALUES = 250  # of a category; scikit-learn takes 255
TREES = 100
NAME = "Gradient boosting (scikit-learn)"
SETTINGS = (
    "HistGradientBoostingClassifier of scikit-learn with default settings, on the same folds: an "
    "external benchmark, which is never chosen."
)


def yardstick(comparison: Comparison) -> CandidateFacts | None:
    """Its line of the comparison; None where it would take long, or there is nothing but text."""
    rows, index = comparison.rows, comparison.chosen.index
    columns = measured(rows.frame, comparison.roles.table_columns)
    folds = rows.held_out
    some = np.unique(folds[index])
    k = len(rows.classes)
    trees = TREES * len(some) * (k if k > 2 else 1)
    cells = len(rows) * len(columns) * len(some) * (k if k > 2 else 1)
    if not columns or trees > MOST_TREES or cells > MOST_CELLS:
        return None
    started = time.perf_counter()
    X, kinds = _cells(columns)
    said = np.zeros((len(rows), k))
    with quiet(), threadpool_limits(limits=1, user_api="openmp"):
        from sklearn.ensemble import HistGradientBoostingClassifier

        for fold in some:
            test = np.flatnonzero(folds == fold)
            learned = folds != fold
            if len(np.unique(rows.codes[learned])) < 2:
                return None
            model = HistGradientBoostingClassifier(categorical_features=kinds, random_state=0)
            model.fit(X[learned], rows.codes[learned])
            said[test] = aligned(
                np.log(np.maximum(model.predict_proba(X[test]), 1e-300)),
                model.classes_,
                np.arange(k),
            )
    held_out = HeldOut(floored(said[index]), rows.codes[index], rows.classes, rows.folds[index])
    seconds = time.perf_counter() - started
    told = "yardstick", NAME, "yardstick", 99, SETTINGS, None
    return candidate_facts(Judged(*told, index, held_out, held_out, seconds), len(rows))


def _cells(columns: list[MeasuredColumn]) -> tuple[Floats, list[bool]]:
    """Numbers, and categories by their codes; NaN where missing."""
    parts = []
    for c in columns:
        cells = c.numbers if c.numbers is not None else c.grouped(MOST_VALUES)[0].astype(float)
        parts.append(np.where(c.missing, np.nan, cells))
    return np.column_stack(parts), [c.numbers is None for c in columns]
