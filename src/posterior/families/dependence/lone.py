"""p(x | k) of each column by itself, with its intervals."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from posterior.data.typing import Floats
from posterior.families.categorical import share_intervals
from posterior.families.dependence.coding import Coding
from posterior.families.dependence.smoothing import Smoothing, prior_rows
from posterior.families.family import Intervals
from posterior.statistics.class_cuts import ranges
from posterior.statistics.counts import Counts


def lone_intervals(
    coding: Coding, counts: Counts, alone: Sequence[Floats], smoothing: Smoothing, level: float
) -> Intervals:
    """Lines of p(x | k) (k, K) of each column that is not left out; bins go by their ranges."""
    cuts = dict(zip(coding.numbers, coding.cuts, strict=True))
    names = tuple(
        np.array(ranges(np.array(cuts[j])))[values] if j in cuts else values
        for j, values in enumerate(counts.values)
    )
    rows = [
        n.sum(axis=1, keepdims=True) + float(prior_rows(smoothing, np.array(n.shape[1])))
        for n in counts.columns(counts.table.rounded())
    ]
    kept = (name[: p.shape[1]] for name, p in zip(names, alone, strict=True))
    return share_intervals(tuple(kept), alone, rows, level)
