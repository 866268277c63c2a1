"""Firth's logistic regression: finite estimates under separation, and less biased ones without."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtr

from posterior.data.errors import DegenerateError
from posterior.data.typing import Array, Floats
from posterior.discriminative.fisher_information import Factor, undetermined
from posterior.discriminative.inference import at_zero, differences, two_sided
from posterior.discriminative.jeffreys import PenalizedLikelihood, Point
from posterior.discriminative.objective import Objective

FINE, COARSE = 1e-18, 1e-12  # what another step may promise: for estimates, for values of ℓ*
ROUNDING = 1e-13  # of the value: less is not seen
MAX_ITER, HALVINGS = 200, 40
LONGEST = 5.0  # step in any row's score: beyond it the curvature says nothing
SEARCHES = 100  # for an end of an interval before it counts as unbounded
CLOSE = 1e-9  # to the end of an interval, in standard errors


@dataclass(frozen=True, slots=True, eq=False)
class FirthFit:
    """Where ℓ*(β) = ℓ(β) + ½ log |I(β)| is largest; with an origin, see `at_zero`.

    Of several classes the first is the reference: its coefficients are zero and do not vary.
    """

    coef: Floats  # (outputs, p)
    covariance: Floats  # (size, size): I(β)⁻¹
    value: float  # ℓ*
    null_value: float  # ℓ* with every slope at zero
    n_iter: int
    converged: bool


@dataclass(frozen=True, slots=True, eq=False)
class Profile:
    """Intervals and tests from the profile of ℓ*; of the intercept at zero, last.

    Classes against the first, raveled: (p,) each for two classes, ((classes - 1) p,) for more.
    """

    low: Floats
    high: Floats
    chi2: Floats  # 2 (max ℓ* - max ℓ* with βⱼ = 0), one degree of freedom
    p: Floats
    level: float


def firth(objective: Objective) -> FirthFit:
    """Maximizes ℓ + ½ log |I| (Firth 1993; for separation Heinze and Schemper 2002).

    With two classes every row comes with h/2 rows of each class, h its leverage; for more see
    Bull, Mak and Greenwood (2002). Weights count rows, offsets add to scores; Jeffreys' prior
    replaces any penalty.
    """
    _check(objective)
    likelihood = PenalizedLikelihood.of(objective)
    m, p = likelihood.shape
    found = _maximize(likelihood, np.zeros(m * p), np.ones(m * p, bool), FINE)
    only = np.zeros((m, p), bool)
    only[:, -1] = objective.loss.intercept
    null = _maximize(likelihood, np.zeros(m * p), only.ravel(), COARSE)
    outputs = objective.loss.outputs
    coef, covariance = np.zeros((outputs, p)), np.zeros((outputs, p, outputs, p))
    coef[-m:] = found.coef.reshape(m, p)
    covariance[-m:, :, -m:] = found.at.information.inverse().reshape(m, p, m, p)
    return FirthFit(
        coef,
        covariance.reshape(outputs * p, outputs * p),
        found.at.value,
        null.at.value,
        found.n_iter,
        found.converged,
    )


def profile(objective: Objective, fit: FirthFit, level: float = 0.95) -> Profile:
    """Where 2 (ℓ*(β̂) - max ℓ*(βⱼ = b)) reaches the χ² quantile, and the test of b = 0.

    The penalty keeps the whole information matrix while one coefficient is held.
    """
    reach = two_sided(level)
    slopes = _Ridges.of(objective, fit)
    coef, covariance = at_zero(objective.loss, fit.coef, fit.covariance)
    fit = replace(fit, coef=coef, covariance=covariance)
    # ℓ* does not change with the origin
    objective = replace(objective, loss=replace(objective.loss, origin=None))
    intercepts = _Ridges.of(objective, fit)
    _, p = slopes.likelihood.shape
    d = objective.at_hand.X.shape[1]
    ridges = [slopes if j % p < d else intercepts for j in range(len(slopes.coef))]
    chi2 = np.array([ridge.fall(j, 0.0) for j, ridge in enumerate(ridges)])
    low, high = (
        np.array([ridge.end(j, side * reach) for j, ridge in enumerate(ridges)])
        for side in (-1.0, 1.0)
    )
    return Profile(low, high, chi2, 2 * ndtr(-np.sqrt(chi2)), level)


@dataclass(frozen=True, slots=True, eq=False)
class _Ridges:
    """The profile of ℓ* along each coefficient, the others being where ℓ* is then largest."""

    likelihood: PenalizedLikelihood
    coef: Floats  # (size,)
    covariance: Floats  # (size, size)
    value: float

    @classmethod
    def of(cls, objective: Objective, fit: FirthFit) -> _Ridges:
        coef, covariance = fit.coef, fit.covariance
        if len(coef) > 1:
            coef, covariance = differences(coef, covariance)
        return cls(PenalizedLikelihood.of(objective), coef.ravel(), covariance, fit.value)

    def fall(self, j: int, b: float) -> float:
        """2 (ℓ* - max ℓ* with βⱼ = b)."""
        ahead = self.covariance[:, j] / self.covariance[j, j] * (b - self.coef[j])
        top = self._top(j, b, self.coef + ahead)
        return max(2 * (self.value - top.at.value), 0.0)

    def end(self, j: int, reach: float) -> float:
        """Where the root of the fall is |reach|, above the estimate or, if negative, below it.

        The root is close to a straight line with slope -∂ℓ*/∂βⱼ / root, so that Newton's method
        arrives in a few steps, each beginning where the curvature says that the ridge goes on.
        """
        center, side = self.coef[j], np.sign(reach)
        tangent = self.covariance[:, j] / self.covariance[j, j]
        inside, beyond, start = center, np.inf * side, self.coef
        here, b = center, center + reach * np.sqrt(self.covariance[j, j])
        for _ in range(SEARCHES):
            try:
                top = self._top(j, b, start + tangent * (b - here))
            except DegenerateError:  # so far out that no information is left
                beyond, b = b, 0.5 * (inside + b)
                continue
            start, here, tangent = top.coef, b, _tangent(top.at, j)
            root = side * np.sqrt(2 * max(self.value - top.at.value, 0.0))
            if abs(root - reach) <= CLOSE:
                return float(b)
            inside, beyond = (b, beyond) if abs(root) < abs(reach) else (inside, b)
            with np.errstate(divide="ignore", invalid="ignore"):
                b = here - (reach - root) * root / top.at.slope[j]
            far = center + 3 * (here - center) if np.isinf(beyond) else beyond
            if not min(inside, far) < b < max(inside, far):
                b = far if np.isinf(beyond) else 0.5 * (inside + beyond)
            if b in (inside, beyond):
                return float(b)
        return float(np.inf * side if np.isinf(beyond) else b)

    def _top(self, j: int, b: float, start: Floats) -> _Maximum:
        start = start.copy()
        start[j] = b
        return _maximize(self.likelihood, start, np.arange(len(start)) != j, COARSE)


def _tangent(at: Point, j: int) -> Floats:
    """How the other coefficients follow coefficient j, by the curvature."""
    others = np.arange(len(at.slope)) != j
    tangent = np.zeros(len(at.slope))
    tangent[others] = _ascent(at, others, -at.curvature[others, j])
    tangent[j] = 1.0
    return tangent


@dataclass(frozen=True, slots=True, eq=False)
class _Maximum:
    coef: Floats  # (size,)
    at: Point
    n_iter: int
    converged: bool


def _maximize(
    likelihood: PenalizedLikelihood, coef: Floats, free: Array, tolerance: float
) -> _Maximum:
    """Newton's method in the free coefficients, with steps halved until ℓ* grows."""
    at = likelihood.at(coef)
    if at is None:
        m, p = likelihood.shape
        column = np.arange(m * p) % p
        raise undetermined(likelihood.information(coef), column, likelihood.n_features)
    for n_iter in range(MAX_ITER):
        step = np.zeros_like(coef)
        step[free] = _ascent(at, free, at.slope[free])
        promise = 0.5 * float(at.slope @ step)
        if promise <= tolerance:
            return _Maximum(coef, at, n_iter, True)
        step *= min(1.0, LONGEST / likelihood.moved(step))
        for _ in range(HALVINGS):
            found = likelihood.at(coef + step)
            if found is not None and found.value >= at.value - ROUNDING * abs(at.value):
                break
            step = 0.5 * step
        else:
            return _Maximum(coef, at, n_iter, True)
        coef, at = coef + step, found
    return _Maximum(coef, at, MAX_ITER, False)


def _ascent(at: Point, free: Array, right: Floats) -> Floats:
    """H⁻¹ b in the free coefficients; far from the top, where H curves upward, I⁻¹ b."""
    kept = np.ix_(free, free)
    try:
        return Factor.of(at.curvature[kept]).solve(right)
    except np.linalg.LinAlgError:
        return Factor.of(at.information.matrix()[kept]).solve(right)


def _check(objective: Objective) -> None:
    if objective.penalty.ridge.any() or objective.penalty.lasso.any():
        raise ValueError(
            "Expected no penalty beside Firth's, got an L1 or L2 penalty. Use penalty=None."
        )
