"""What each column alone says of the classes, on rows held out: all columns at once, by sums.

Each row is answered by the sums of the others, so that a pass over the cells is all it costs. A
column that says nothing loses as much as its parameters take up: twice its gain is a χ² of as many
degrees of freedom, less twice their number (Akaike 1974), by which chance is known.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from scipy.special import ndtri

from posterior.data.typing import Codes, Floats, Integers

PRIOR = 1.0  # rows of all classes together that each class begins with
BLOCK = 2_000_000  # cells times classes that are looked at together


@dataclass(frozen=True, slots=True, eq=False)
class Labels:
    """Classes of rows and their weights; what the shares of the classes say of each row."""

    codes: Codes
    weight: Floats
    n_classes: int

    def own(self, k: int) -> Floats:
        """The weight of the rows of a class, zero for others, (n, 1)."""
        found: Floats = np.where(self.codes == k, self.weight, 0.0)[:, None]
        return found

    def log_shares(self) -> Floats:
        """log p(k) by the other rows, (k, n, 1)."""
        own = np.stack([self.own(k) for k in range(self.n_classes)])
        rest = own.sum(axis=1, keepdims=True) - own + 1 / self.n_classes
        found: Floats = np.log(rest / rest.sum(axis=0))
        return found

    def gains(self, scores: Floats) -> Floats:
        """log p(y | x) less log p(y), summed over the rows, by scores (k, n, columns)."""
        shares, rows = self.log_shares(), np.arange(len(self.codes))
        joint = scores + shares
        top = joint.max(axis=0)
        evidence = top + np.log(np.exp(joint - top).sum(axis=0))
        own = (joint[self.codes, rows] - evidence) - shares[self.codes, rows]
        total: Floats = self.weight @ own
        return total


def normal_scores(numbers: Floats) -> Floats:
    """The quantile of the normal of each cell's rank in its column: no unit, no tail, no label."""
    ranks = scipy.stats.rankdata(numbers, axis=0, nan_policy="omit")
    known = np.maximum((~np.isnan(numbers)).sum(axis=0), 1)
    scores: Floats = ndtri((ranks - 0.5) / known)
    return scores


def gains_of_numbers(numbers: Floats, labels: Labels) -> tuple[Floats, Integers]:
    """Of columns (n, d) that are normal given the class; and how many parameters that takes.

    A missing cell is known to be missing, and says what that says.
    """
    n, d = numbers.shape
    gains, gaps = np.empty(d), np.isnan(numbers).any(axis=0)
    for block in _blocks(d, n * labels.n_classes):
        gains[block] = labels.gains(_normal(numbers[:, block], labels))
    freedom: Integers = np.where(gaps, 3, 2) * (labels.n_classes - 1)
    return gains, freedom


def gains_of_levels(levels: Codes, labels: Labels) -> tuple[Floats, Integers]:
    """Of columns (n, d) of codes from 0 that have shares in each class."""
    n, d = levels.shape
    n_levels = levels.max(axis=0).astype(np.int64) + 1
    gains = np.empty(d)
    most = int(n_levels.max(initial=1))
    for block in _blocks(d, max(n, most) * labels.n_classes):
        gains[block] = labels.gains(_shares(levels[:, block], n_levels[block], labels))
    freedom: Integers = (n_levels - 1) * (labels.n_classes - 1)
    return gains, freedom


def telling(gains: Floats, freedom: Integers, false: float) -> Integers:
    """Places of the columns whose gains are beyond chance, the surest first.

    As many as there can be with no more than a share of them by chance, out of all that were looked
    at (Benjamini and Hochberg 1995).
    """
    order, log_p = by_chance(gains, freedom)
    places = np.arange(1, len(order) + 1)
    passed = np.flatnonzero(log_p[order] + np.log(len(order)) <= np.log(false * places))
    return order[: passed[-1] + 1] if len(passed) else order[:0]


def by_chance(gains: Floats, freedom: Integers) -> tuple[Integers, Floats]:
    """Columns from the surest to the least, and log p of so high a gain by chance."""
    log_p: Floats = scipy.stats.chi2.logsf(
        2 * np.maximum(gains + freedom, 0.0), np.maximum(freedom, 1)
    )
    return np.lexsort([-gains, log_p]), log_p


def _blocks(d: int, cells: int) -> list[slice]:
    step = max(1, BLOCK // max(cells, 1))
    return [slice(start, start + step) for start in range(0, d, step)]


def _normal(numbers: Floats, labels: Labels) -> Floats:
    """log p(x | k) by the other rows, (k, n, columns)."""
    known = ~np.isnan(numbers)
    cells, weight = np.where(known, numbers, 0.0), labels.weight
    present = weight @ known
    mean = weight @ cells / np.maximum(present, 1e-300)
    spread = weight @ (known * (cells - mean) ** 2) / np.maximum(present, 1e-300)
    spread = np.where(spread > 0, spread, 1.0)
    cells = known * (cells - mean)
    gaps = ~known.all(axis=0)
    share = present / weight.sum()
    out = np.empty((labels.n_classes, *cells.shape))
    for k in range(labels.n_classes):
        own = labels.own(k)
        its = own * known
        count = its.sum(axis=0) - its + PRIOR
        middle = ((own * cells).sum(axis=0) - own * cells) / count
        squares = (own * cells**2).sum(axis=0) - own * cells**2 + PRIOR * spread
        variance = np.maximum(squares / count - middle**2, 1e-9 * spread)
        score = -0.5 * (np.log(variance) + (cells - middle) ** 2 / variance)
        rows = own.sum() - own + PRIOR
        seen = (count - PRIOR + PRIOR * share) / rows
        seen = np.clip(seen, 1e-9, 1 - 1e-9)
        presence = np.where(gaps, np.log(np.where(known, seen, 1 - seen)), 0.0)
        out[k] = np.where(known, score, 0.0) + presence
    return out


def _shares(levels: Codes, n_levels: Integers, labels: Labels) -> Floats:
    """log p(level | k) by the other rows, (k, n, columns)."""
    d, most = levels.shape[1], int(n_levels.max(initial=1))
    places = levels + most * np.arange(d)
    out = np.empty((labels.n_classes, *levels.shape))
    for k in range(labels.n_classes):
        own = labels.own(k)
        mine = np.broadcast_to(own, levels.shape)
        counts = np.bincount(places.ravel(), mine.ravel(), d * most)
        rest = counts[places] - own + PRIOR / n_levels
        out[k] = np.log(rest / (own.sum() - own + PRIOR))
    return out
