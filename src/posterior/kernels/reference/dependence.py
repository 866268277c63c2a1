"""Counts of pairs of values by group, and scores by models of one dependence, averaged."""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp

from posterior.data.rows import slabs
from posterior.data.typing import Array, Codes, Floats, Integers


def pair_counts(X: Array, codes: Codes, n_groups: int, sizes: Array) -> Integers:
    """How many rows of each group have two values, of any columns: (k, Σ sizes, Σ sizes).

    A value stands beside itself as often as rows have it. Codes outside 0 .. size are left out.
    """
    offset = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    counts = np.zeros((n_groups, offset[-1], offset[-1]))
    known = (X >= 0) & (X < np.asarray(sizes)) & (codes >= 0)[:, None]
    for rows in slabs(len(X), offset[-1]):
        row, column = np.nonzero(known[rows])
        places = np.zeros((len(X[rows]), offset[-1]), np.float64)
        places[row, offset[column] + X[rows][row, column].astype(np.int64)] = 1.0
        for k in range(n_groups):
            own = places[codes[rows] == k]
            counts[k] += own.T @ own
    return counts.astype(np.int64)


def side_by_side_pairs(table: Floats) -> Floats:
    """A table (a, b, k) as the kernel reads it; the compiled twin pads k."""
    return table


def one_dependence_log_joint(X: Codes, table: Floats, weight: Floats, out: Floats) -> None:
    """log Σ_a w_a Π_b p(b | k, a) - log Σ_a w_a over the places a, b of each row.

    `table` (places, places, k) has log p(b | k, a), and log p(a | k) where b is a. A place of
    weight 0 is no parent; a row without a parent has Σ_b log p(b | k). A negative place is left
    out.
    """
    for i, row in enumerate(X):
        place = row[row >= 0]
        parent = place[weight[place] > 0]
        if len(parent) == 0:
            out[i] = table[place, place].sum(axis=0)
            continue
        w = weight[parent]
        terms = table[parent[:, None], place].sum(axis=1)
        out[i] = logsumexp(terms, axis=0, b=(w / w.sum())[:, None])
