"""Some columns of a normal mixture, given others.

p(m | o) = Σ_k p(k | o) N(m; μ_m + Σ_mo Σ_oo⁻¹ (o - μ_o), Σ_mm - Σ_mo Σ_oo⁻¹ Σ_om)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from posterior.data.typing import Array, Floats


@dataclass(frozen=True, slots=True, eq=False)
class Regression:
    """How missing columns follow observed ones inside a component."""

    intercept: Floats  # (m,)
    slope: Floats  # (o, m)
    covariance: Floats  # (m, m), of what is left open

    @classmethod
    def of(cls, mean: Floats, covariance: Floats, observed: Array) -> Regression:
        """From the mean (d,) and covariance (d, d) of a component."""
        o, m = np.flatnonzero(observed), np.flatnonzero(~observed)
        across = covariance[np.ix_(o, m)]
        slope = np.asarray(np.linalg.solve(covariance[np.ix_(o, o)], across), np.float64)
        left = covariance[np.ix_(m, m)] - across.T @ slope
        return cls(mean[m] - mean[o] @ slope, slope, 0.5 * (left + left.T))

    def expected(self, x: Floats) -> Floats:
        """Missing cells (n, m) of rows whose observed cells are x (n, o)."""
        return self.intercept + x @ self.slope


def impute(
    x: Floats,
    R: Floats,
    mean: Floats,
    covariance: Floats,
    observed: Array,
    random: np.random.Generator | None,
) -> Floats:
    """Missing cells (n, m) of rows that miss the same: their expectation, or a draw.

    R (n, k) is p(k | o); covariances are (k, d, d).
    """
    parts = [Regression.of(mu, sigma, observed) for mu, sigma in zip(mean, covariance, strict=True)]
    cells = np.stack([part.expected(x) for part in parts], axis=1)  # (n, k, m)
    if random is None:
        return np.einsum("nk,nkm->nm", R, cells)
    chosen = (R.cumsum(axis=1) > random.uniform(size=(len(R), 1))).argmax(axis=1)
    drawn = cells[np.arange(len(x)), chosen]
    for k, part in enumerate(parts):
        mine = np.flatnonzero(chosen == k)
        noise = random.standard_normal((len(mine), len(part.covariance)))
        values, vectors = np.linalg.eigh(part.covariance)
        drawn[mine] += noise @ (vectors * np.sqrt(np.maximum(values, 0.0))).T
    return drawn
