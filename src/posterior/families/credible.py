"""Ends of credible intervals of the beta, gamma and chi-squared distributions.

As scipy.stats has them, to the last bit; importing that takes longer than all else in a report.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

from posterior.data.typing import Floats


def tails(level: float) -> tuple[float, float]:
    """The shares below the two ends."""
    return (1 - level) / 2, (1 + level) / 2


def beta_interval(level: float, a: Any, b: Any) -> tuple[Floats, Floats]:
    """Of Beta(a, b)."""
    low, high = (np.asarray(special.betaincinv(a, b, q)) for q in tails(level))
    return low, high


def gamma_interval(level: float, shape: Any, scale: Any) -> tuple[Floats, Floats]:
    """Of Gamma(shape), times a scale."""
    low, high = (np.asarray(special.gammaincinv(shape, q) * scale) for q in tails(level))
    return low, high


def chi2_quantile(q: float, freedom: Any) -> Floats:
    """χ² below which a share q lies: 2 P⁻¹(freedom / 2, q)."""
    return np.asarray(2 * special.gammaincinv(np.asarray(freedom) / 2, q))
