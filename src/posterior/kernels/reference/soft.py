"""Sums over rows of which every group receives a part, in plain NumPy."""

from __future__ import annotations

import numpy as np

from posterior.data.rows import slabs
from posterior.data.typing import Array, Floats


def soft_products(X: Array, R: Floats, origin: Floats) -> tuple[Floats, Floats]:
    """Σ r (x - o) (k, d) and the upper triangles of Σ r (x - o)(x - o)ᵀ (k, d, d)."""
    k, d = origin.shape
    totals, products = np.zeros((k, d)), np.zeros((k, d, d))
    for rows in slabs(len(X), d):
        for g, o in enumerate(origin):
            x = X[rows] - o
            part = R[rows, g : g + 1] * x
            totals[g] += part.sum(axis=0)
            products[g] += x.T @ part
    return totals, products


def soft_moments(X: Array, R: Floats, origin: Floats) -> tuple[Floats, Floats, Floats]:
    """Σ r, Σ r (x - o) and Σ r (x - o)² over the observed cells: (k, d) each."""
    weight, totals, squares = np.zeros((3, *origin.shape))
    for rows in slabs(len(X), X.shape[1]):
        observed = ~np.isnan(X[rows])
        weight += R[rows].T @ observed.astype(np.float64)
        for g, o in enumerate(origin):
            x = np.where(observed, X[rows] - o, 0.0)
            totals[g] += R[rows, g] @ x
            squares[g] += R[rows, g] @ (x * x)
    return weight, totals, squares
