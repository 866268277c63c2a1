"""Probabilities of every row by models of the other folds."""

from __future__ import annotations

import numpy as np

from posterior.data.frames import take
from posterior.data.typing import Codes
from posterior.estimators.refits import learned_by
from posterior.estimators.table_classifier import TableClassifier
from posterior.evaluation.held_out import HeldOut, aligned, floored
from posterior.selection.labeled_rows import LabeledRows


def out_of_fold(classifier: TableClassifier, rows: LabeledRows, index: Codes) -> HeldOut:
    """Scores of some rows.

    How columns become numbers (means, deviations, levels) is learned from all rows, which knows no
    labels.
    """
    table, folds = take(rows.reading(classifier), index), rows.folds[index]
    model, said = learned_by(classifier.model, table, rows.y[index], folds)
    log_proba = aligned(said, np.asarray(model.classes_), rows.classes)
    return HeldOut(floored(log_proba), rows.codes[index], rows.classes, folds)
