"""Columns that are normal together: scores linear or quadratic in them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from posterior.families import MultivariateGaussian, MultivariateGaussianParameters
from posterior.sql.cells import Column
from posterior.sql.densities import terms
from posterior.sql.expressions import less, number, plus, times
from posterior.sql.scores import Term


@terms.register
def _(
    family: MultivariateGaussian, p: MultivariateGaussianParameters, columns: Sequence[Column]
) -> list[Term]:
    if p.freedom is not None:
        raise TypeError(
            "Expected normal classes, got Student's t of several columns, which does not come "
            "apart into terms. Fit the model with predictive=False."
        )
    return _linear(p, columns) if len(p.whitening) == 1 else _quadratic(p, columns)


def _linear(p: MultivariateGaussianParameters, columns: Sequence[Column]) -> list[Term]:
    """One covariance for all:  Σⱼ ((μ_k - o)ᵀ Σ⁻¹)ⱼ (xⱼ - ½ (μ_kj + oⱼ)), o the middle"""
    middle = p.mean.mean(axis=0)
    slope, between = (p.mean - middle) @ p.precision(0), 0.5 * (p.mean + middle)
    found = []
    for j, c in enumerate(columns):
        x = c.number()
        pairs = zip(slope[:, j], between[:, j], strict=True)
        found.append(Term(c.name, [times(number(w), less(x.copy(), b)) for w, b in pairs]))
    return found


def _quadratic(p: MultivariateGaussianParameters, columns: Sequence[Column]) -> list[Term]:
    """-½ (u - m)ᵀ P (u - m) + ..., with u and m taken from the middle, so that little cancels"""
    middle, k = p.mean.mean(axis=0), len(p.mean)
    u = [c.sheet.cell(c.name, less(c.as_number(), o)) for c, o in zip(columns, middle, strict=True)]
    P, m = np.stack([p.precision(g) for g in range(k)]), p.mean - middle
    slope = np.einsum("gij,gj->gi", P, m)
    found = []
    for j, c in enumerate(columns):
        curves = [
            plus(number(b), times(number(-0.5 * a), u[j].copy()))
            for b, a in zip(slope[:, j], P[:, j, j], strict=True)
        ]
        found.append(Term(c.name, [times(u[j].copy(), curve) for curve in curves]))
    for i, j in combinations(range(len(columns)), 2):
        if P[:, i, j].any():
            name = f"{columns[i].name} × {columns[j].name}"
            pairs = [times(number(-a), u[i].copy(), u[j].copy()) for a in P[:, i, j]]
            found.append(Term(name, pairs))
    rank = np.array([w.matrix.shape[1] for w in p.whitening])
    log_det = np.array([w.log_det for w in p.whitening])
    height = -0.5 * (rank * np.log(2 * np.pi) + log_det + np.einsum("gi,gi->g", m, slope))
    return [*found, Term("spread", [number(h) for h in height])]
