"""The weights of a log-linear pool: several models' log probabilities as one score.

    s_c = b_c + Σ_m w_m z_m,   z_m = max(log p_m(c | x) - max_k log p_m(k | x), -log 10⁶)

    P = softmax(s),   w ≥ 0

    minimize  -Σ v log P(y | x) + λ Σ_m (w_m / a_m - 1 / M)² + λ Σ_c b_c²

over rows that no model has learned from. a_m, the inverse temperature of each model alone, puts
those that are too sure and those that are not on one scale; the sum of w is one again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from scipy.special import logsumexp

from posterior.data.blas_threads import one_blas_thread
from posterior.data.typing import Codes, Floats

LEAST = 0.01  # of w and of w / a: what weighs less is left out
COLDEST, HOTTEST = -4.0, 1.5  # log a
LIMIT = np.log(1e6)  # by which a class may be less probable than another, for one model
EVENLY = 3.0  # λ: how many rows' worth it costs to weigh models otherwise than alike


@dataclass(frozen=True, slots=True, eq=False)
class PoolWeights:
    """What each model counts for, and what each class has beside them."""

    weights: Floats  # (m,), zero of those left out
    intercept: Floats  # (k,)

    def scores(self, log_proba: Floats) -> Floats:
        """b + Σ w log p, (n, k), of log probabilities (m, n, k)."""
        return np.asarray(self.intercept + np.tensordot(self.weights, bounded(log_proba), 1))

    def log_proba(self, log_proba: Floats) -> Floats:
        """The same as log probabilities."""
        scores = self.scores(log_proba)
        return np.asarray(scores - logsumexp(scores, axis=1, keepdims=True))


def bounded(log_proba: Floats) -> Floats:
    """Log probabilities next to that of the likeliest class, none less than one in a million.

    What a model says beyond that it has not seen often enough to know, and one row must not cost
    all trust in it.
    """
    return np.maximum(log_proba - log_proba.max(axis=-1, keepdims=True), -LIMIT)


def weighed(
    log_proba: Floats,
    codes: Codes,
    weight: Floats | None,
    shrinkage: float = EVENLY,
    scales: Floats | None = None,
) -> PoolWeights:
    """The weights of least loss for models that have said (m, n, k) of rows held out.

    What weighs next to nothing is left out, and the others are weighed again. Scales are the
    inverse temperatures of the models alone, if they are known.
    """
    said = bounded(log_proba)
    if scales is None:
        scales = np.array([sharpness(each, codes, weight) for each in said])
    said = said * scales[:, None, None]
    w, b = _minimum(said, codes, weight, shrinkage)
    kept = np.minimum(w, w * scales) >= LEAST
    if kept.any() and not kept.all():
        some, b = _minimum(said[kept], codes, weight, shrinkage)
        w = np.zeros(len(w))
        w[kept] = some
    return PoolWeights(w * scales, b)


def sharpness(log_proba: Floats, codes: Codes, weight: Floats | None) -> float:
    """The inverse temperature of least loss for one model alone."""
    z = bounded(log_proba)
    own = z[np.arange(len(codes)), codes]
    v = np.ones(len(codes)) if weight is None else weight

    def loss(log_scale: float) -> float:
        scale = np.exp(log_scale)
        return float(np.sum(v * (np.log(np.exp(scale * z).sum(axis=1)) - scale * own)))

    found = scipy.optimize.minimize_scalar(loss, bounds=(COLDEST, HOTTEST), method="bounded")
    return float(np.exp(found.x))


def _minimum(
    said: Floats, codes: Codes, weight: Floats | None, shrinkage: float
) -> tuple[Floats, Floats]:
    m, n, k = said.shape
    v = np.ones(n) if weight is None else weight
    flat = said.reshape(m, n * k)
    own = np.arange(n) * k + codes

    def objective(x: Floats) -> tuple[float, Floats]:
        w, b = x[:m], x[m:]
        scores = (w @ flat).reshape(n, k) + b
        scores -= scores.max(axis=1, keepdims=True)
        p = np.exp(scores)
        total = p.sum(axis=1)
        value = float(v @ (np.log(total) - scores.ravel()[own]))
        value += shrinkage * (np.sum((w - 1 / m) ** 2) + np.sum(b**2))
        p *= (v / total)[:, None]
        p.ravel()[own] -= v
        slope = flat @ p.ravel() + 2 * shrinkage * (w - 1 / m)
        return value, np.concatenate([slope, p.sum(axis=0) + 2 * shrinkage * b])

    start = np.concatenate([np.full(m, 1 / m), np.zeros(k)])
    bounds = [(0, None)] * m + [(None, None)] * k
    options = {"maxiter": 1_000, "ftol": 1e-12, "gtol": 1e-9}
    with one_blas_thread():  # of small products threads wait, and no more
        found = scipy.optimize.minimize(
            objective, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options
        ).x
    return found[:m], found[m:]
