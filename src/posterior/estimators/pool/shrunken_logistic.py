"""Logistic regression of a wide table, each coefficient as free as its column's likely effect.

    β_j ~ N(0, E[effect_j]²),  by the two-groups model of all columns (after Efron 2009)

Nothing is tried out: one pass over the cells says how many columns have an effect and how large.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from posterior.data.typing import Array, Floats, Integers
from posterior.discriminative.two_groups import Effects
from posterior.estimators.logistic.logistic_regression import LogisticRegression
from posterior.estimators.pool.dealt_rows import DealtRows
from posterior.estimators.pool.screening import narrowed
from posterior.estimators.pool.weighing import Trial
from posterior.estimators.refits import given
from posterior.estimators.table_classifier import FittedTable, TableClassifier
from posterior.evaluation.held_out import aligned
from posterior.preprocessing.roles import Roles

MOST = 300  # columns that have a coefficient,
LEAST = 0.1  # and how probable an effect of theirs must be


def shrunken_logistic(roles: Roles) -> TableClassifier:
    """All columns, standardized."""
    return TableClassifier(LogisticRegression(), roles, reads="numbers")


@dataclass(frozen=True, slots=True, eq=False)
class Shrunken:
    """Some columns, the deviations of their coefficients, and the model of columns so scaled."""

    kept: Integers
    deviation: Floats
    model: LogisticRegression

    @classmethod
    def of(cls, X: Array, rows: DealtRows, index: Integers) -> Self:
        """Of some rows; one column at least, though it may have no effect."""
        weight = None if rows.weight is None else rows.weight[index]
        effects = Effects.of(X[index], rows.codes[index], len(rows.classes), weight)
        kept = np.argsort(-effects.deviation, kind="stable")[:MOST]
        kept = np.sort(kept[: max(1, int((effects.probability[kept] >= LEAST).sum()))])
        deviation = effects.deviation[kept]
        scaled = X[np.ix_(index, kept)] * deviation
        model = LogisticRegression().fit(scaled, rows.labels[index], **given(weight))
        return cls(kept, deviation, model)

    def log_proba(self, X: Array) -> Floats:
        found: Floats = self.model.predict_log_proba(X[:, self.kept] * self.deviation)
        return found


def trial(name: str, member: TableClassifier, rows: DealtRows) -> Trial:
    """What models without each fold said of it, and the one of all rows, of few columns."""
    _, X = member.learn(rows.X)
    said = np.full((len(rows.codes), len(rows.classes)), np.nan)
    for f in np.unique(rows.folds[rows.folds >= 0]):
        test = np.flatnonzero(rows.folds == f)
        other = Shrunken.of(X, rows, np.flatnonzero(rows.folds != f))
        said[test] = aligned(other.log_proba(X[test]), other.model.classes_, rows.classes)
    found = Shrunken.of(X, rows, np.arange(len(rows.codes)))
    return Trial.of_answers(name, _of_few(found, member, rows), said, rows)


def _of_few(found: Shrunken, member: TableClassifier, rows: DealtRows) -> TableClassifier:
    """The same model as one of the columns that it keeps, in their own units."""
    numbers, X = member.learn(rows.X)
    assert numbers is not None
    sources = np.array(numbers.sources())
    read = np.unique(sources[found.kept])
    own = np.flatnonzero(np.isin(sources, read))
    coef = np.zeros((len(found.model.coef_), len(own)))
    coef[:, np.searchsorted(own, found.kept)] = found.model.coef_ * found.deviation
    model = LogisticRegression.of(
        found.model.intercept_, coef, classes=found.model.classes_, typical=X[:, own].mean(axis=0)
    )
    names = [numbers.columns[s].name for s in read]
    table = TableClassifier(LogisticRegression(), narrowed(member.roles, names), reads="numbers")
    few = type(numbers)(tuple(numbers.columns[s] for s in read))
    counts = np.bincount(rows.codes, rows.weight, len(rows.classes))
    table.fitted_ = FittedTable(model, few, tuple(names), np.log(counts / counts.sum()))
    return table
