"""Whether rows without a label make answers better."""

from __future__ import annotations

import warnings
from copy import copy
from typing import TYPE_CHECKING

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from posterior.data.rows import Rows, take
from posterior.data.table import Table
from posterior.estimators.base import GenerativeClassifier
from posterior.generative.expectation import HIDDEN
from posterior.generative.fold_sums import stratified_folds

if TYPE_CHECKING:
    from posterior.estimators.mixture.mixture_classifier import MixtureClassifier


def gain(trial: MixtureClassifier, base: GenerativeClassifier, rows: Rows, folds: int) -> Table:
    """Accuracy and log loss on held-out labeled rows, learned with hidden rows and without."""
    codes = rows.hard.codes
    hidden, known = np.flatnonzero(codes == HIDDEN), np.flatnonzero(codes != HIDDEN)
    folds = min(folds, int(np.bincount(codes[known]).min()))
    if folds < 2 or len(hidden) == 0:
        raise ValueError(
            "Expected hidden rows, and two labeled rows or more of each class, got "
            f"{len(hidden)} and {folds}."
        )
    fold = stratified_folds(codes[known], folds)
    loss, right = np.empty((2, len(known))), np.empty((2, len(known)))
    for f in range(folds):
        held, seen = known[fold == f], known[fold != f]
        for way, learned in enumerate((seen, np.concatenate([seen, hidden]))):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                random = check_random_state(trial.random_state)
                trial._learn(copy(base), rows.take(learned), random)
            log_posterior, _ = trial._log_posterior(take(rows.X, held))
            log_proba = trial._of_classes(log_posterior)
            loss[way, fold == f] = -log_proba[np.arange(len(held)), codes[held]]
            right[way, fold == f] = log_proba.argmax(axis=1) == codes[held]
    gain = loss[0] - loss[1]
    error = float(gain.std() / np.sqrt(len(gain)))
    return Table(
        {
            "learned from": np.array(["labeled rows", "and hidden rows", "gain"]),
            "accuracy": np.array([*right.mean(axis=1), (right[1] - right[0]).mean()]),
            "log_loss": np.array([*loss.mean(axis=1), gain.mean()]),
            "error": np.array([np.nan, np.nan, error]),
        }
    )
