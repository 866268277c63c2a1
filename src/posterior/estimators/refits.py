"""Held-out answers of models that learn from all rows together: by a fit for each fold."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np
from sklearn.base import clone

from posterior import kernels
from posterior.data import frames, validate
from posterior.data.typing import Codes, Floats
from posterior.estimators import remote
from posterior.estimators.base_classifier import BaseClassifier, with_belonging, with_target
from posterior.evaluation.held_out import HeldOut, aligned, floored
from posterior.generative.fold_sums import FOLDS, folds_of, scored


@runtime_checkable
class OnePass(Protocol):
    """A model that may answer all folds out of one sum."""

    @property
    def one_pass(self) -> bool: ...
    def fit(self, X: Any, y: Any) -> Any: ...
    def cross_validate(self, X: Any, y: Any, folds: Any, sample_weight: Any) -> HeldOut: ...


def cross_validated(
    self: Any,
    X: Any,
    y: Any,
    folds: Any = FOLDS,
    sample_weight: Any = None,
    *,
    groups: Any = None,
    time: Any = None,
) -> HeldOut:
    """Score every row by the model of the other folds: a fit for each, which chooses anew.

    Parameters
    ----------
    X, y, sample_weight : as in `fit`, in memory
    folds : int, array of shape (n_samples,), or a splitter of scikit-learn
        A number deals the rows out evenly by class, in order. A row of a fold below zero is
        learned, and never scored.
    groups : array of shape (n_samples,), or the name of a column of X, which is not learned
        Rows of one value stay together in a fold.
    time : array of shape (n_samples,), or the name of a column of X
        Numbers or dates: the latest of `folds` parts is scored, by the model of all before it.
    """
    remote.refuse_elsewhere(X, "cross_validate")
    X, y = with_target(X, y)
    X, groups, time = with_belonging(X, groups, time)
    classes, codes = validate.labels(y, len(y))
    weight = validate.weights(sample_weight, len(codes))
    fold = folds_of(folds, codes, groups, time)
    return scored(held_out_by_refits(self, X, classes[codes], fold, weight))


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
        rows, own = frames.take(X, train), classes[codes[train]]
        other = clone(model).fit(rows, own, **given(weight, train))
        answer = log_answers(other, frames.take(X, test))
        log_proba[test] = aligned(answer, np.asarray(other.classes_), classes)
    return HeldOut(floored(log_proba), codes, classes, fold, weight)


def fit_held_out(self: Any, X: Any, y: Any, folds: Codes, sample_weight: Any = None) -> Floats:
    """Learn from all rows, and say log p(k | x) (n, k) of each by the folds that it is not in.

    The rounds are chosen by these folds, and their fits answer, for nothing more. A fold below
    zero is never held out: its rows have NaN.

    Parameters
    ----------
    X, y, sample_weight : as in `fit`, in memory
    folds : array of shape (n_samples,)
    """
    if self.solver == "convex" and self.C is not None:
        return refitted(self, X, y, folds, sample_weight)
    self._validate_params()
    reader, labels, rows, cells = self.rows_of_cells(X, y, sample_weight)
    index = cells.places(reader.codes(rows.X), rows.hard.codes)
    held = cells.folded(index, folds, rows.hard.weight)
    self.fitted_, scores = self.rule().holding_out(reader, labels, cells, held)
    answers = self.fitted_.by_class(scores)[index]
    answers[folds < 0] = np.nan
    kernels.normalize(answers, "log_posterior")
    return answers


def refitted(self: Any, X: Any, y: Any, folds: Codes, sample_weight: Any = None) -> Floats:
    """The same of any model, by a fit without each fold."""
    self.fit(X, y, **given(sample_weight))
    answers = held_out_by_refits(self, X, y, folds, sample_weight).log_proba
    answers[folds < 0] = np.nan
    return answers


def log_answers(model: Any, X: Any) -> Floats:
    """log p(k | x) by any classifier; those of others may not know how to take the logarithm."""
    if isinstance(model, BaseClassifier):
        return np.asarray(model.predict_log_proba(X))
    with np.errstate(divide="ignore"):
        return np.log(np.asarray(model.predict_proba(X), np.float64))


def given(weight: Any, index: Any = slice(None)) -> dict[str, Any]:
    """Weights of rows, where there are some."""
    return {} if weight is None else {"sample_weight": np.asarray(weight)[index]}


def learned_by(
    model: Any, X: Any, y: Any, folds: Codes, weight: Floats | None = None
) -> tuple[Any, Floats]:
    """A copy that has learned from all rows, and what it says (n, k) of those held out.

    Sums subtract folds; boosting has fits without each fold anyway; others are fitted again.
    Columns are those of the copy's classes; rows of a fold below zero are not held out.
    """
    own = clone(model)
    if folds.max() < 0:
        own.fit(X, y, **given(weight))
        return own, np.full((len(folds), len(own.classes_)), np.nan)
    if hasattr(own, "fit_held_out"):
        return own, own.fit_held_out(X, y, folds, weight)
    if isinstance(own, OnePass) and own.one_pass:
        own.fit(X, y, **given(weight))  # which may choose how sums become a model
        answers = own.cross_validate(X, y, folds, weight).log_proba
        said = np.full((len(folds), answers.shape[1]), np.nan)
        said[folds >= 0] = answers
        return own, said
    return own, refitted(own, X, y, folds, weight)
