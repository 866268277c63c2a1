"""What logistic regression sums over the rows, in plain NumPy."""

from __future__ import annotations

import numpy as np

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
    with np.errstate(invalid="ignore", over="ignore"):  # of cells that are no numbers
        table = X.scipy() if isinstance(X, SparseRows) else np.asarray(X, np.float64)
        if origin is not None:
            table = table - origin
        w = np.where(codes < 0, 0.0, 1.0 if weight is None else weight)
        codes = np.maximum(codes, 0)
        eta = np.asarray(table @ coef.T) + intercept
        if offset is not None:
            eta += offset.reshape(eta.shape)
        if len(coef) == 1:
            full = np.column_stack([np.zeros(len(eta)), eta])
        else:
            full = eta
        top = full.max(axis=1, keepdims=True)
        share = np.exp(full - top)
        total = share.sum(axis=1)
        picked = full[np.arange(len(codes)), codes]
        # what the others add to the row's largest share: log(1 + small) keeps its digits
        rest = total - 1.0 if full.shape[1] > 2 else np.exp(-np.abs(full[:, 1] - full[:, 0]))
        value = float((w * (np.log1p(rest) + (top[:, 0] - picked))).sum())  # BLAS: by its threads
        proba = share / total[:, None]
        proba[np.arange(len(codes)), codes] = 0.0
        others = np.minimum(proba.sum(axis=1), 1.0)
        proba[np.arange(len(codes)), codes] = -others  # p - 1, with all its digits
        derivative = (proba if len(coef) > 1 else proba[:, 1:]) * w[:, None]
        if residual is not None:
            residual[:] = derivative
        if hessian is not None:
            x = np.column_stack([table, np.ones(len(codes))])
            size = np.abs(derivative)
            h = np.where(w[:, None] > 0, size * (1 - size / np.where(w > 0, w, 1.0)[:, None]), 0.0)
            hessian[:, : x.shape[1]] += x.T @ (h * x)
        return value, np.asarray((table.T @ derivative).T), derivative.sum(axis=0)
