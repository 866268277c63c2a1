"""The compiled log joint probabilities."""

from __future__ import annotations

import numpy as np

import posterior.kernels._compiled as _compiled
from posterior.data.rows import SparseRows
from posterior.data.typing import Array, Floats, Integers

LANES = 8
WANTED = {"log_posterior": 0, "posterior": 1, "log_evidence": 2}


def gaussian_log_joint(
    X: Array,
    mean: Floats,
    inverse_deviation: Floats,
    term: Floats,
    constant: Floats,
    out: Floats,
) -> None:
    """constant_k - ½ Σⱼ ((xⱼ - μ_kj) / σ_kj)²; a missing cell takes its term out instead."""
    _compiled.gaussian_log_joint(X, mean, inverse_deviation, term, constant, out)


def linear_log_joint(X: Array, weight: Floats, absent: Floats, bias: Floats, out: Floats) -> None:
    """bias_k + Σⱼ xⱼ w_kj; a missing cell takes absent_kj out instead."""
    _compiled.linear_log_joint(X, weight, absent, bias, out)


def side_by_side(weight: Floats) -> Floats:
    """(k, d) as (d, k), padded with zeros to whole lanes."""
    k, d = weight.shape
    width = -(-k // LANES) * LANES
    memory = np.zeros(d * width + LANES)
    start = -(memory.ctypes.data // memory.itemsize) % LANES  # a row begins a line of the cache
    table = memory[start : start + d * width].reshape(d, width)
    table[:, :k] = weight.T
    return table


def sparse_log_joint(
    X: SparseRows, table: Floats, bias: Floats, threshold: float | None, out: Floats
) -> None:
    """bias_k + Σⱼ xⱼ table[j, k] of sparse rows; with a threshold, of x > threshold."""
    above = np.nan if threshold is None else threshold
    rows = X.data, X.column, X.start, X.n_columns
    if not _compiled.sparse_log_joint(*rows, len(bias), table, bias, above, out):
        sparse_log_joint(X.canonical(), table, bias, threshold, out)


def table_log_joint(X: Array, table: Floats, offset: Integers, bias: Floats, out: Floats) -> None:
    """bias_k + Σⱼ table[offset[j] + xⱼ, k]; a column's last row stands for unseen values."""
    _compiled.table_log_joint(X, len(bias), table, offset, bias, out)


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
    _compiled.square_distances(X, origin, axes, centers, constant, out)


def ordered_products(X: Floats, axes: Floats) -> Floats:
    """zᵢₐ = Σⱼ xᵢⱼ aⱼₐ, columns in order: the bits of a row are its own, whatever comes with it."""
    z = np.empty((len(X), axes.shape[1]))
    _compiled.ordered_products(np.ascontiguousarray(X), np.ascontiguousarray(axes), z)
    return z


def normalize(L: Floats, wanted: str, log_evidence: Floats | None = None) -> None:
    """Turn log p(x, k) into the "log_posterior" or "posterior", in place; or leave it."""
    _compiled.normalize(L, WANTED[wanted], log_evidence)
