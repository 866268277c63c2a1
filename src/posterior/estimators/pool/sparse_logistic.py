"""Logistic regression of a wide table, in which most columns have no coefficient."""

from __future__ import annotations

import numpy as np
from scipy.special import log_softmax

from posterior.data.typing import Array, Floats
from posterior.estimators.logistic.logistic_regression import LogisticRegression
from posterior.estimators.logistic.logistic_regression_cv import LogisticRegressionCV
from posterior.estimators.pool.dealt_rows import DealtRows
from posterior.estimators.pool.screening import narrowed
from posterior.estimators.pool.weighing import Trial
from posterior.estimators.refits import given
from posterior.estimators.table_classifier import TableClassifier
from posterior.preprocessing.roles import Roles

PENALTIES = 8  # strengths that are tried
RATIOS = (1.0, 0.2)  # of the penalty that sets coefficients to zero


def sparse_logistic(roles: Roles, n_rows: int) -> TableClassifier:
    """All columns, standardized; from a penalty that leaves none of them to one that leaves many.

    The sum of so many rows' slopes is n/2 at most, and √n by chance.
    """
    strengths = np.geomspace(2 / n_rows, 10 / np.sqrt(n_rows), PENALTIES)
    model = LogisticRegressionCV(Cs=strengths.tolist(), l1_ratios=list(RATIOS))
    return TableClassifier(model, roles, reads="numbers")


def trial(name: str, member: TableClassifier, rows: DealtRows) -> Trial:
    """The penalty of the least loss on rows held out, and what was said of them on the way there.

    The model reads the columns that have a coefficient: without the others it is the same.
    """
    numbers, X = member.learn(rows.X)
    assert numbers is not None
    parts = np.unique(rows.folds[rows.folds >= 0])
    splits = [(np.flatnonzero(rows.folds != f), np.flatnonzero(rows.folds == f)) for f in parts]
    path = LogisticRegressionCV(Cs=member.model.Cs, l1_ratios=member.model.l1_ratios, cv=splits)
    path.fit(X, rows.labels, **given(rows.weight))
    said = np.full((len(rows.codes), len(rows.classes)), np.nan)
    i = path.l1_ratios_.tolist().index(path.l1_ratio_)
    j = path.Cs_.tolist().index(path.C_)
    for (_, test), coef in zip(splits, path.coefs_paths_[:, i, j], strict=True):
        said[test] = answers(X[test], coef)
    sources = np.array(numbers.sources())[(path.coef_ != 0).any(axis=0)]
    names = [numbers.columns[s].name for s in np.unique(sources)] or [numbers.columns[0].name]
    model = TableClassifier(
        LogisticRegression(C=path.C_, l1_ratio=path.l1_ratio_),
        narrowed(member.roles, names),
        reads="numbers",
    )
    model.fit(rows.X, rows.labels, **given(rows.weight))
    return Trial.of_answers(name, model, said, rows)


def answers(X: Array, coef: Floats) -> Floats:
    """log p(k | x) by coefficients (outputs, columns + 1), the intercept last."""
    scores = X @ coef[:, :-1].T + coef[:, -1]
    if scores.shape[1] == 1:
        scores = np.column_stack([np.zeros(len(scores)), scores])
    found: Floats = log_softmax(scores, axis=1)
    return found
