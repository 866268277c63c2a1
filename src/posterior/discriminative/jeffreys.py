"""The likelihood under Jeffreys' prior, ℓ*(β) = ℓ(β) + ½ log |I(β)|, and its derivatives."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from posterior.data.rows import slabs
from posterior.data.typing import Codes, Floats
from posterior.discriminative.design import design, labels
from posterior.discriminative.fisher_information import Factor
from posterior.discriminative.objective import Objective

WORTH = 10**8  # multiplications for the exact curvature of log |I|


@dataclass(frozen=True, slots=True, eq=False)
class Point:
    """ℓ* and its derivatives at some coefficients."""

    value: float
    slope: Floats  # (size,)
    information: Factor
    curvature: Floats  # (size, size): of -ℓ*, or the information where that would be dear


@dataclass(frozen=True, slots=True, eq=False)
class PenalizedLikelihood:
    """ℓ* of rows, as a function of raveled coefficients (m, p): m classes against the first.

    With π the probabilities of these classes and V = diag π - π πᵀ, a row adds V ⊗ x̃ x̃ᵀ to I.
    M_ab = x̃ᵀ (I⁻¹)_ab x̃ is what the rows together know of its scores.
    """

    x: Floats  # (n, p): with a one behind each row for an intercept
    codes: Codes
    weight: Floats
    offset: Floats  # (n, m)
    n_features: int  # p without an intercept

    @classmethod
    def of(cls, objective: Objective) -> PenalizedLikelihood:
        rows = objective.at_hand
        codes, weight = labels(rows)
        m = max(objective.loss.outputs - 1, 1)
        offset = np.zeros((len(rows), m))
        if rows.offset is not None:
            given = rows.offset.reshape(len(rows), -1)
            offset += given if given.shape[1] == m else given[:, 1:] - given[:, :1]
        return cls(design(objective.loss, rows.X), codes, weight, offset, rows.X.shape[1])

    @property
    def shape(self) -> tuple[int, int]:
        return self.offset.shape[1], self.x.shape[1]

    def moved(self, step: Floats) -> float:
        """How far a step moves the score of any row."""
        return float(np.abs(self.x @ step.reshape(self.shape).T).max())

    def information(self, coef: Floats) -> Floats:
        """I (size, size)."""
        proba, apart, _ = self._chances(coef)
        return self._products(_covariance(proba, apart))

    def at(self, coef: Floats) -> Point | None:
        """None where the information is singular in double precision."""
        (m, p), (proba, apart, log_likelihood) = self.shape, self._chances(coef)
        V = _covariance(proba, apart)
        information = self._products(V)
        try:
            factor = Factor.of(information)
        except np.linalg.LinAlgError:
            return None
        # tr M V is the mean of q_c = (e_c - π)ᵀ M (e_c - π) over the classes; its derivative by
        # the score of c is π_c f_c, with f_c = q_c less that mean, and by that of d then G_cd
        between = apart @ self._known(factor) @ apart.transpose(0, 2, 1)
        q = np.einsum("ncc->nc", between)
        f = (q - (proba * q).sum(axis=1, keepdims=True))[:, 1:]
        pulled = apart[np.arange(len(apart)), self.codes] + 0.5 * proba[:, 1:] * f
        slope = (self.weight[:, None] * pulled).T @ self.x
        curvature = information
        if len(self.x) * (m * p) ** 3 <= WORTH:
            twice = proba[:, 1:, None] * proba[:, None, 1:]
            G = V * f[:, :, None] - twice * (2 * between[:, 1:, 1:] + f[:, None, :])
            turn = self._turn(_third(proba, V), factor)
            curvature = information + 0.5 * (turn - self._products(G))
        value = log_likelihood + 0.5 * factor.log_determinant()
        return Point(value, slope.ravel(), factor, curvature)

    def _chances(self, coef: Floats) -> tuple[Floats, Floats, float]:
        """Probabilities of all classes (n, m + 1), e_c - π of each (n, m + 1, m), and ℓ.

        What is near zero has all its digits: 1 - π_c is the sum of the others.
        """
        score = self.x @ coef.reshape(self.shape).T + self.offset
        score = np.column_stack([np.zeros(len(score)), score])
        score -= score.max(axis=1, keepdims=True)
        odds = np.exp(score)
        total = odds.sum(axis=1)
        log_proba = score[np.arange(len(score)), self.codes] - np.log(total)
        proba, m = odds / total[:, None], score.shape[1] - 1
        apart = np.repeat(-proba[:, None, 1:], m + 1, axis=1)
        for c in range(1, m + 1):
            apart[:, c, c - 1] = np.delete(proba, c, axis=1).sum(axis=1)
        return proba, apart, float(self.weight @ log_proba)

    def _products(self, h: Floats) -> Floats:
        """Σᵢ wᵢ hᵢ ⊗ x̃ᵢ x̃ᵢᵀ for h (n, m, m)."""
        m, p = self.shape
        out = np.empty((m, p, m, p))
        for a in range(m):
            for b in range(a, m):
                out[a, :, b] = out[b, :, a] = (self.x.T * (self.weight * h[:, a, b])) @ self.x
        return out.reshape(m * p, m * p)

    def _known(self, factor: Factor) -> Floats:
        """M (n, m, m)."""
        m, p = self.shape
        roots = factor.inverse_root().reshape(-1, m, p)
        half = np.stack([self.x @ roots[:, a].T for a in range(m)])
        return np.einsum("ans,bns->nab", half, half)

    def _turn(self, third: Floats, factor: Factor) -> Floats:
        """tr I⁻¹ T_r I⁻¹ T_s of the derivatives T_r = ∂I/∂β_r, (size, size)."""
        m, p = self.shape
        size, T = m * p, np.zeros((m, m, m, p * p, p))
        for rows in slabs(len(self.x), p * p):
            x, w = self.x[rows], self.weight[rows]
            pairs = (x[:, :, None] * x[:, None, :]).reshape(len(x), p * p)
            for a, b, c in np.ndindex(m, m, m):
                T[a, b, c] += pairs.T @ (x * (w * third[rows, a, b, c])[:, None])
        # (a, b, c, k l, j) as matrices over (a k), (b l), one for each (c j)
        each = T.reshape(m, m, m, p, p, p).transpose(2, 5, 0, 3, 1, 4).reshape(size, size, size)
        root = factor.inverse_root()
        turned = (root @ each @ root.T).reshape(size, size * size)
        return np.asarray(turned @ turned.T)


def _covariance(proba: Floats, apart: Floats) -> Floats:
    """V = diag π - π πᵀ, (n, m, m)."""
    return proba[:, 1:, None] * apart[:, 1:]


def _third(proba: Floats, V: Floats) -> Floats:
    """∂V_ab/∂η_c, (n, m, m, m)."""
    p, m = proba[:, 1:], proba.shape[1] - 1
    third = -V[:, :, None, :] * p[:, None, :, None] - p[:, :, None, None] * V[:, None]
    third[:, range(m), range(m)] += V
    return third
