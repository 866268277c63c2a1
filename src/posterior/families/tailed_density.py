"""The density of Student's t, cell by cell."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

from posterior.data.typing import Array, Floats
from posterior.families.normal_symbols import FLAT


@dataclass(frozen=True, slots=True, eq=False)
class TailedDensity:
    """log p(x) = c - ½ (ν + 1) log (1 + z²),  z = |x - μ| / σ√ν, with what does not depend on x."""

    mean: Floats
    scale: Floats  # σ√ν
    half: Floats  # ½ (ν + 1)
    constant: Floats
    silent: Array  # where the variance is infinite, and a cell says nothing

    @classmethod
    def of(cls, mean: Floats, variance: Floats, freedom: Floats) -> TailedDensity:
        half = (freedom + 1) / 2
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            constant = special.gammaln(half) - special.gammaln(freedom / 2)
            constant -= 0.5 * np.log(freedom * np.pi * variance)
            return cls(mean, np.sqrt(freedom * variance), half, constant, np.isinf(variance))

    def __call__(self, x: Floats) -> Floats:
        """Of cells that broadcast against the parameters; 0 if missing."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            z = np.abs(x - self.mean) / self.scale
            # log (1 + z²), where z² may be too large for a number
            tail = np.where(z > FLAT, 2 * np.log(z), np.log1p(z**2))
            terms = self.constant - self.half * tail
        return np.where(np.isnan(x) | self.silent, 0.0, terms)
