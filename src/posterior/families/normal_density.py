"""Rows measured by normal densities or Student's t: whole ones, some with gaps, some left out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from scipy import special

from posterior import kernels
from posterior.data.typing import Array, Floats
from posterior.families.covariance import Scatter, Whitening, whitenings
from posterior.families.incomplete import LOG_2PI
from posterior.families.symbols import (
    FARTHEST,
    IMPOSSIBLE,
    NEAREST,
    Cells,
    Formula,
    Number,
    Within,
    from_zero,
)
from posterior.statistics.incomplete_rows import patterns
from posterior.statistics.moments import floats

LANES = 8


@dataclass(frozen=True, slots=True, eq=False)
class MultivariateGaussianParameters:
    """Means (k, d) and covariances (k, d, d), or (1, d, d) if shared, ready to measure with.

    With degrees of freedom the density is Student's t of scale Σ stretch_k.
    """

    mean: Floats
    covariance: Floats
    whitening: tuple[Whitening, ...]
    freedom: Floats | None = None  # (k,)
    stretch: Floats | None = None  # (k,)
    scatter: Scatter | None = None  # what they were estimated from
    trace: tuple[float, ...] = ()  # log likelihoods of the steps of EM

    def of_columns(self, columns: Array) -> MultivariateGaussianParameters:
        """The marginal distribution of some columns."""
        covariance = self.covariance[:, columns][:, :, columns]
        return replace(
            self,
            mean=self.mean[:, columns],
            covariance=covariance,
            whitening=whitenings(covariance, 0.0),
        )

    def precision(self, k: int) -> Floats:
        """Σ_k⁻¹, by its factor."""
        matrix = self.whitening[k if len(self.whitening) > 1 else 0].matrix
        return np.asarray(matrix @ matrix.T)


class Measure:
    """bias_k + log p(x | k) of rows without missing cells; rows with them come out as NaN."""

    def __init__(
        self, parameters: MultivariateGaussianParameters, bias: Floats | float = 0.0
    ) -> None:
        self._p = p = parameters
        self._origin = p.mean.mean(axis=0)
        ranks = np.array([w.matrix.shape[1] for w in p.whitening])
        constant = -0.5 * (ranks * LOG_2PI + np.array([w.log_det for w in p.whitening]))
        self._constant = constant + bias + np.zeros(len(p.mean))
        size, d = ranks.max(initial=0), p.mean.shape[1]
        axes = np.zeros((len(ranks), d, -(-size // LANES) * LANES))
        for g, whitening in enumerate(p.whitening):
            axes[g, :, : ranks[g]] = whitening.matrix
        group = np.arange(len(p.mean)) % len(ranks)
        centers = np.einsum("kd,kda->ka", p.mean - self._origin, axes[group])
        # eight axes side by side, as the kernel reads them
        tiles = axes.reshape(len(ranks), d, -1, LANES).swapaxes(1, 2)
        self._axes = np.ascontiguousarray(tiles)
        self._centers = np.ascontiguousarray(centers.reshape(len(p.mean), -1, LANES))

    @np.errstate(invalid="ignore", over="ignore")  # of cells that are missing or infinite
    def __call__(self, X: Array, out: Floats | None = None) -> Floats:
        p, axes = self._p, (self._origin, self._axes, self._centers)
        distance = np.empty((len(X), len(self._centers))) if out is None else out
        if p.freedom is None or p.stretch is None:
            kernels.square_distances(floats(X), *axes, distance, self._constant)
            return distance
        kernels.square_distances(floats(X), *axes, distance)
        rank = np.array([w.matrix.shape[1] for w in p.whitening])
        v, half = p.freedom, 0.5 * (p.freedom + rank)
        scale = special.gammaln(half) - special.gammaln(v / 2)
        scale -= 0.5 * rank * np.log(v * p.stretch / 2)
        tail = half * np.log1p(distance / (v * p.stretch))
        return np.subtract(self._constant + scale, tail, out=distance)


def linear_terms(parameters: MultivariateGaussianParameters) -> tuple[Floats, Floats]:
    """(μ_k - o)ᵀ Σ⁻¹ x  - ½ (μ_k - o)ᵀ Σ⁻¹ (μ_k + o), o the middle: weights (k, d), constants."""
    origin = parameters.mean.mean(axis=0)
    matrix = parameters.whitening[0].matrix
    white = (parameters.mean - origin) @ matrix
    weight = np.ascontiguousarray(white @ matrix.T)
    return weight, -0.5 * (white**2).sum(axis=1) - weight @ origin


def score_incomplete(
    X: Array, out: Floats, parameters: MultivariateGaussianParameters, bias: Floats
) -> None:
    """Rows with missing cells, by the marginal distribution of those that are there."""
    unscored = np.flatnonzero(np.isnan(out[:, 0]))
    if len(unscored) == 0:
        return
    x = np.asarray(X[unscored], np.float64)
    for observed, rows in patterns(x):
        if not observed.any():
            out[unscored[rows]] = bias
        elif not observed.all():
            columns = np.flatnonzero(observed)
            measure = Measure(parameters.of_columns(columns), bias)
            out[unscored[rows]] = measure(x[np.ix_(rows, columns)])


def downdated(
    x: Floats,
    codes: Array,
    own: Floats,
    parameters: MultivariateGaussianParameters,
    shared: bool,
    spent: float = 0.0,
) -> Floats:
    """log p(xᵢ | k) without row i, of weight ω in class c:  δ = x - μ_c,  n' = n - ω,

    S' = S - (ω n / n') δ δᵀ,  μ_c' = μ_c - (ω / n') δ,  and Sherman and Morrison's formula.
    Covariances are S / (n - spent).
    """
    scatter, (k, d) = parameters.scatter, parameters.mean.shape
    assert scatter is not None
    rows, everyone = np.arange(len(x)), scatter.weight.sum()
    n = scatter.weight[codes]
    # the weight behind the covariance
    whole = (np.full(len(x), everyone) if shared else n) - spent
    with np.errstate(divide="ignore", invalid="ignore"):
        grown = n / (n - own)
        b = own * grown / whole
        stretched = (whole - own) / whole
        white = np.stack(
            [
                (x - parameters.mean[g]) @ parameters.whitening[0 if shared else g].matrix
                for g in range(k)
            ],
            axis=1,
        )
        distance = (white**2).sum(axis=2)
        mine = white[rows, codes]
        room = 1 - b * distance[rows, codes]
        log_det = np.array([w.log_det for w in parameters.whitening]) + np.zeros((len(x), k))
        changed = np.log(room) - d * np.log(stretched)
        if shared:
            across = np.einsum("nkd,nd->nk", white, mine)
            moved = np.ones_like(distance)
            moved[rows, codes] = grown**2
            distance = (
                moved * stretched[:, None] * (distance + b[:, None] * across**2 / room[:, None])
            )
            log_det = log_det + changed[:, None]
        else:
            own_distance = distance[rows, codes]
            distance[rows, codes] = grown**2 * stretched * own_distance / room
            log_det[rows, codes] += changed
        score = -0.5 * (d * LOG_2PI + log_det + distance)
    # rows without which a covariance is not what it was take the long way
    lost = ~(n - own > 0) | ~(room > 0.1) | ~(stretched > 0)
    score[lost] = np.nan
    return score


def formula(p: MultivariateGaussianParameters, cells: Cells) -> list[Formula]:
    """log p(x | k) in symbols: linear in the cells if groups share a covariance, or quadratic."""
    if p.freedom is not None:
        raise TypeError(
            "Expected normal classes, got Student's t of several columns, which does not come "
            "apart into terms. Fit the model with predictive=False."
        )
    return _linear(p, cells) if len(p.whitening) == 1 else _quadratic(p, cells)


def _linear(p: MultivariateGaussianParameters, cells: Cells) -> list[Formula]:
    """One covariance for all:  Σⱼ ((μ_k - o)ᵀ Σ⁻¹)ⱼ (xⱼ - ½ (μ_kj + oⱼ)), o the middle"""
    middle = p.mean.mean(axis=0)
    slope, halfway = (p.mean - middle) @ p.precision(0), 0.5 * (p.mean + middle)
    found = []
    for j, cell in enumerate(cells):
        places, least = from_zero(halfway[:, j], float(np.sqrt(p.covariance[0][j, j])))
        x, pairs = replace(cell, least=least), zip(slope[:, j].tolist(), places, strict=True)
        found.append(Formula.of(x, (w * (x - float(b)) for w, b in pairs)))
    return found


def _quadratic(p: MultivariateGaussianParameters, cells: Cells) -> list[Formula]:
    """-½ (u - m)ᵀ P (u - m) + ..., with u and m taken from the middle, so that little cancels.

    So far away that squares overflow, no class is possible.
    """
    middle, k = p.mean.mean(axis=0), len(p.mean)
    deviation = np.sqrt(np.einsum("kii->ki", p.covariance))
    narrowest = np.where(deviation > 0, deviation, np.inf).min(axis=0)
    least, farthest = NEAREST * deviation.max(axis=0), FARTHEST * narrowest
    middle = np.where(np.abs(middle) > least, middle, 0.0)
    ends = zip(cells, middle.tolist(), least.tolist(), farthest.tolist(), strict=True)
    u = [replace(x, origin=o, least=near, farthest=far) for x, o, near, far in ends]
    P, m = np.stack([p.precision(g) for g in range(k)]), p.mean - middle
    slope = np.einsum("gij,gj->gi", P, m)
    found = []
    for j, x in enumerate(u):
        inside = float(np.nextafter(x.farthest, 0))
        curves = zip(slope[:, j].tolist(), (-0.5 * P[:, j, j]).tolist(), strict=True)
        terms = (x * (b + a * x) for b, a in curves)
        far = Number(IMPOSSIBLE)
        found.append(Formula.of(x, (Within(x, -inside, inside, each, far) for each in terms)))
    for i, j in combinations(range(len(u)), 2):
        if P[:, i, j].any():
            pairs = tuple(-a * u[i] * u[j] for a in P[:, i, j].tolist())
            found.append(Formula(f"{u[i].name} × {u[j].name}", pairs))
    rank = np.array([w.matrix.shape[1] for w in p.whitening])
    log_det = np.array([w.log_det for w in p.whitening])
    height = -0.5 * (rank * LOG_2PI + log_det + np.einsum("gi,gi->g", m, slope))
    return [*found, Formula("spread", tuple(Number(h) for h in height.tolist()))]
