"""Coordinate descent in NumPy: a loop over coordinates, each where its own parabola is lowest."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from posterior.data.typing import Array, Floats

FLAT = 1e-150  # less curvature is none: steps would not be finite


def _best_step(b: float, g: float, h: float, lasso: float) -> float:
    """Where g x + ½ h x² + λ |b + x| is smallest. Without curvature only a lasso can decide."""
    if not h > FLAT:
        return -b if abs(g) < lasso else 0.0
    free = b - g / h
    return float(np.sign(free) * max(abs(free) - lasso / h, 0.0)) - b


def coordinate_descent(
    H: Floats, lasso: Floats, sweeps: int, enough: float, gradient: Floats, coef: Floats
) -> None:
    """Lowers g·s + ½ s·H s + Σ λ |β + s| coordinate by coordinate, until a sweep gains too little.

    `gradient` (g + H s) and `coef` (β + s) follow the step.
    """
    for _ in range(sweeps):
        gained = 0.0
        with np.errstate(over="ignore", invalid="ignore"):  # where there is no minimum
            for j in range(len(coef)):
                x = _best_step(coef[j], gradient[j], H[j, j], lasso[j])
                coef[j] += x
                gradient += x * H[j]
                gained += 0.5 * x * (H[j, j] * x)
        if gained <= enough:
            break


def column_descent(
    X: Any,
    curves: tuple[Floats, Floats | None],
    coordinates: tuple[Floats, ...],
    sweeps: int,
    step: Floats,
    moved: Floats,
) -> None:
    """The same with H known by the columns of X, dense (one after the other) or CSC, alone.

    With z = s Xᵀ, `moved` (m, n), row i turns the derivative by output a by
    w_ai (z_ai - Σ_b p_bi z_bi): curves are w and p, which one output does not need. Coordinates
    are β, g, the diagonal of H, ridge and lasso, (m, d) or (m, d + 1) with the intercepts last.
    """
    weight, share = curves
    coef, gradient, curve, ridge, lasso = coordinates
    (n, d), outputs = X.shape, len(step)
    mean = np.zeros(n) if share is None else (share * moved).sum(axis=0)
    all_rows, ones = np.arange(n), np.ones(n)

    def move(j: int, rows: Array, values: Array) -> None:
        for a in range(outputs):
            turned = values @ (weight[a, rows] * (moved[a, rows] - mean[rows]))
            g = gradient[a, j] + turned + ridge[a, j] * step[a, j]
            b = coef[a, j] + step[a, j]
            x = _best_step(b, g, curve[a, j], lasso[a, j])
            step[a, j] = -coef[a, j] if x == -b else step[a, j] + x  # zeros are exact
            moved[a, rows] += x * values
            if share is not None:
                mean[rows] += x * values * share[a, rows]

    intercept, often = step.shape[1] > d, 8 * n
    for _ in range(sweeps):
        seen = often
        for j in range(d + 1):
            if intercept and (seen >= often or j == d):
                move(d, all_rows, ones)
                seen = 0
            if j == d:
                break
            part = slice(X.indptr[j], X.indptr[j + 1]) if sparse.issparse(X) else None
            rows, values = (all_rows, X[:, j]) if part is None else (X.indices[part], X.data[part])
            move(j, rows, values)
            seen += len(values)


def column_squares(X: Any, weight: Floats) -> Floats:
    """Σᵢ w_ai x_ij², (m, d), of such columns."""
    return np.ascontiguousarray(((X**2).T @ weight.T).T)
