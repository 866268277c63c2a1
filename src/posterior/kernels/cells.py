"""Sums of groups where there are any, in NumPy: the twin of what `compiled_text` has."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from posterior.data.typing import Integers

Cells: TypeAlias = tuple[Integers, Integers, Integers, Integers]
"""Where the cells of each group start, (k + 1,); their columns, ascending; two sums of each."""


def add_cells(a: Cells, b: Cells) -> Cells:
    """The sums of both together."""
    n_groups = len(a[0]) - 1
    d = 1 + max(int(cells[1].max(initial=0)) for cells in (a, b))
    mine, theirs = (
        np.repeat(np.arange(n_groups), np.diff(start)) * d + column for start, column, *_ in (a, b)
    )
    keys = np.union1d(mine, theirs).astype(np.int64)
    sums = np.zeros((2, len(keys)), np.int64)
    for place, cells in ((mine, a), (theirs, b)):
        sums[:, np.searchsorted(keys, place)] += cells[2:]
    return np.searchsorted(keys, np.arange(n_groups + 1) * d), keys % d, *sums
