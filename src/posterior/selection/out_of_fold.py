"""Probabilities of every row by models of the other folds."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np
from sklearn.base import clone

from posterior.data.frames import take
from posterior.data.typing import Codes
from posterior.estimators import KNeighborsClassifier
from posterior.estimators.table_classifier import TableClassifier
from posterior.evaluation.held_out import HeldOut, aligned, floored
from posterior.selection.labeled_rows import LabeledRows


@runtime_checkable
class OnePass(Protocol):
    """A model that may answer all folds out of one sum."""

    @property
    def one_pass(self) -> bool: ...
    def cross_validate(self, X: Any, y: Any, *, folds: Any) -> HeldOut: ...


def one_pass(classifier: TableClassifier) -> bool:
    """Whether all folds are answered for about the price of one fit."""
    model = classifier.model
    return isinstance(model, OnePass) and model.one_pass


def out_of_fold(classifier: TableClassifier, rows: LabeledRows, index: Codes) -> HeldOut:
    """Scores of some rows; models that subtract learn once, others for each fold.

    So do those that choose bins, families or a structure by the labels before they sum. How
    columns become numbers (means, deviations, levels) is learned from all rows, which knows no
    labels.
    """
    table = rows.reading(classifier)
    if len(index) < len(rows):
        table = take(table, index)
    y, folds, codes = rows.y[index], rows.folds[index], rows.codes[index]
    if one_pass(classifier):
        held_out = classifier.model.cross_validate(table, y, folds=folds)
        log_proba = aligned(held_out.log_proba, held_out.classes, rows.classes)
    else:
        log_proba = np.empty((len(index), len(rows.classes)))
        for f in np.unique(folds):
            test, train = np.flatnonzero(folds == f), np.flatnonzero(folds != f)
            model = clone(classifier.model).fit(take(table, train), y[train])
            answer = model.predict_log_proba(take(table, test))
            log_proba[test] = aligned(answer, model.classes_, rows.classes)
    return HeldOut(floored(log_proba), codes, rows.classes, folds)


def settled(classifier: TableClassifier, rows: LabeledRows, index: Codes) -> TableClassifier:
    """The same with the number of neighbors chosen, once: each row is answered by the others."""
    model = classifier.model
    if not isinstance(model, KNeighborsClassifier) or model.n_neighbors != "auto":
        return classifier
    trial = clone(model).fit(take(rows.reading(classifier), index), rows.y[index])
    chosen = clone(model)
    chosen.set_params(n_neighbors=int(trial.n_neighbors_), smoothing=float(trial.smoothing_))
    return clone(classifier).set_params(model=chosen)
