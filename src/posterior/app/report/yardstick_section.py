"""A yardstick: scikit-learn's gradient boosting as it comes, on the same folds, never kept."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from posterior.app.report.boosting_by_folds import Begin
from posterior.app.report.describing import candidate_facts
from posterior.app.report.report_schema import CandidateFacts
from posterior.data.typing import Floats
from posterior.evaluation.held_out import HeldOut, floored
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


def yardstick(comparison: Comparison, begin: Begin) -> Callable[[], CandidateFacts | None]:
    """Its line of the comparison; None where it would take long, or there is nothing but text.

    It is begun at once, and whoever asks for the line waits for it.
    """
    rows, index = comparison.rows, comparison.chosen.index
    columns = measured(rows.frame, comparison.roles.table_columns)
    folds, k = rows.held_out, len(rows.classes)
    some = np.unique(folds[index])
    outputs = len(some) * (k if k > 2 else 1)
    many = TREES * outputs > MOST_TREES or len(rows) * len(columns) * outputs > MOST_CELLS
    if many or not columns or any(len(set(rows.codes[folds != fold])) < 2 for fold in some):
        return lambda: None
    X, kinds = _cells(columns)
    asked = {"X": X, "categories": np.array(kinds), "codes": rows.codes, "n_classes": k}
    answers = begin(**asked, folds=folds, held_out=some)

    def line() -> CandidateFacts:
        with quiet():
            proba, seconds = answers()
        said = np.log(np.maximum(proba[index], 1e-300))
        held_out = HeldOut(floored(said), rows.codes[index], rows.classes, rows.folds[index])
        told = "yardstick", NAME, "yardstick", 99, SETTINGS, None
        return candidate_facts(Judged(*told, index, held_out, held_out, seconds), len(rows))

    return line


def _cells(columns: list[MeasuredColumn]) -> tuple[Floats, list[bool]]:
    """Numbers, and categories by their codes; NaN where missing."""
    parts = []
    for c in columns:
        cells = c.numbers if c.numbers is not None else c.grouped(MOST_VALUES)[0].astype(float)
        parts.append(np.where(c.missing, np.nan, cells))
    return np.column_stack(parts), [c.numbers is None for c in columns]
