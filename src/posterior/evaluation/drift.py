"""Drift: whether two tables have the same shares, by counts in the same bins.

The population stability index is Σ_b (q_b - p_b) log(q_b / p_b), a sum over bins that is 0 where
the shares are equal; by convention 0.1 is some change, and 0.25 a large one. Of few rows it is
large by chance alone, so a test goes with it: Pearson's χ² of homogeneity.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtrc

from posterior.data.typing import Floats

SOME, LARGE = 0.1, 0.25
HALF = 0.5  # rows that every bin has more than it has: a logarithm of zero says too much


@dataclass(frozen=True, slots=True)
class DriftTest:
    """χ² of homogeneity of two rows of counts."""

    statistic: float
    freedom: int
    p_value: float


def stability_index(before: ArrayLike, after: ArrayLike) -> float:
    """Population stability index of counts in the same bins; half a row is added to each."""
    p, q = (np.asarray(counts, np.float64) + HALF for counts in (before, after))
    p, q = p / p.sum(), q / q.sum()
    return float(((q - p) * np.log(q / p)).sum())


def index_by_chance(before: ArrayLike, after: ArrayLike) -> float:
    """What the index is on average where nothing changed: (b - 1) (1 / n + 1 / m), of b bins."""
    p, q = (np.asarray(counts, np.float64) for counts in (before, after))
    if not p.sum() or not q.sum():
        return 0.0
    return float((np.count_nonzero(p + q) - 1) * (1 / p.sum() + 1 / q.sum()))


def drift_test(before: ArrayLike, after: ArrayLike) -> DriftTest:
    """Pearson's test that two tables have the same shares; bins that are empty in both are none."""
    counts: Floats = np.array([before, after], np.float64)
    counts = counts[:, counts.sum(axis=0) > 0]
    rows = counts.sum(axis=1)
    if counts.shape[1] < 2 or not rows.all():
        return DriftTest(0.0, 0, 1.0)
    expected = rows[:, None] * counts.sum(axis=0) / rows.sum()
    statistic = float(((counts - expected) ** 2 / expected).sum())
    freedom = counts.shape[1] - 1
    return DriftTest(statistic, freedom, float(chdtrc(freedom, statistic)))
