"""Log joint probabilities of rows, and what becomes of them, in plain NumPy."""

from __future__ import annotations

import numpy as np

from posterior.data.rows import SparseRows, slabs
from posterior.data.typing import Array, Floats, Integers


def gaussian_log_joint(
    X: Array,
    mean: Floats,
    inverse_deviation: Floats,
    term: Floats,
    constant: Floats,
    out: Floats,
) -> None:
    """constant_k - ½ Σⱼ ((xⱼ - μ_kj) / σ_kj)²; a missing cell takes its term out instead."""
    for rows in slabs(len(X), mean.size):
        x = np.ascontiguousarray(X[rows], np.float64)[:, None, :]
        missing = np.isnan(x)
        distance = np.where(missing, 0.0, (x - mean) * inverse_deviation)
        absent = np.where(missing, term, 0.0).sum(axis=2)
        out[rows] = (constant - absent) - 0.5 * (distance * distance).sum(axis=2)


def linear_log_joint(X: Array, weight: Floats, absent: Floats, bias: Floats, out: Floats) -> None:
    """bias_k + Σⱼ xⱼ w_kj; a missing cell takes absent_kj out instead."""
    for rows in slabs(len(X), weight.size):
        x = np.ascontiguousarray(X[rows], np.float64)[:, None, :]
        missing = np.isnan(x)
        missed = np.where(missing, absent, 0.0).sum(axis=2)
        out[rows] = (bias - missed) + np.where(missing, 0.0, x * weight).sum(axis=2)


def side_by_side(weight: Floats) -> Floats:
    """(k, d) as (d, k); the compiled twin pads k."""
    return np.ascontiguousarray(weight.T)


def sparse_log_joint(
    X: SparseRows, table: Floats, bias: Floats, threshold: float | None, out: Floats
) -> None:
    """bias_k + Σⱼ xⱼ table[j, k] of sparse rows; with a threshold, of x > threshold."""
    matrix = X.scipy()
    if threshold is not None:
        matrix.sum_duplicates()
        matrix.data = (matrix.data > threshold).astype(np.float64)
    out[:] = bias + matrix @ table


def table_log_joint(X: Array, table: Floats, offset: Integers, bias: Floats, out: Floats) -> None:
    """bias_k + Σⱼ table[offset[j] + xⱼ, k]; a column's last row stands for unseen values."""
    out[:] = bias
    for j in range(X.shape[1]):
        seen = X[:, j] >= 0
        out[seen] += table[np.minimum(offset[j] + X[seen, j], offset[j + 1] - 1)]


def square_distances(
    X: Array,
    origin: Floats,
    axes: Floats,
    centers: Floats,
    out: Floats,
    constant: Floats | None = None,
) -> None:
    """Σₐ (Σⱼ (x_j - origin_j) axis_aj - center_ka)² by group: axes are for each group or for all.

    They come eight at a time: axes (k or 1, vectors, d, 8) and centers (k, vectors, 8). With
    constants (k,), constant_k less half of it.
    """
    side_by_side = axes.swapaxes(1, 2).reshape(len(axes), X.shape[1], -1)
    moved = np.asarray(X, np.float64) - origin
    for k, center in enumerate(centers):
        z = moved @ side_by_side[k % len(axes)]
        out[:, k] = ((z - center.ravel()) ** 2).sum(axis=1)
    if constant is not None:
        out[:] = constant - 0.5 * out


def ordered_products(X: Floats, axes: Floats) -> Floats:
    """zᵢₐ = Σⱼ xᵢⱼ aⱼₐ, columns in order: the bits of a row are its own, whatever comes with it."""
    z = np.zeros((len(X), axes.shape[1]))
    for x, axis in zip(X.T, axes, strict=True):
        z += x[:, None] * axis
    return z


def normalize(L: Floats, wanted: str, log_evidence: Floats | None = None) -> None:
    """Turn log p(x, k) into the "log_posterior" or "posterior", in place; or leave it."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        top = np.maximum(L.max(axis=1), -np.finfo(np.float64).max)
        below = L - top[:, None]
        share = np.exp(below)
        total = share.sum(axis=1)
        log_total = np.log(total)
        evidence = top + log_total
    impossible = total == 0
    evidence[impossible] = -np.inf
    if log_evidence is not None:
        log_evidence.reshape(-1)[:] = evidence
    if wanted == "posterior":
        L[:] = share / np.where(impossible, 1.0, total)[:, None]
        L[impossible] = 1 / L.shape[1]
    elif wanted == "log_posterior":
        L[:] = below - np.where(impossible, 0.0, log_total)[:, None]
        L[impossible] = -np.log(L.shape[1])
