"""Student's t by EM."""

from __future__ import annotations

import math

import numpy as np
from scipy import special

from posterior.data.typing import Floats
from posterior.kernels.tails import HEAVIEST, LIGHTEST, STEPS, TOLERANCE, Tails

BOLDEST = 0.7  # a step of their logarithm


@np.errstate(divide="ignore", invalid="ignore")
def student_fit(x: Floats, W: Floats, start: Tails, m: float, least: float) -> Tails:
    """The most probable t of values (m,) with weights (k, m), from a start to which m rows pull.

    With z = x - μ, δ = z² / σ², u = (ν + 1) / (ν + δ) and m pseudo-rows at μ₀ of variance σ₀²

    μ ← μ + (Σ w u z + m (μ₀ - μ)) / (Σ w u + m)
    σ² ← (Σ w u z² + m (σ₀² + (μ₀ - μ)²)) / (n + m)       around the new μ

    and no squared scale is less than `least`.
    """
    mean, square, nu, total = start.mean, start.square, start.freedom, start.weight
    rows = W.sum(axis=1)
    for _ in range(STEPS):
        z = x - mean[:, None]
        delta = z**2 / square[:, None]
        u = W * (nu + 1) / (nu + delta)
        pull = start.mean - mean
        total = u.sum(axis=1) + m
        moved = np.where(total > 0, ((u * z).sum(axis=1) + m * pull) / total, 0.0)
        scatter = (u * z**2).sum(axis=1) + m * (start.square + pull**2) - total * moved**2
        scale = np.where(total > 0, np.maximum(scatter / (rows + m), least), square)
        freedom = _stepped(nu, delta, W, float(rows.sum()))
        still = bool((np.abs(scale - square) <= TOLERANCE * square).all())
        still = still and abs(freedom - nu) <= TOLERANCE * nu
        mean, square, nu = mean + moved, scale, freedom
        if still:
            break
    return Tails(mean, square, nu, total)


def _stepped(nu: float, delta: Floats, W: Floats, n: float) -> float:
    """A step of Newton for log ν towards what makes rows at squared distances δ most probable.

    ℓ' = ½ Σ w [ψ((ν + 1) / 2) - ψ(ν / 2) - 1/ν - log(1 + δ/ν) + (ν + 1) δ / ν(ν + δ)]
    """
    if not n > 0:
        return nu
    above, below, far = (nu + 1) / 2, nu / 2, delta / (nu * (nu + delta))
    farther = far * (2 * nu + delta) / (nu * (nu + delta))
    slope = n * (special.digamma(above) - special.digamma(below) - 1 / nu)
    slope += np.vdot(W, (nu + 1) * far - np.log1p(delta / nu))
    bend = n * (0.5 * (special.zeta(2, above) - special.zeta(2, below)) + 1 / nu**2)
    bend += np.vdot(W, 2 * far - (nu + 1) * farther)
    curve = nu * bend + slope  # of log ν
    step = -slope / curve if curve < 0 else math.copysign(BOLDEST, slope)
    step = min(max(step, -BOLDEST), BOLDEST)
    return float(min(max(nu * math.exp(step), HEAVIEST), LIGHTEST))
