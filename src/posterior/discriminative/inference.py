"""Standard errors, tests and intervals of coefficients and probabilities."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logsumexp, ndtr, ndtri

from posterior.data.rows import Rows
from posterior.data.typing import Floats
from posterior.discriminative.design import design, scored
from posterior.discriminative.fisher_information import inverse_information
from posterior.discriminative.loss import LogisticLoss
from posterior.discriminative.objective import Objective


def covariance(objective: Objective, coef: Floats, robust: bool = False) -> Floats:
    """H⁻¹, or H⁻¹ (Σ wᵢ gᵢ gᵢᵀ) H⁻¹ if robust: (size, size), raveled coefficients.

    H is the Hessian of loss and penalty. Without a penalty it is the observed information, and
    this the usual covariance of the estimate. With an L2 penalty it is the covariance of the
    normal approximation to the posterior (Laplace), the penalty being a normal prior: it says how
    far the truth may be if the prior is right, not how the shrunken estimate varies.

    The robust form (Huber 1967, White 1982; HC0) needs no binomial variance; a weight counts rows.
    With an output a class see `differences`: alone, a class's coefficients are only known up to
    what is added to all. With an origin see `at_zero`.
    """
    if not objective.penalty.smooth:
        raise ValueError(
            "Expected no penalty or an L2 penalty, got an L1 penalty: coefficients that were "
            "selected have no standard errors of this kind. Refit with L2, or bootstrap."
        )
    inverse = inverse_information(objective, coef)
    if not robust:
        return inverse
    loss = objective.loss
    meat = objective.engine.sum(lambda rows: _squares(loss, rows, coef), objective.rows)
    return np.asarray(inverse @ meat @ inverse)


def _squares(loss: LogisticLoss, rows: Rows, coef: Floats) -> Floats:
    """Σ wᵢ gᵢ gᵢᵀ of rows, gᵢ = (pᵢ - yᵢ) ⊗ x̃ᵢ."""
    at, x = scored(loss, rows, coef), design(loss, rows.X)
    m, p = coef.shape
    out = np.empty((m, p, m, p))
    for a in range(m):
        for b in range(a, m):
            h = at.weight * at.residual[:, a] * at.residual[:, b]
            out[a, :, b] = out[b, :, a] = (x.T * h) @ x
    return out.reshape(m * p, m * p)


def at_zero(loss: LogisticLoss, coef: Floats, covariance: Floats) -> tuple[Floats, Floats]:
    """The same with the intercepts where the columns are zero, and not at the loss's origin."""
    if loss.origin is None or not loss.intercept:
        return coef, covariance
    m, p = coef.shape
    T = np.eye(p)
    T[-1, :-1] = -loss.origin
    blocks = np.einsum("ij,ajbl,kl->aibk", T, covariance.reshape(m, p, m, p), T)
    return coef @ T.T, blocks.reshape(m * p, m * p)


def differences(coef: Floats, covariance: Floats, reference: int = 0) -> tuple[Floats, Floats]:
    """β_c - β_reference for the other classes, (k - 1, p), and the covariance of these.

    Without a penalty, the multinomial model in its usual form: log odds against the reference.
    """
    k, p = coef.shape
    D = np.delete(np.eye(k), reference, axis=0)
    D[:, reference] = -1.0
    blocks = np.einsum("ac,cjdl,bd->ajbl", D, covariance.reshape(k, p, k, p), D)
    size = (k - 1) * p
    return D @ coef, blocks.reshape(size, size)


@dataclass(frozen=True, slots=True, eq=False)
class Wald:
    """Every coefficient with its normal interval, in the shape of the coefficients."""

    estimate: Floats
    standard_error: Floats
    z: Floats
    p: Floats  # of β = 0, two-sided
    low: Floats
    high: Floats
    level: float


def wald(coef: Floats, covariance: Floats, level: float = 0.95) -> Wald:
    """β ± z √Σ_jj."""
    error = np.sqrt(covariance.diagonal()).reshape(coef.shape)
    reach = two_sided(level) * error
    with np.errstate(divide="ignore", invalid="ignore"):
        z = coef / error
    return Wald(coef, error, z, 2 * ndtr(-np.abs(z)), coef - reach, coef + reach, level)


def two_sided(level: float) -> float:
    """z such that a standard normal lies within ±z with the given probability."""
    if not 0 < level < 1:
        raise ValueError(f"Expected a level between 0 and 1, got {level!r}. 0.95 is usual.")
    return float(-ndtri((1 - level) / 2))


def probability_interval(
    score: Floats, covariance: Floats, level: float = 0.95
) -> tuple[Floats, Floats]:
    """Bounds of P(y | x), (n, classes) each, from scores (n, outputs) and `score_covariance`.

    Normal on the logit scale, so that they stay within 0 and 1: exactly so under the Laplace
    posterior with two classes, and to first order (the delta method) with more, where
    ∂ logit p_a / ∂η_a = 1,  ∂ logit p_a / ∂η_b = -p_b / (1 - p_a).
    """
    z = two_sided(level)
    if score.shape[1] == 1:
        logit = score * (-1.0, 1.0)
        reach = z * np.sqrt(covariance[:, :, 0])
        return expit(logit - reach), expit(logit + reach)
    low, high = np.empty_like(score), np.empty_like(score)
    for a in range(score.shape[1]):
        rest = score.copy()
        rest[:, a] = -np.inf
        total = logsumexp(rest, axis=1)
        slope = -np.exp(rest - total[:, None])
        slope[:, a] = 1.0
        reach = z * np.sqrt(np.maximum(np.einsum("ia,iab,ib->i", slope, covariance, slope), 0.0))
        logit = score[:, a] - total
        low[:, a], high[:, a] = expit(logit - reach), expit(logit + reach)
    return low, high
