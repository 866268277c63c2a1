"""The weights of a log-linear pool: several models' log probabilities as one score.

    s_c = b_c + Σ_m w_m z_m,   z_m = max(log p_m(c | x) - max_k log p_m(k | x), -log 10⁶)

    P = softmax(s),   w ≥ 0

    minimize  -Σ v Σ_c q_c log P(c | x) + λ Σ_m (w_m / a_m - π_m)² + 3 Σ_c b_c²

over rows that no model has learned from. a_m, the inverse temperature of each model alone, puts
those that are too sure and those that are not on one scale; the sum of w is one again.

Few rows say little of ten weights, more of what each model loses: t_m is by how much more that is
than the best one loses, row by row, in standard errors of the difference, and π_m ∝ exp(-t_m / 4).

q is 1 - ε for the class of the row, the rest is shared by the others, and ε = 30 / (n² + 60): where
n rows are all predicted correctly, the next may be the first that is not (after Platt 1999).
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
SHRINKAGE = 20.0  # λ: how many rows' worth it costs to weigh models otherwise than expected
BALANCED = 3.0  # the same of class shares other than those that the models say
CREDIT = 4.0  # standard errors behind the best model at which another counts 1 / e of it
DOUBT = 30.0  # of n rows DOUBT / n count as if they were of another class
ROUNDING = 1e-9  # nats, below which losses do not differ


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
    shrinkage: float = SHRINKAGE,
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
    v = np.ones(len(codes)) if weight is None else weight
    own = (targets(codes, z.shape[1], v) * z).sum(axis=1)

    def loss(log_scale: float) -> float:
        scale = np.exp(log_scale)
        return float(np.sum(v * (np.log(np.exp(scale * z).sum(axis=1)) - scale * own)))

    found = scipy.optimize.minimize_scalar(loss, bounds=(COLDEST, HOTTEST), method="bounded")
    return float(np.exp(found.x))


def targets(codes: Codes, k: int, v: Floats) -> Floats:
    """q (n, k): nearly one for the class of each row, nearly zero for the others."""
    n = max(float(v.sum()), float(np.count_nonzero(v)))  # weights may be shares of one
    doubt = DOUBT / (n**2 + 2 * DOUBT)
    q = np.full((len(codes), k), doubt / max(k - 1, 1))
    q[np.arange(len(codes)), codes] = 1 - doubt
    return q


def expected_weights(said: Floats, codes: Codes, v: Floats) -> Floats:
    """π (m,): what models count for by what each loses alone, at its own temperature."""
    own = said[:, np.arange(len(codes)), codes]
    losses = logsumexp(said, axis=2) - own
    # no products: threads of BLAS would change bits
    apart = losses - losses[np.average(losses, axis=1, weights=v).argmin()]
    behind = np.average(apart, axis=1, weights=v)
    spread = np.average((apart - behind[:, None]) ** 2, axis=1, weights=v)
    error = np.sqrt(spread / v.sum())
    counts = np.exp(-behind / (error + ROUNDING) / CREDIT)
    return np.asarray(counts / counts.sum())


def _minimum(
    said: Floats, codes: Codes, weight: Floats | None, shrinkage: float
) -> tuple[Floats, Floats]:
    m, n, k = said.shape
    v = np.ones(n) if weight is None else weight
    expected = expected_weights(said, codes, v)
    flat = said.reshape(m, n * k)
    q = targets(codes, k, v)

    def objective(x: Floats) -> tuple[float, Floats]:
        w, b = x[:m], x[m:]
        scores = (w @ flat).reshape(n, k) + b
        scores -= scores.max(axis=1, keepdims=True)
        p = np.exp(scores)
        total = p.sum(axis=1)
        value = float(v @ (np.log(total) - (q * scores).sum(axis=1)))
        value += shrinkage * np.sum((w - expected) ** 2) + BALANCED * np.sum(b**2)
        p = (p / total[:, None] - q) * v[:, None]
        slope = flat @ p.ravel() + 2 * shrinkage * (w - expected)
        return value, np.concatenate([slope, p.sum(axis=0) + 2 * BALANCED * b])

    start = np.concatenate([expected, np.zeros(k)])
    bounds = [(0, None)] * m + [(None, None)] * k
    options = {"maxiter": 1_000, "ftol": 1e-12, "gtol": 1e-9}
    with one_blas_thread():  # of small products threads wait, and no more
        found = scipy.optimize.minimize(
            objective, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options
        ).x
    return found[:m], found[m:]
