"""The compiled sums of logistic regression."""

from __future__ import annotations

import numpy as np

import posterior.kernels._compiled as _compiled
from posterior.data.rows import SparseRows
from posterior.data.typing import Array, Codes, Floats


def logistic_sums(
    X: Array | SparseRows,
    codes: Codes,
    weight: Floats | None,
    offset: Floats | None,
    coef: Floats,
    intercept: Floats,
    residual: Floats | None = None,
    origin: Floats | None = None,
    hessian: Floats | None = None,
) -> tuple[float, Floats, Floats]:
    """Σ w (log Σ_k exp η_k - η_y) over rows and its gradients,  η = (X - o) coefᵀ + b + offset.

    One output scores class 1 against class 0; a row of a negative code is left out. `residual`
    (n, m) receives the derivative by η, `hessian` (d + 1, whole lanes) with one output the upper
    triangle of the second derivatives, of the intercept last. Sparse rows have neither this nor
    an origin.
    """
    gradient, gradient_b = np.zeros(coef.shape), np.zeros(intercept.shape)
    known = None if offset is None else offset.reshape(-1)
    rows = codes, weight, known
    if not isinstance(X, SparseRows):
        value = _compiled.logistic_sums(
            X, origin, *rows, coef, intercept, gradient, gradient_b, residual, hessian
        )
        return value, gradient, gradient_b
    table, sums = np.ascontiguousarray(coef.T), np.zeros(coef.shape[::-1])
    value = _compiled.sparse_logistic_sums(
        X.data, X.column, X.start, X.n_columns, *rows, table, intercept, sums, gradient_b, residual
    )
    return value, sums.T, gradient_b
