"""The compiled counts and scores of pairs."""

from __future__ import annotations

import numpy as np

import posterior.kernels._compiled as _compiled
from posterior.data.typing import Array, Codes, Floats, Integers

LANES = 8


def pair_counts(X: Array, codes: Codes, n_groups: int, sizes: Array) -> Integers:
    """How many rows of each group have two values, of any columns: (k, Σ sizes, Σ sizes)."""
    offset = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]).astype(np.int64)
    counts = np.zeros((n_groups, offset[-1], offset[-1]), np.int64)
    _compiled.count_pairs(X, codes, n_groups, offset, counts)
    return counts


def side_by_side_pairs(table: Floats) -> Floats:
    """A table (a, b, k) with k padded to 2, 4 or whole lanes."""
    k = table.shape[2]
    width = 2 if k <= 2 else 4 if k <= 4 else -(-k // LANES) * LANES
    padded = np.zeros((*table.shape[:2], width))
    padded[:, :, :k] = table
    return padded


def one_dependence_log_joint(X: Codes, table: Floats, weight: Floats, out: Floats) -> None:
    """log Σ_a w_a Π_b p(b | k, a) - log Σ_a w_a over the places a, b of each row."""
    wide = np.empty((len(X), table.shape[2]))
    _compiled.one_dependence_log_joint(X, table, weight, wide)
    out[:] = wide[:, : out.shape[1]]
