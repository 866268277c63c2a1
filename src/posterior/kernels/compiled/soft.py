"""The compiled sums over soft groups."""

from __future__ import annotations

import numpy as np

import posterior.kernels._compiled as _compiled
from posterior.data.typing import Array, Floats

LANES = 8


def soft_products(X: Array, R: Floats, origin: Floats) -> tuple[Floats, Floats]:
    """Σ r (x - o) (k, d) and the upper triangles of Σ r (x - o)(x - o)ᵀ (k, d, d)."""
    (k, d), width = origin.shape, -(-origin.shape[1] // LANES) * LANES
    totals, products = np.zeros((k, width)), np.zeros((k, width, width))
    if not _compiled.soft_products(X, np.ascontiguousarray(R), origin, totals, products):
        products[:] = np.nan
    return totals[:, :d], products[:, :d, :d]


def soft_moments(X: Array, R: Floats, origin: Floats) -> tuple[Floats, Floats, Floats]:
    """Σ r, Σ r (x - o) and Σ r (x - o)² over the observed cells: (k, d) each."""
    (k, d), width = origin.shape, -(-origin.shape[1] // LANES) * LANES
    sums = np.zeros((3, k, width))
    _compiled.soft_moments(X, np.ascontiguousarray(R), origin, *sums)
    return sums[0, :, :d], sums[1, :, :d], sums[2, :, :d]
