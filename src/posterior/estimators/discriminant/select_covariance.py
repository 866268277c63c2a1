"""Covariances chosen by rows held out: how much of each is the class's own, and how much a sphere.

All candidates are estimated from one set of sums, those of the folds (Friedman 1989).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from posterior.data.errors import DegenerateError, named_errors
from posterior.data.table import Table
from posterior.families.covariance import KINDS
from posterior.generative.dealing import by_content, in_turn
from posterior.generative.fold_sums import Trial
from posterior.generative.rule import Rule

if TYPE_CHECKING:
    from posterior.estimators.discriminant.gaussian_discriminant import GaussianDiscriminantAnalysis

MIXES = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)  # parts that are the class's own
SHRINKAGES = (0.0, 0.001, 0.01, 0.1, 0.3, 1.0)
FOLDS = 5
FLOOR = np.log(1e-6)  # a row that no normal density expects does not decide alone


def settings_to_try(covariance: Any, shrinkage: Any) -> list[tuple[Any, float]]:
    """Covariance and shrinkage of each candidate, the plainest first."""
    covariances = {"auto": MIXES, "tune": KINDS}.get(covariance, (covariance,))
    return list(product(covariances, SHRINKAGES if shrinkage == "auto" else (shrinkage,)))


def select_covariance(
    model: GaussianDiscriminantAnalysis, trial: Trial
) -> tuple[GaussianDiscriminantAnalysis, Table]:
    """The candidate of least out-of-fold log loss, not fitted yet, and the losses of all."""
    settings = settings_to_try(model.covariance, model.shrinkage)
    tried = [clone(model).set_params(covariance=c, shrinkage=s) for c, s in settings]
    rules = [one.rule(trial.reader, trial.labels) for one in tried]
    split = _with_folds(trial)
    if len(split.rows) < len(trial.rows):
        known = _estimable(rules, trial)
        settings, tried, rules = ([of[i] for i in known] for of in (settings, tried, rules))
    fold = in_turn(len(split.rows), min(FOLDS, len(split.rows)))
    best, scores = split.compared(rules, fold, split.fold_sums(rules[0], fold), FLOOR)
    covariances, shrinkages = (np.array(values) for values in zip(*settings, strict=True))
    table = Table({"covariance": covariances, "shrinkage": shrinkages} | scores)
    return tried[best], table


def _estimable(rules: Sequence[Rule], trial: Trial) -> list[int]:
    """Candidates that all rows determine, those of classes that take no part in folds as well."""
    total, found = trial.sum(rules[0], trial.rows), []
    reason: DegenerateError | None = None
    for i, rule in enumerate(rules):
        try:
            with named_errors(trial.reader.names, trial.labels.classes):
                rule.estimate(total)
            found.append(i)
        except DegenerateError as error:
            reason = error
    if reason is not None and not found:
        raise reason
    return found


def _with_folds(trial: Trial) -> Trial:
    """Rows by their content, so that their order does not matter, of classes that can be split: a
    class of one row would be unknown where that row is held out, whatever the covariance."""
    order, _ = by_content(trial.rows)
    codes = trial.rows.hard.codes[order]
    order = order[np.bincount(codes)[codes] > 1]
    if len(order) == 0:
        raise DegenerateError(
            "Expected a class of two rows or more to choose the covariance by, got 1 sample of "
            'each. Name a covariance such as "shared", and set shrinkage to a number.'
        )
    return Trial(trial.rows.take(order), trial.reader, trial.labels, trial.engine)
