"""Pairs of columns: which of them have something to say that neither says alone."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from posterior.data.typing import Array, Floats
from posterior.discriminative.additive.cell_rows import CellRows

MANY_COLUMNS = 25  # from which on pairs are chosen
MOST_CELLS = 1 << 20  # of the tables of all pairs
MOST_ENTRIES = 100_000_000  # rows times pairs
PAIRS = 3  # that are kept for each column
SWEEPS = 3  # by which what columns say alone is taken out
SHRINKAGE = 1.0  # λ of the gain


def all_pairs(groups: Sequence[Array], n_rows: int) -> list[tuple[int, int]] | None:
    """Every pair of columns that vary, or None if there are too many."""
    vary = [j for j, group in enumerate(groups) if group.max() > 1]
    pairs = list(combinations(vary, 2))
    cells = sum(int(groups[i].max()) * int(groups[j].max()) for i, j in pairs)
    few = len(vary) <= MANY_COLUMNS and cells <= MOST_CELLS
    return pairs if few and n_rows * len(pairs) <= MOST_ENTRIES else None


def best_pairs(rows: CellRows, groups: Sequence[Array], proba: Floats) -> list[tuple[int, int]]:
    """Pairs of the largest gains, given what columns say alone: p (n, outputs)."""
    vary = [j for j, group in enumerate(groups) if group.max() > 1]
    label = rows.labels[:, None] == np.arange(proba.shape[1]) + (proba.shape[1] == 1)
    r = rows.weight[:, None] * (label - proba)
    h = rows.weight[:, None] * proba * (1 - proba)
    codes = {j: groups[j].astype(np.int64)[rows.codes[j]] for j in vary}
    gains = {}
    for i, j in combinations(vary, 2):
        a, b = int(groups[i].max()), int(groups[j].max())
        place = codes[i] * b + codes[j]
        sums = [np.bincount(place, part, a * b) for part in (*r.T, *h.T)]
        G, H = np.reshape(np.array(sums, np.float64), (2, -1, a, b))
        gains[i, j] = gain(G, H)
    most = max(1, min(PAIRS * len(vary), MOST_ENTRIES // max(len(rows), 1)))
    return sorted(sorted(gains, key=lambda pair: (-gains[pair], pair))[:most])


def gain(G: Floats, H: Floats) -> float:
    """½ Σ R² / (H + λ), where R = G - H (u + v) is what rows and columns of a table leave.

    G is the sum of y - p and H that of p (1 - p) in each cell, (outputs, a, b).
    """
    u, v = np.zeros((*G.shape[:2], 1)), np.zeros((len(G), 1, G.shape[2]))
    tiny = np.finfo(float).tiny
    for _ in range(SWEEPS):
        u = (G - H * v).sum(axis=2, keepdims=True) / (H.sum(axis=2, keepdims=True) + tiny)
        v = (G - H * u).sum(axis=1, keepdims=True) / (H.sum(axis=1, keepdims=True) + tiny)
    return float(0.5 * ((G - H * (u + v)) ** 2 / (H + SHRINKAGE)).sum())
