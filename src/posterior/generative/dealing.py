"""Rows by what they say, not by where they stand: what is chosen on them is the choice of the set.

Rows of one class, one content and one weight are interchangeable. Sums that round, and folds that
are dealt out in turn, are therefore the same for the same rows in any order.
"""

from __future__ import annotations

import numpy as np

from posterior.data.fingerprints import of_ranks
from posterior.data.rows import Rows
from posterior.data.typing import Array, Codes, Integers


def by_content(rows: Rows) -> tuple[Integers, Integers]:
    """The rows that weigh something, by class, content and weight; and a number for each.

    Rows of one class and content have the same number, and numbers ascend. Content is what units
    leave alone: the ranks of numbers.
    """
    codes, weight = rows.hard.codes, rows.hard.weight
    content = of_ranks(rows.X, weight)
    keys: list[Array] = [content, codes]
    if weight is not None:
        keys.insert(0, weight)
    order = np.lexsort(keys)
    if weight is not None:
        order = order[weight[order] > 0]
    other = np.zeros(len(order), bool)
    for key in (content[order], codes[order]):
        other[1:] |= key[1:] != key[:-1]
    return order, np.cumsum(other)


def in_turn(n_rows: int, n_folds: int) -> Codes:
    """A fold for each of some rows in order; sorted by class, they spread the classes evenly."""
    return (np.arange(n_rows) % n_folds).astype(np.int32)
