"""Mutual information of columns with the group, and with each other, in nats."""

from __future__ import annotations

import numpy as np

from posterior.data.typing import Array, Floats
from posterior.statistics.counts import Counts
from posterior.statistics.pair_counts import PairCounts


def mutual_information(counts: Counts) -> Floats:
    """I(Xⱼ; Y) = Σ p(x, y) log p(x, y) / p(x) p(y), column by column, of known cells."""
    found = [_information(n) for n in counts.columns(counts.table.rounded())]
    return np.array(found)


def conditional_mutual_information(counts: PairCounts) -> Floats:
    """I(Xᵢ; Xⱼ | Y) = Σ p(x, z, y) log p(x, z | y) / p(x | y) p(z | y), (d, d), zero if i is j."""
    n, offset = counts.table.rounded(), counts.offset
    beside = in_columns(n, offset)  # (k, S, d): a value beside the known cells of a column
    both = in_columns(beside.swapaxes(1, 2), offset).swapaxes(1, 2)  # (k, d, d)
    nlogn = in_columns(_nlogn(n).sum(axis=0), offset)
    nlogn = in_columns(nlogn.T, offset).T
    one = in_columns(_nlogn(beside).sum(axis=0).T, offset).T
    rows = both.sum(axis=0)
    found = (nlogn - one - one.T + _nlogn(both).sum(axis=0)) / np.where(rows > 0, rows, 1.0)
    np.fill_diagonal(found, 0.0)
    return np.maximum(0.5 * (found + found.T), 0.0)


def in_columns(table: Array, offset: Array) -> Array:
    """Sums over the values of each column, along the last axis; a column may have none."""
    up_to = np.zeros((*table.shape[:-1], table.shape[-1] + 1))
    np.cumsum(table, axis=-1, out=up_to[..., 1:])
    return up_to[..., offset[1:]] - up_to[..., offset[:-1]]


def _information(table: Array) -> float:
    """Of a table (k, values)."""
    total = table.sum()
    if not total > 0:
        return 0.0
    parts = _nlogn(table.sum(axis=0)).sum() + _nlogn(table.sum(axis=1)).sum()
    return max(float((_nlogn(table).sum() - parts + _nlogn(total)) / total), 0.0)


def _nlogn(n: Array) -> Array:
    return n * np.log(np.where(n > 0, n, 1.0))
