"""The compiled coordinate descents."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

import posterior.kernels._compiled as _compiled
from posterior.data.typing import Floats


def coordinate_descent(
    H: Floats, lasso: Floats, sweeps: int, enough: float, gradient: Floats, coef: Floats
) -> None:
    """Lowers g·s + ½ s·H s + Σ λ |β + s| coordinate by coordinate, until a sweep gains too little.

    `gradient` (g + H s) and `coef` (β + s) follow the step.
    """
    _compiled.coordinate_descent(H, lasso, sweeps, enough, gradient, coef)


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
    intercept = step.shape[1] > X.shape[1]
    rest = (*curves, intercept, *coordinates, sweeps, step, moved)
    if sparse.issparse(X):
        _compiled.sparse_column_descent(X.data, X.indices, X.indptr, *rest)
    else:
        _compiled.column_descent(X.T, *rest)


def column_squares(X: Any, weight: Floats) -> Floats:
    """Σᵢ w_ai x_ij², (m, d), of such columns."""
    out = np.empty((len(weight), X.shape[1]))
    if sparse.issparse(X):
        _compiled.sparse_column_squares(X.data, X.indices, X.indptr, weight, out)
    else:
        _compiled.column_squares(X.T, weight, out)
    return out
