"""Corrections of probabilities that `fit` learns, from rows answered by models of the others."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone

from posterior.data import frames, validate
from posterior.data.errors import DegenerateError
from posterior.data.rows import Rows
from posterior.data.typing import Codes
from posterior.discriminative.fitted_logistic import FittedLogistic
from posterior.estimators.base_classifier import with_target
from posterior.evaluation.calibration import Calibrator, check_calibrated, learned
from posterior.evaluation.held_out import HeldOut, aligned, floored
from posterior.generative.dealing import by_content, in_turn

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


def held_out_by_refits(
    model: Any, X: Any, y: Any, fold: Codes, sample_weight: Any, asked: int | None = None
) -> HeldOut:
    """Every row by a fit to the other folds; or those of the first few folds, and no others."""
    X, y = with_target(X, y)
    classes, codes = validate.labels(y, len(fold))
    weight = validate.weights(sample_weight, len(codes))
    log_proba = np.full((len(codes), len(classes)), -np.log(len(classes)))
    for f in np.unique(fold[fold >= 0])[:asked]:
        test, train = np.flatnonzero(fold == f), np.flatnonzero(fold != f)
        given = None if weight is None else weight[train]
        other = clone(model).fit(frames.take(X, train), classes[codes[train]], given)
        answer = other.predict_log_proba(frames.take(X, test))
        log_proba[test] = aligned(answer, other.classes_, classes)
    return HeldOut(floored(log_proba), codes, classes, fold, weight)
