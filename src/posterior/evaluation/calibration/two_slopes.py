"""Beta and quadratic calibration: rising curves of the log odds of two classes.

Both begin with a temperature that is mixed with uniform, so that odds have an end, and bend what it
leaves: one slope where the odds are low, another where they are high, and neither is negative.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from posterior import kernels
from posterior.data.blas_threads import one_blas_thread
from posterior.data.typing import Codes, Floats
from posterior.evaluation.calibration.temperature import Temperature

PENALTY = 2.0  # the number of classes, as in the scaling of more
STOP = {"gtol": 1e-6, "ftol": 1e-14}


@dataclass(frozen=True, slots=True)
class Beta:
    """logit q = b + a log p - c log(1 - p), a, c >= 0 (Kull et al. 2017), p after a temperature."""

    base: Temperature
    intercept: float  # b
    low: float  # a: the slope where p is near 0
    high: float  # c: the slope where p is near 1

    @classmethod
    def fit(cls, log_proba: Floats, codes: Codes, weight: Floats | None) -> Beta:
        """The curve of least log loss, penalized for what it changes."""
        base = mixed_odds(log_proba, codes, weight, "beta")
        x = base.apply(log_proba)
        return cls(base, *two_slopes(np.column_stack([x[:, 1], -x[:, 0]]), codes, weight))

    def apply(self, log_proba: Floats) -> Floats:
        """Calibrated log probabilities."""
        x = self.base.apply(log_proba)
        return of_odds(self.intercept + self.low * x[:, 1] - self.high * x[:, 0])


@dataclass(frozen=True, slots=True)
class Quadratic:
    """logit q = b + w₁ z + w₂ z², z = logit p after a temperature; it rises wherever z can be."""

    base: Temperature
    intercept: float  # b
    slope: float  # w₁
    curvature: float  # w₂

    @classmethod
    def fit(cls, log_proba: Floats, codes: Codes, weight: Floats | None) -> Quadratic:
        """The curve of least log loss, penalized for what it changes.

        In the slopes at both ends ∓Z, w₁ ∓ 2 w₂ Z, which are not negative, it is linear.
        """
        base = mixed_odds(log_proba, codes, weight, "quadratic")
        x = base.apply(log_proba)
        z, end = x[:, 1] - x[:, 0], float(np.log(2 / base.uniform - 1))
        bend = z**2 / (4 * end)
        b, low, high = two_slopes(np.column_stack([z / 2 - bend, z / 2 + bend]), codes, weight)
        return cls(base, b, (low + high) / 2, (high - low) / (4 * end))

    def apply(self, log_proba: Floats) -> Floats:
        """Calibrated log probabilities."""
        x = self.base.apply(log_proba)
        z = x[:, 1] - x[:, 0]
        return of_odds(self.intercept + (self.slope + self.curvature * z) * z)


def mixed_odds(log_proba: Floats, codes: Codes, weight: Floats | None, name: str) -> Temperature:
    """The temperature that comes first; more than two classes are refused."""
    if log_proba.shape[1] != 2:
        raise ValueError(
            f"Expected two classes for calibrated={name!r}, got {log_proba.shape[1]}. Use "
            'calibrated="matrix", which is for more, or "auto".'
        )
    return Temperature.mixed(log_proba, codes, weight)


def two_slopes(features: Floats, codes: Codes, weight: Floats | None) -> tuple[float, float, float]:
    """b, a >= 0 and c >= 0 of least penalized log loss, log odds being b + a f + c g."""
    start, given = np.array([0.0, 1.0, 1.0]), (features, codes, weight)
    bounds = [(None, None), (0, None), (0, None)]
    with one_blas_thread():  # L-BFGS multiplies small matrices
        found = scipy.optimize.minimize(
            slopes_loss, start, given, jac=True, method="L-BFGS-B", bounds=bounds, options=STOP
        )
    b, a, c = found.x.tolist()
    return b, a, c


def slopes_loss(
    at: Floats, features: Floats, codes: Codes, weight: Floats | None
) -> tuple[float, Floats]:
    """Σ -w log q_y + 2 (b² + (a - 1)² + (c - 1)²), and its gradient by b, a and c."""
    coef, b = at[None, 1:].copy(), at[:1].copy()
    value, slopes, constant = kernels.logistic_sums(features, codes, weight, None, coef, b)
    off = at - [0.0, 1.0, 1.0]
    gradient = np.append(constant, slopes) + 2 * PENALTY * off
    return value + PENALTY * float(off @ off), gradient


def of_odds(odds: Floats) -> Floats:
    """Log probabilities (n, 2) of log odds (n,) of the second class."""
    return -np.logaddexp(0.0, np.column_stack([odds, -odds]))
