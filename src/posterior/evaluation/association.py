"""Association of columns: one number from 0 to 1 for each pair, whatever the columns hold.

Two numbers: |ρ| of Spearman, by the ranks of each column. Two categories: Cramér's V, corrected for
its bias (Bergsma 2013). A number and a category: the correlation ratio η, corrected alike (Kelley
1935). Rows in which either cell is missing are left out of the pair.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from posterior.data.typing import Array, Floats

SPEARMAN, CRAMER, RATIO = "Spearman", "Cramér's V", "correlation ratio"


def associations(columns: Sequence[Array]) -> tuple[Floats, Floats]:
    """The matrix (d, d) of all pairs, and the signs of ρ, 0 where there is none.

    Columns of numbers are floats, NaN where missing; those of categories are codes, -1 where
    missing. What cannot be known is NaN: a pair of few rows, or a column that never varies in them.
    """
    d = len(columns)
    value, sign = np.eye(d), np.zeros((d, d))
    numbers = [j for j in range(d) if columns[j].dtype.kind == "f"]
    kinds = [j for j in range(d) if columns[j].dtype.kind != "f"]
    with np.errstate(invalid="ignore", divide="ignore"):
        if numbers:
            X: Floats = np.stack([columns[j] for j in numbers], axis=1)
            rho = spearman(X)
            value[np.ix_(numbers, numbers)] = np.abs(rho)
            sign[np.ix_(numbers, numbers)] = np.sign(np.nan_to_num(rho))
            for j in kinds:
                value[j, numbers] = value[numbers, j] = correlation_ratios(X, columns[j])
        for place, i in enumerate(kinds):
            for j in kinds[:place]:
                value[i, j] = value[j, i] = cramer(columns[i], columns[j])
    np.fill_diagonal(value, 1.0)
    np.fill_diagonal(sign, 0.0)
    return value, sign


def measure_of(first: Array, second: Array) -> str:
    """The name of the measure of a pair."""
    numbers = (first.dtype.kind == "f") + (second.dtype.kind == "f")
    return (CRAMER, RATIO, SPEARMAN)[numbers]


def _mean_ranks(x: Floats) -> Floats:
    """Ranks from 1 on; equal numbers share the mean of theirs."""
    _, place, counts = np.unique(x, return_inverse=True, return_counts=True)
    return np.asarray((counts.cumsum() - (counts - 1) / 2)[place])


def spearman(X: Floats) -> Floats:
    """Correlation of the ranks of columns (n, d), over the rows in which both are known."""
    known = ~np.isnan(X)
    ranks = np.zeros(X.shape)
    for j in range(X.shape[1]):
        r = _mean_ranks(X[known[:, j], j])
        ranks[known[:, j], j] = (r - r.mean()) / max(len(r), 1) if len(r) else 0.0
    M = known.astype(np.float64)
    n, total, squares = M.T @ M, ranks.T @ M, (ranks**2).T @ M  # of i, where j is known
    covariance = ranks.T @ ranks - total * total.T / n
    variance = squares - total**2 / n
    tiny = 1e-12 * np.maximum(squares, 1.0)
    variance = np.where(variance > tiny, variance, np.nan)
    return np.clip(covariance / np.sqrt(variance * variance.T), -1, 1)


def correlation_ratios(X: Floats, codes: Array) -> Floats:
    """η of each column of numbers by the groups, η² corrected: 1 - (1 - η²)(n - 1)/(n - k)."""
    X = X[codes >= 0]
    codes = codes[codes >= 0]
    if not len(codes):
        return np.full(X.shape[1], np.nan)
    known = ~np.isnan(X)
    Z = np.where(known, X - np.nanmean(np.where(known.any(axis=0), X, 0.0), axis=0), 0.0)
    G = np.zeros((len(codes), int(codes.max()) + 1))
    G[np.arange(len(codes)), codes] = 1.0
    counts, sums = G.T @ known, G.T @ Z  # (k, d)
    n, groups = counts.sum(axis=0), (counts > 0).sum(axis=0)
    mean = sums.sum(axis=0) / n
    whole = (Z**2).sum(axis=0) - n * mean**2
    between = np.divide(sums**2, counts, out=np.zeros_like(sums), where=counts > 0).sum(axis=0)
    between -= n * mean**2
    whole = np.where(whole > 1e-12 * (Z**2).sum(axis=0), whole, np.nan)
    within = np.where(
        (n > groups) & (groups > 1), (1 - between / whole) * (n - 1) / (n - groups), np.nan
    )
    return np.asarray(np.sqrt(np.clip(1 - within, 0, 1)))


def cramer(a: Array, b: Array) -> float:
    """Cramér's V of two categories; chance gives φ² (r - 1)(c - 1)/(n - 1), which is taken off."""
    both = (a >= 0) & (b >= 0)
    a, b = a[both].astype(np.int64), b[both]
    n, width = len(a), int(b.max(initial=0)) + 1
    flat = np.bincount(a * width + b, minlength=width * (int(a.max(initial=0)) + 1))
    counts: Floats = flat.reshape(-1, width).astype(np.float64)
    counts = counts[counts.any(axis=1)][:, counts.any(axis=0)]
    r, c = counts.shape
    if n < 2 or min(r, c) < 2:
        return np.nan
    expected = counts.sum(axis=1, keepdims=True) * counts.sum(axis=0) / n
    phi = float(((counts - expected) ** 2 / expected).sum() / n) - (r - 1) * (c - 1) / (n - 1)
    rows, across = r - (r - 1) ** 2 / (n - 1), c - (c - 1) ** 2 / (n - 1)
    most = min(rows, across) - 1
    return float(np.sqrt(np.clip(max(phi, 0.0) / most, 0, 1))) if most > 0 else np.nan
