"""Firth's logistic regression: finite estimates under separation, and less biased ones without."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, ndtr

from posterior.data.errors import DegenerateError
from posterior.data.rows import Rows
from posterior.data.typing import Array, Floats
from posterior.discriminative.design import design, scored, table
from posterior.discriminative.inference import at_zero, two_sided
from posterior.discriminative.information import Factor, loss_alone, undetermined
from posterior.discriminative.loss import LogisticLoss
from posterior.discriminative.objective import Objective
from posterior.statistics.quadratic import Quadratic

FINE, COARSE = 1e-18, 1e-12  # what another step may promise: for estimates, for values of ℓ*
ROUNDING = 1e-13  # of the value: less is not seen
MAX_ITER, HALVINGS = 200, 40
LONGEST = 5.0  # step in any row's score: beyond it the curvature says nothing
FAR = 1e3  # standard errors: farther than any interval reaches
WIDEST = 60  # doublings of a standard error before an interval counts as unbounded


@dataclass(frozen=True, slots=True, eq=False)
class FirthFit:
    """Where ℓ*(β) = ℓ(β) + ½ log |I(β)| is largest; with an origin, see `at_zero`."""

    coef: Floats  # (1, p)
    covariance: Floats  # (p, p): I(β)⁻¹
    value: float  # ℓ*
    null_value: float  # ℓ* with every slope at zero
    n_iter: int
    converged: bool


@dataclass(frozen=True, slots=True, eq=False)
class Profile:
    """Intervals and tests from the profile of ℓ*, (p,) each; of the intercept at zero, last."""

    low: Floats
    high: Floats
    chi2: Floats  # 2 (max ℓ* - max ℓ* with βⱼ = 0), one degree of freedom
    p: Floats
    level: float


def firth(objective: Objective) -> FirthFit:
    """Maximizes ℓ + ½ log |I| (Firth 1993; for separation Heinze and Schemper 2002).

    Solves X̃ᵀ (w (y - p) + h (½ - p)) = 0, with h the leverages: every row comes with h/2 rows of
    each class. Weights count rows, offsets add to scores; Jeffreys' prior replaces any penalty.
    """
    _check(objective)
    p = objective.size
    found = _maximize(objective, np.zeros(p), np.ones(p, bool), FINE)
    only = np.zeros(p, bool)
    only[p - 1] = objective.loss.intercept
    null = _maximize(objective, np.zeros(p), only, COARSE)
    at = found.at
    return FirthFit(
        found.coef[None],
        at.factor.inverse(),
        at.value,
        null.at.value,
        found.n_iter,
        found.converged,
    )


def profile(objective: Objective, fit: FirthFit, level: float = 0.95) -> Profile:
    """Where 2 (ℓ*(β̂) - max ℓ*(βⱼ = b)) reaches the χ² quantile, and the test of b = 0.

    The penalty keeps the whole information matrix while one coefficient is held.
    """
    reach, p = two_sided(level), objective.size
    low, high, chi2 = np.empty(p), np.empty(p), np.empty(p)
    for j in range(p):
        if j == objective.at_hand.X.shape[1]:  # the intercept: ℓ* does not change with the origin
            coef, sigma = at_zero(objective.loss, fit.coef, fit.covariance)
            fit = replace(fit, coef=coef, covariance=sigma)
            objective = replace(objective, loss=replace(objective.loss, origin=None))
        distance = _distance(objective, fit, j)
        center, step = fit.coef[0, j], reach * np.sqrt(fit.covariance[j, j])
        chi2[j] = distance(0.0) ** 2
        low[j] = _crossing(distance, reach, center, -step)
        high[j] = _crossing(distance, reach, center, step)
    return Profile(low, high, chi2, 2 * ndtr(-np.sqrt(chi2)), level)


def _distance(objective: Objective, fit: FirthFit, j: int) -> Callable[[float], float]:
    """b → √(2 (ℓ* - max ℓ* with βⱼ = b)), on either side of β̂ⱼ close to a straight line."""
    coef, free = fit.coef[0], np.arange(fit.coef.shape[1]) != j
    along = fit.covariance[:, j] / fit.covariance[j, j]  # where the others go with βⱼ

    def distance(b: float) -> float:
        start = coef + along * (b - coef[j])
        start[j] = b
        try:
            drop = fit.value - _maximize(objective, start, free, COARSE).at.value
        except DegenerateError:  # so far out that no information is left
            return FAR
        return float(np.sqrt(2 * max(drop, 0.0)))

    return distance


def _crossing(
    distance: Callable[[float], float], reach: float, inside: float, step: float
) -> float:
    """Where the distance is `reach`, going from `inside` by `step` and further."""
    for _ in range(WIDEST):
        beyond = inside + step
        if distance(beyond) > reach:
            found = brentq(lambda b: distance(b) - reach, inside, beyond, xtol=1e-9 * abs(step))
            return float(found)
        inside, step = beyond, 2 * step
    return float(np.copysign(np.inf, step))


@dataclass(frozen=True, slots=True, eq=False)
class _Point:
    """ℓ* and its slope at some coefficients."""

    value: float
    slope: Floats  # (p,)
    curvature: Floats  # (p, p): of -ℓ*, the leverages held
    factor: Factor  # of the information


@dataclass(frozen=True, slots=True, eq=False)
class _Maximum:
    coef: Floats  # (p,)
    at: _Point
    n_iter: int
    converged: bool


def _maximize(objective: Objective, coef: Floats, free: Array, tolerance: float) -> _Maximum:
    """Newton's method in the free coefficients, with steps halved until ℓ* grows."""
    at = _at(objective, coef)
    if at is None:
        information = loss_alone(objective, coef[None]).hessian
        assert information is not None
        raise undetermined(information, np.arange(len(coef)), objective.at_hand.X.shape[1])
    kept = np.flatnonzero(free)
    for n_iter in range(MAX_ITER):
        step = np.zeros_like(coef)
        step[kept] = Factor.of(at.curvature[np.ix_(kept, kept)]).solve(at.slope[kept])
        promise = 0.5 * float(at.slope @ step)
        if promise <= tolerance:
            return _Maximum(coef, at, n_iter, True)
        moved = np.abs(objective.loss.scores(table(objective.at_hand.X), step[None])).max()
        step *= min(1.0, LONGEST / moved)
        for _ in range(HALVINGS):
            found = _at(objective, coef + step)
            if found is not None and found.value >= at.value - ROUNDING * abs(at.value):
                break
            step = 0.5 * step
        else:
            return _Maximum(coef, at, n_iter, True)
        coef, at = coef + step, found
    return _Maximum(coef, at, MAX_ITER, False)


def _at(objective: Objective, coef: Floats) -> _Point | None:
    """None where the information is singular in double precision."""
    q = loss_alone(objective, coef[None])
    assert q.hessian is not None
    try:
        factor = Factor.of(q.hessian)
    except np.linalg.LinAlgError:
        return None
    more = objective.engine.sum(
        lambda rows: _pseudo_rows(objective.loss, rows, coef, factor), objective.rows
    )
    return _Point(
        0.5 * factor.log_determinant() - q.value,
        more.gradient - q.gradient[0],
        q.hessian + more.hessian,
        factor,
    )


def _pseudo_rows(loss: LogisticLoss, rows: Rows, coef: Floats, factor: Factor) -> Quadratic:
    """What the halves of rows add: Σ h (½ - p) x̃ and Σ h p (1 - p) x̃ x̃ᵀ, h = w p (1 - p) x̃ᵀI⁻¹x̃."""
    x, at = design(loss, rows.X), scored(loss, rows, coef[None])
    p, q = at.proba[:, 0], expit(-at.score[:, 0])
    h = at.weight * p * q * factor.squared_lengths(x)
    return Quadratic(0.0, x.T @ (0.5 * h * (q - p)), (x.T * (h * p * q)) @ x)


def _check(objective: Objective) -> None:
    if objective.loss.outputs != 1:
        raise ValueError(
            f"Expected two classes for Firth's method, got {objective.loss.outputs}. "
            "Use an L2 penalty, or fit classes in pairs."
        )
    if objective.penalty.ridge.any() or objective.penalty.lasso.any():
        raise ValueError(
            "Expected no penalty beside Firth's, got an L1 or L2 penalty. Use penalty=None."
        )
