"""Probabilities of every row by models of the other folds, and their calibration."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Protocol, runtime_checkable

import numpy as np
from sklearn.base import clone

from posterior.data.frames import take
from posterior.data.typing import Codes
from posterior.estimators import KNeighborsClassifier
from posterior.estimators.table_classifier import TableClassifier
from posterior.evaluation.calibration import Calibrator, chosen
from posterior.evaluation.held_out import HeldOut, aligned, floored
from posterior.selection.labeled_rows import LabeledRows

Watch = Callable[[HeldOut, Codes, int], bool]  # answers so far, their rows, and folds done


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


def out_of_fold(
    classifier: TableClassifier, rows: LabeledRows, index: Codes, given_up: Watch | None = None
) -> tuple[HeldOut, Codes]:
    """Scores of some rows, and which; models that subtract learn once, others for each fold.

    So do those that choose bins, families or a structure by the labels before they sum. How
    columns become numbers (means, deviations, levels) is learned from all rows, which knows no
    labels. After each fold, `given_up` may say that it was the last.
    """
    table = rows.reading(classifier)
    if len(index) < len(rows):
        table = take(table, index)
    y, folds, codes = rows.y[index], rows.folds[index], rows.codes[index]
    done = np.ones(len(index), bool)
    if one_pass(classifier):
        held_out = classifier.model.cross_validate(table, y, folds=folds)
        log_proba = aligned(held_out.log_proba, held_out.classes, rows.classes)
    else:
        log_proba = np.empty((len(index), len(rows.classes)))
        done[:] = False
        for i, f in enumerate(np.unique(folds)):
            test, train = np.flatnonzero(folds == f), np.flatnonzero(folds != f)
            model = clone(classifier.model).fit(take(table, train), y[train])
            answer = model.predict_log_proba(take(table, test))
            log_proba[test] = floored(aligned(answer, model.classes_, rows.classes))
            done[test] = True
            so_far = HeldOut(log_proba[done], codes[done], rows.classes, folds[done])
            if given_up is not None and given_up(so_far, index[done], i + 1):
                break
    answers = floored(log_proba[done])
    return HeldOut(answers, codes[done], rows.classes, folds[done]), index[done]


def settled(classifier: TableClassifier, rows: LabeledRows, index: Codes) -> TableClassifier:
    """The same with the number of neighbors chosen, once: each row is answered by the others."""
    model = classifier.model
    if not isinstance(model, KNeighborsClassifier) or model.n_neighbors != "auto":
        return classifier
    trial = clone(model).fit(take(rows.reading(classifier), index), rows.y[index])
    chosen = clone(model)
    chosen.set_params(n_neighbors=int(trial.n_neighbors_), smoothing=float(trial.smoothing_))
    return clone(classifier).set_params(model=chosen)


def calibrated(held_out: HeldOut) -> tuple[str | None, Calibrator | None, HeldOut]:
    """The correction that lowers log loss by more than two standard errors, or none.

    Folds are corrected by what the others say, some at a time; what is kept is learned from all.
    """
    name, calibrator, corrected = chosen(_in_order(held_out))
    order = np.searchsorted(corrected.classes, held_out.classes)
    return name, calibrator, replace(held_out, log_proba=corrected.log_proba[:, order])


def _in_order(held_out: HeldOut) -> HeldOut:
    """The same with the classes sorted, as those of a fitted model are: bands need not be."""
    order = np.argsort(held_out.classes)
    return replace(
        held_out,
        log_proba=held_out.log_proba[:, order],
        codes=np.argsort(order)[held_out.codes].astype(np.int32),
        classes=held_out.classes[order],
    )
