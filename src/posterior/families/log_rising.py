"""Logarithms of rising factorials, without the cancellation of two large log Γ."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from posterior.data.typing import Floats

STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360)
LARGE = 13.0  # from where Stirling's series is exact to rounding


def log_rising(a: ArrayLike, n: ArrayLike) -> Floats:
    """log Γ(a + n) / Γ(a), of a > 0 and n ≥ 0.

    By Stirling's series of both, (a - ½) log(1 + n/a) + n (log(a + n) - 1) + S(a + n) - S(a):
    log Γ of some thousands has lost three digits that their difference needs.
    """
    a, n = np.broadcast_arrays(np.asarray(a, np.float64), np.asarray(n, np.float64))
    small = a < LARGE
    large = np.where(small, LARGE, a)
    top = large + n
    found = (large - 0.5) * np.log1p(n / large) + n * (np.log(top) - 1)
    found = found + _series(top) - _series(large)
    if small.any():
        found = np.where(small, special.gammaln(a + n) - special.gammaln(a), found)
    return np.asarray(found)


def _series(x: Floats) -> Floats:
    """S(x) = 1 / 12x - 1 / 360x³ + ..."""
    square = 1 / (x * x)
    total: Floats = np.full_like(x, STIRLING[-1])
    for coefficient in STIRLING[-2::-1]:
        total = total * square + coefficient
    return total / x
