"""Rows as the equations see them: with a one behind each, scored, and how far from their labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, softmax

from posterior.data.rows import Features, Hard, Rows, SparseRows
from posterior.data.typing import Array, Codes, Floats
from posterior.discriminative.loss import LogisticLoss


def table(X: Features) -> Array | SparseRows:
    """Numbers: typed columns are encoded before they come here."""
    assert isinstance(X, np.ndarray | SparseRows)
    return X


def design(loss: LogisticLoss, X: Features) -> Floats:
    """x̃ (n, p): dense doubles less the origin, with a one behind each row for an intercept."""
    X = table(X)
    cells = X.scipy().toarray() if isinstance(X, SparseRows) else X
    cells = np.asarray(cells, np.float64)
    if loss.origin is not None:
        cells = cells - loss.origin
    return np.column_stack([cells, np.ones(len(cells))]) if loss.intercept else cells


def labels(rows: Rows) -> tuple[Codes, Floats]:
    """Class and weight of every row; one without a class has no weight."""
    groups = rows.groups
    assert isinstance(groups, Hard)
    weight = np.where(groups.codes < 0, 0.0, 1.0 if groups.weight is None else groups.weight)
    return np.maximum(groups.codes, 0), weight


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """Rows under some coefficients."""

    score: Floats  # (n, outputs), offsets included
    proba: Floats  # (n, outputs)
    residual: Floats  # (n, outputs): p - y, the derivative of a row's loss by its score
    weight: Floats  # (n,)

    def curvature(self) -> Floats:
        """w (diag p - p pᵀ), (n, outputs, outputs): the second derivative by the score."""
        p = self.proba
        if p.shape[1] == 1:
            return (self.weight[:, None] * p * expit(-self.score))[:, :, None]
        blocks = -p[:, :, None] * p[:, None, :]
        blocks[:, range(p.shape[1]), range(p.shape[1])] += p
        return np.asarray(self.weight[:, None, None] * blocks)


def scored(loss: LogisticLoss, rows: Rows, coef: Floats) -> Scored:
    codes, weight = labels(rows)
    score = loss.scores(table(rows.X), coef)
    if rows.offset is not None:
        score = score + rows.offset.reshape(score.shape)
    if loss.outputs == 1:
        # p - 1 is minus the probability of the other class, to all its digits
        residual = np.where(codes[:, None] == 1, -expit(-score), expit(score))
        return Scored(score, expit(score), residual, weight)
    proba = softmax(score, axis=1)
    residual = proba.copy()
    residual[np.arange(len(codes)), codes] -= 1.0
    return Scored(score, proba, residual, weight)
