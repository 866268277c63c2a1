"""The information in rows about coefficients, and its inverse."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from posterior.data.errors import DegenerateError
from posterior.data.rows import Features, slabs
from posterior.data.typing import Array, Floats
from posterior.discriminative.design import design
from posterior.discriminative.loss import LogisticLoss
from posterior.discriminative.objective import Objective
from posterior.statistics.quadratic import Quadratic


@dataclass(frozen=True, slots=True, eq=False)
class Factor:
    """H = S L Lᵀ S, with S the roots of the diagonal: columns may have any units."""

    scale: Floats
    lower: Floats

    @classmethod
    def of(cls, matrix: Floats) -> Factor:
        """LinAlgError where the matrix is singular in double precision."""
        scale = np.sqrt(np.maximum(matrix.diagonal(), 0.0))
        if not (scale > 0).all():
            raise np.linalg.LinAlgError
        lower = np.linalg.cholesky(matrix / np.outer(scale, scale))
        if lower.diagonal().min(initial=1.0) ** 2 < len(matrix) * np.finfo(float).eps:
            raise np.linalg.LinAlgError
        return cls(scale, lower)

    def solve(self, b: Floats) -> Floats:
        return np.asarray(linalg.cho_solve((self.lower, True), b / self.scale) / self.scale)

    def inverse_root(self) -> Floats:
        """R with H⁻¹ = Rᵀ R."""
        return np.asarray(np.linalg.inv(self.lower) / self.scale)

    def matrix(self) -> Floats:
        """H."""
        return np.asarray((self.lower @ self.lower.T) * np.outer(self.scale, self.scale))

    def inverse(self) -> Floats:
        inside = linalg.cho_solve((self.lower, True), np.eye(len(self.scale)))
        return np.asarray(inside / np.outer(self.scale, self.scale))

    def log_determinant(self) -> float:
        return 2 * float((np.log(self.lower.diagonal()) + np.log(self.scale)).sum())


def loss_alone(objective: Objective, coef: Floats) -> Quadratic:
    """-ℓ, its gradient and its Hessian, the observed information: nothing of the penalty."""
    loss = objective.loss
    return objective.engine.sum(lambda rows: loss.quadratic(rows, coef), objective.rows)


def inverse_information(objective: Objective, coef: Floats) -> Floats:
    """H⁻¹ (size, size) of loss and penalty, in the order of the raveled coefficients.

    Coefficients that a lasso holds at zero do not vary. With an output for every class, a number
    added to a whole column changes no probability; where no penalty says otherwise, the columns'
    coefficients are taken to sum to zero over the classes, and the inverse is H⁺.
    """
    m, p = coef.shape
    hessian, penalty = loss_alone(objective, coef).hessian, objective.penalty
    assert hessian is not None
    hessian = hessian + np.diag(penalty.ridge.ravel())
    active = (penalty.lasso == 0) | (coef != 0)
    open_columns = np.flatnonzero((penalty.ridge == 0).all(axis=0) & active.all(axis=0))
    if m == 1:
        open_columns = open_columns[:0]
    blocks = hessian.reshape(m, p, m, p)
    for j in open_columns:  # H + c 1 1ᵀ has an inverse, and the same one across
        blocks[:, j, :, j] += blocks[:, j, :, j].trace() / m**2
    kept = np.flatnonzero(active)
    inverse = np.zeros((m * p, m * p))
    inside = hessian[np.ix_(kept, kept)]
    try:
        inverse[np.ix_(kept, kept)] = Factor.of(inside).inverse()
    except np.linalg.LinAlgError:
        raise undetermined(inside, kept % p, p - 1 if objective.loss.intercept else p) from None
    blocks = inverse.reshape(m, p, m, p)
    blocks[:, open_columns] -= blocks[:, open_columns].mean(axis=0, keepdims=True)
    blocks[..., open_columns] -= blocks[..., open_columns].mean(axis=2, keepdims=True)
    return inverse


def undetermined(matrix: Floats, column: Array, n_features: int) -> DegenerateError:
    """Names the feature with the largest part in a direction that the matrix does not see."""
    scale = np.sqrt(np.maximum(matrix.diagonal(), 0.0))
    scale[scale == 0] = 1.0
    part = np.abs(np.linalg.eigh(matrix / np.outer(scale, scale))[1][:, 0])
    part[column >= n_features] = -1.0  # the intercept is not to blame
    feature = int(column[part.argmax()])
    return DegenerateError(
        "Expected data that determine every coefficient, but column {feature} is constant or a "
        "combination of other columns, or the classes are separated. Drop the column, or use a "
        "penalty.",
        feature=feature if feature < n_features else None,
    )


def score_covariance(loss: LogisticLoss, X: Features, covariance: Floats) -> Floats:
    """x̃ᵀ Σ_ab x̃, (n, outputs, outputs): how the scores of rows vary with the coefficients."""
    n, m, p = X.shape[0], loss.outputs, len(covariance) // loss.outputs
    blocks = covariance.reshape(m, p, m, p)
    out = np.empty((n, m, m))
    for rows in slabs(n, p):
        x = design(loss, X[rows])
        for a in range(m):
            for b in range(a, m):
                out[rows, a, b] = out[rows, b, a] = ((x @ blocks[a, :, b]) * x).sum(axis=1)
    return out
