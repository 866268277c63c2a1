"""Held-out answers of models that learn from all rows together: by a fit for each fold."""

from __future__ import annotations

from typing import Any

from posterior.data import validate
from posterior.estimators import remote
from posterior.estimators.base_classifier import with_target
from posterior.estimators.calibrated import held_out_by_refits
from posterior.evaluation.held_out import HeldOut
from posterior.generative.fold_sums import FOLDS, folds_of


def cross_validated(
    self: Any, X: Any, y: Any, folds: Any = FOLDS, sample_weight: Any = None
) -> HeldOut:
    """Score every row by the model of the other folds: a fit for each, which chooses anew.

    Parameters
    ----------
    X, y, sample_weight : as in `fit`, in memory
    folds : int, array of shape (n_samples,), or a splitter of scikit-learn
        A number deals the rows out evenly by class, in order.
    """
    remote.refuse_elsewhere(X, "cross_validate")
    X, y = with_target(X, y)
    classes, codes = validate.labels(y, len(y))
    weight = validate.weights(sample_weight, len(codes))
    return held_out_by_refits(self, X, classes[codes], folds_of(folds, codes), weight)
