"""Corrections of probabilities that `fit` learns, from rows answered by models of the others."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from posterior.data.errors import DegenerateError
from posterior.data.rows import Rows
from posterior.estimators.refits import held_out_by_refits
from posterior.evaluation.calibration import Calibrator, check_calibrated, learned
from posterior.generative.dealing import by_content, in_turn

if TYPE_CHECKING:
    from posterior.discriminative.fitted_logistic import FittedLogistic

CALIBRATED = [None, str]
FOLDS = 5
MANY = 10_000  # rows, of which one fold is enough
LARGEST = 2_000  # coefficients whose information is inverted; beyond, folds are fitted


def check(model: Any, *, streaming: bool = False) -> None:
    """Refuse a calibration that there is not, or rows that are not all at hand."""
    if model.calibrated is not None:
        check_calibrated(model.calibrated, streaming)


def by_refits(model: Any, X: Any, y: Any, weight: Any, rows: Rows) -> Calibrator | None:
    """The correction of a model that is fitted anew without each fold of its rows.

    Rows are dealt out by what they say, so that their order does not matter.
    """
    order, _ = by_content(rows)
    fold = np.full(len(rows), -1, np.int32)
    fold[order] = in_turn(len(order), max(2, min(FOLDS, len(order))))
    asked = 1 if len(order) >= MANY else FOLDS
    plain = clone(model).set_params(calibrated=None)
    held_out = held_out_by_refits(plain, X, y, fold, weight, asked)
    answered = order[(0 <= fold[order]) & (fold[order] < asked)]
    return learned(held_out.take(answered, folds=asked > 1), model.calibrated)


def of_minimum(model: Any, fitted: FittedLogistic, X: Any, y: Any, weight: Any) -> FittedLogistic:
    """A logistic regression with its correction: by approximate leave-one-out, from the one fit,
    or by refits where the information of the rows cannot be inverted."""
    if model.calibrated is None:
        return fitted
    minimum = fitted.at_hand
    rows, held_out = minimum.objective.at_hand, None
    if minimum.objective.size <= LARGEST:
        with suppress(DegenerateError):
            held_out = minimum.left_one_out(fitted.classes)
    if held_out is None:
        calibrator = by_refits(model, X, y, weight, rows)
    else:
        calibrator = learned(held_out.take(by_content(rows)[0]), model.calibrated)
    return replace(fitted, calibrator=calibrator)
