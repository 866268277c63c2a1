"""Common principal components: the axes along which the scatter of all groups is most nearly
diagonal (Flury and Gautschi 1986)."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from posterior.data.typing import Floats

TOLERANCE = 1e-9  # of the last turns, in radians: likelihoods feel their squares
MOST_SWEEPS = 500


def common_axes(
    weight: Floats, scatter: Floats, equal_volumes: bool, before: Floats | None = None
) -> Floats:
    """D (d, d) of the most likely Σ_k = D Λ_k Dᵀ, where Λ_k varies, or varies in its shape alone.

    With s_k the diagonal of Dᵀ S_k D, and g_k its geometric mean, D has least Σ_k n_k log g_k, or
    least Σ_k g_k if all |Λ_k| are equal. There may be several such places. The search begins where
    the covariances `before` have their axes, so that EM never falls; or else at those of each
    group and of all together, and the best end is taken.
    """
    if before is None:
        starts = np.linalg.eigh(np.concatenate([scatter.sum(axis=0, keepdims=True), scatter]))[1]
    else:
        starts = _axes_of(before)[None]
    ends = [_turned(start, weight, scatter, equal_volumes) for start in starts]
    return min(ends, key=lambda axes: _cost(_along(axes, scatter), weight, equal_volumes))


def _turned(axes: Floats, weight: Floats, scatter: Floats, equal_volumes: bool) -> Floats:
    """Two axes at a time turn in their plane, until none does.

    For given Λ, Σ_k tr(S_k D Λ_k⁻¹ Dᵀ) is P cos² θ + 2 R cos θ sin θ + Q sin² θ, whose least is
    known; and Λ follows D. Neither makes the covariances less likely.
    """
    d = len(axes)
    axes, S = axes.copy(), axes.T @ scatter @ axes
    for _ in range(MOST_SWEEPS):
        largest = 0.0
        for i, j in combinations(range(d), 2):
            a, b, e = S[:, i, i], S[:, i, j], S[:, j, j]
            scale = _geometric(np.einsum("kii->ki", S)) if equal_volumes else weight
            more = scale @ (e / a + a / e - 2)  # Q - P
            angle = 0.5 * np.arctan2(-2 * (scale @ (b / a - b / e)), more)
            if not np.isfinite(angle):  # a group has collapsed, as its covariance will show
                return axes
            turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
            axes[:, [i, j]] = axes[:, [i, j]] @ turn
            S[:, :, [i, j]] = S[:, :, [i, j]] @ turn
            S[:, [i, j]] = turn.T @ S[:, [i, j]]
            largest = max(largest, abs(float(angle)))
        if largest <= TOLERANCE:
            break
    return axes


def _axes_of(covariance: Floats) -> Floats:
    """The axes that covariances (k, d, d) have in common, to begin with."""
    # Of a sum with uneven parts two variances are equal only where they are in every covariance.
    part = np.sqrt(np.arange(2, len(covariance) + 2)) / np.trace(covariance, axis1=1, axis2=2)
    return np.asarray(np.linalg.eigh(np.einsum("k,kij->ij", part, covariance))[1])


def _along(axes: Floats, scatter: Floats) -> Floats:
    """The diagonals (k, d) of Dᵀ S_k D."""
    return np.einsum("ji,kjl,li->ki", axes, scatter, axes)


def _cost(along: Floats, weight: Floats, equal_volumes: bool) -> float:
    size = _geometric(along)
    return float(size.sum() if equal_volumes else weight @ np.log(size))


def _geometric(along: Floats) -> Floats:
    return np.exp(np.log(np.maximum(along, 0.0)).mean(axis=1))
