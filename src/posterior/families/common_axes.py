"""Common principal components: the axes along which the scatter of all groups is most nearly
diagonal (Flury and Gautschi 1986)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from posterior.data.typing import Floats, Integers

TOLERANCE = 1e-8  # of the last turns, in radians: likelihoods feel their squares
MOST_SWEEPS = 200
A_STEP = 20  # of them in a step of EM, whose next one goes on


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
    most = MOST_SWEEPS if before is None else A_STEP
    ends = [_turned(start, weight, scatter, equal_volumes, most) for start in starts]
    return min(ends, key=lambda axes: _cost(_along(axes, scatter), weight, equal_volumes))


def _turned(
    axes: Floats, weight: Floats, scatter: Floats, equal_volumes: bool, most_sweeps: int
) -> Floats:
    """Pairs of axes turn in their planes, until none does.

    For given Λ, Σ_k tr(S_k D Λ_k⁻¹ Dᵀ) is P cos² θ + 2 R cos θ sin θ + Q sin² θ, whose least is
    known, in each of some planes without a common axis; and Λ follows D. Neither makes the
    covariances less likely.
    """
    S = axes.T @ scatter @ axes
    for _ in range(most_sweeps):
        largest = 0.0
        for i, j in _rounds(len(axes)):
            along = np.einsum("kii->ki", S)
            a, b, e = along[:, i], S[:, i, j], along[:, j]
            scale = _geometric(along) if equal_volumes else weight
            more = scale @ (e / a + a / e - 2)  # Q - P
            angle = 0.5 * np.arctan2(-2 * (scale @ (b / a - b / e)), more)
            if not np.isfinite(angle).all():  # a group has collapsed, as its covariance will show
                return axes
            turn = np.eye(len(axes))
            turn[i, i] = turn[j, j] = np.cos(angle)
            turn[j, i] = np.sin(angle)
            turn[i, j] = -turn[j, i]
            axes, S = axes @ turn, turn.T @ S @ turn
            largest = max(largest, float(np.abs(angle).max(initial=0.0)))
        if largest <= TOLERANCE:
            break
    return axes


def _rounds(d: int) -> Iterator[tuple[Integers, Integers]]:
    """All pairs of d axes, in rounds that have each axis once: a tournament in a ring."""
    n = d + d % 2
    ring = np.arange(n)
    for _ in range(n - 1):
        i, j = ring[: n // 2], ring[: n // 2 - 1 : -1]
        met = np.maximum(i, j) < d
        yield i[met], j[met]
        ring = np.concatenate([ring[:1], np.roll(ring[1:], 1)])


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
