"""Vector and structured matrix scaling: scores of classes, made of the scores of classes.

Both begin with a temperature that is mixed with uniform, so that log probabilities have an end. The
penalty is that of Berta et al. (2025): what few rows say of many numbers is not believed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from posterior import kernels
from posterior.data.blas_threads import one_blas_thread
from posterior.data.typing import Codes, Floats
from posterior.evaluation.calibration.temperature import Temperature

TOLERANCE = 1e-5  # of the gradient, times K²: the penalty is about that steep


@dataclass(frozen=True, slots=True, eq=False)
class Vector:
    """q = softmax(x + d x + b), x = log p after a temperature: a slope and a constant a class."""

    base: Temperature
    slope: Floats  # d, (K,)
    intercept: Floats  # b, (K,)

    @classmethod
    def fit(cls, log_proba: Floats, codes: Codes, weight: Floats | None) -> Vector:
        """Those of least penalized log loss, Σ -w log q_y + K (‖d‖² + ‖b‖²)."""
        base = Temperature.mixed(log_proba, codes, weight)
        coef = _least(base.apply(log_proba), codes, weight, matrix=False)
        return cls(base, *coef)

    def apply(self, log_proba: Floats) -> Floats:
        """Calibrated log probabilities."""
        x = self.base.apply(log_proba)
        return _normalized(x + self.slope * x + self.intercept)


@dataclass(frozen=True, slots=True, eq=False)
class StructuredMatrix:
    """q = softmax(x + D x + b), x = log p after a temperature (Berta et al. 2025)."""

    base: Temperature
    matrix: Floats  # D, (K, K)
    intercept: Floats  # b, (K,)

    @classmethod
    def fit(cls, log_proba: Floats, codes: Codes, weight: Floats | None) -> StructuredMatrix:
        """Those of least Σ -w log q_y + K (‖diag D‖² + ‖b‖²) + K (K - 1) ‖rest‖².

        The rest of D, off its diagonal, has K - 1 times as many numbers.
        """
        base = Temperature.mixed(log_proba, codes, weight)
        coef = _least(base.apply(log_proba), codes, weight, matrix=True)
        return cls(base, *coef)

    def apply(self, log_proba: Floats) -> Floats:
        """Calibrated log probabilities."""
        x = self.base.apply(log_proba)
        return _normalized(x + x @ self.matrix.T + self.intercept)


def _least(x: Floats, codes: Codes, weight: Floats | None, matrix: bool) -> tuple[Floats, Floats]:
    """D (K, K), or its diagonal (K,), and b (K,)."""
    k = x.shape[1]
    shape = (k, k) if matrix else (k,)
    start, given = np.zeros(int(np.prod(shape)) + k), (x, codes, weight, shape)
    stop = {"gtol": TOLERANCE * k * k, "ftol": 1e-13}
    with one_blas_thread():  # L-BFGS multiplies small matrices
        found = scipy.optimize.minimize(
            scaling_loss, start, given, jac=True, method="L-BFGS-B", options=stop
        ).x
    return found[:-k].reshape(shape), found[-k:]


def scaling_loss(
    at: Floats, x: Floats, codes: Codes, weight: Floats | None, shape: tuple[int, ...]
) -> tuple[float, Floats]:
    """Σ -w log q_y + penalty, and its gradient by D, or its diagonal, and b."""
    k = x.shape[1]
    D, b = at[:-k].reshape(shape), at[-k:]
    penalty = np.full(shape, float(k))
    if D.ndim == 2:
        penalty[~np.eye(k, dtype=bool)] *= k - 1
    scale = np.eye(k) + (D if D.ndim == 2 else np.diag(D))
    value, by_scale, by_b = kernels.logistic_sums(x, codes, weight, None, scale, b)
    by_D = by_scale if D.ndim == 2 else np.diag(by_scale)
    value += float((penalty * D * D).sum() + k * (b * b).sum())
    return value, np.append((by_D + 2 * penalty * D).ravel(), by_b + 2 * k * b)


def _normalized(scores: Floats) -> Floats:
    kernels.normalize(scores, "log_posterior")
    return scores
