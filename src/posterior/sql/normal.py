"""Columns that are normal together: scores linear or quadratic in them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from posterior.families import MultivariateGaussian, MultivariateGaussianParameters
from posterior.sql.cells import Column
from posterior.sql.densities import FARTHEST, NEAREST, from_zero, terms
from posterior.sql.expressions import between, cases, is_there, less, number, plus, times
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
    slope, halfway = (p.mean - middle) @ p.precision(0), 0.5 * (p.mean + middle)
    found = []
    for j, c in enumerate(columns):
        places, least = from_zero(halfway[:, j], float(np.sqrt(p.covariance[0][j, j])))
        x = c.number(least)
        pairs = zip(slope[:, j], places, strict=True)
        found.append(Term(c.name, [times(number(w), less(x.copy(), b)) for w, b in pairs]))
    return found


def _quadratic(p: MultivariateGaussianParameters, columns: Sequence[Column]) -> list[Term]:
    """-½ (u - m)ᵀ P (u - m) + ..., with u and m taken from the middle, so that little cancels.

    So far away that squares overflow, no class is possible, as in Python.
    """
    middle, k = p.mean.mean(axis=0), len(p.mean)
    deviation = np.sqrt(np.einsum("kii->ki", p.covariance))
    narrowest = np.where(deviation > 0, deviation, np.inf).min(axis=0)
    least, farthest = NEAREST * deviation.max(axis=0), FARTHEST * narrowest
    middle = np.where(np.abs(middle) > least, middle, 0.0)
    taken = zip(columns, middle, least, farthest, strict=True)
    u = [c.distance(float(o), float(near), float(far)) for c, o, near, far in taken]
    P, m = np.stack([p.precision(g) for g in range(k)]), p.mean - middle
    slope = np.einsum("gij,gj->gi", P, m)
    found = []
    for j, c in enumerate(columns):
        curves = [
            plus(number(b), times(number(-0.5 * a), u[j].copy()))
            for b, a in zip(slope[:, j], P[:, j, j], strict=True)
        ]
        inside = np.nextafter(farthest[j], 0)
        near = between(u[j], -inside, inside)
        far = is_there(u[j].copy()), number(-np.inf)
        products = [times(u[j].copy(), curve) for curve in curves]
        found.append(Term(c.name, [cases([(near.copy(), s), far]) for s in products]))
    for i, j in combinations(range(len(columns)), 2):
        if P[:, i, j].any():
            name = f"{columns[i].name} × {columns[j].name}"
            pairs = [times(number(-a), u[i].copy(), u[j].copy()) for a in P[:, i, j]]
            found.append(Term(name, pairs))
    rank = np.array([w.matrix.shape[1] for w in p.whitening])
    log_det = np.array([w.log_det for w in p.whitening])
    height = -0.5 * (rank * np.log(2 * np.pi) + log_det + np.einsum("gi,gi->g", m, slope))
    return [*found, Term("spread", [number(h) for h in height])]
